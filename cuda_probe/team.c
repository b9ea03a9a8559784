#include "team.h"

#include <stdio.h>
#include <string.h>

#include "bounded.h"

/* ncclConfig_t as 2.14 began it. Newer libraries take the rest from their defaults; the header's own initializer would ask an older
 * library for members it does not know. */
struct config_2_14 {
    size_t size;
    unsigned magic, version;
    int blocking;
};
#define CONFIG_MAGIC 0xcafebeefu

/* ---- endings ---- */

const char *ending_status(const struct team *team, const struct ending *ending)
{
    switch (ending->outcome) {
    case OUTCOME_OK:
        return "ok";
    case OUTCOME_NCCL:
        return nccl_result_name(ending->nccl);
    case OUTCOME_CUDA:
        return cuda_error_name(team->cuda, ending->cuda);
    case OUTCOME_WRONG:
        return "wrong-result";
    case OUTCOME_MISSING:
        return "missing";
    default:
        return "timed-out";
    }
}

const char *ending_text(const struct team *team, const struct ending *ending, char *out, size_t size)
{
    const char *status = ending_status(team, ending);
    switch (ending->outcome) {
    case OUTCOME_NCCL:
        (void)snprintf(out, size, "%s at rank %d: %s%s%s", status, ending->rank, nccl_result_meaning(ending->nccl),
                       *ending->text ? "; NCCL says: " : "", ending->text);
        break;
    case OUTCOME_CUDA:
        (void)snprintf(out, size, "%s at rank %d: %s", status, ending->rank, cuda_error_meaning(ending->cuda));
        break;
    case OUTCOME_LATE:
        (void)snprintf(out, size, "it did not finish in time%s%s", *ending->text ? ": " : "", ending->text);
        break;
    default:
        (void)snprintf(out, size, "%s", *ending->text ? ending->text : status);
    }
    return out;
}

static void end(struct team *team, struct ending ending)
{
    if (team->ending.outcome == OUTCOME_OK)
        team->ending = ending;
}

bool team_nccl(struct team *team, const struct member *member, ncclResult_t result)
{
    if (result == ncclSuccess || result == ncclInProgress)
        return true;
    struct ending ending = {.outcome = OUTCOME_NCCL, .nccl = result, .rank = member->rank};
    const char *text = team->nccl->ncclGetLastError ? team->nccl->ncclGetLastError(member->comm) : NULL;
    if (text)
        (void)snprintf(ending.text, sizeof ending.text, "%.*s", (int)strcspn(text, "\n"), text);
    end(team, ending);
    return false;
}

bool team_cuda(struct team *team, const struct member *member, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return true;
    end(team, (struct ending){.outcome = OUTCOME_CUDA, .cuda = result, .rank = member->rank});
    return false;
}

/* `waiting`: bit i for member i. */
static bool late(struct team *team, uint32_t waiting)
{
    if (bounded_now() < atomic_load(&team->deadline))
        return false;
    struct ending ending = {.outcome = OUTCOME_LATE};
    size_t length = 0;
    for (int i = 0; i < team->count; i++)
        if (waiting >> i & 1)
            length += (size_t)snprintf(ending.text + length, sizeof ending.text - length, "%s%d", length ? "," : "still waiting: rank ",
                                       team->members[i].rank);
    end(team, ending);
    return true;
}

/* True when this member is through, false when it is not yet; *good turns false for a failure. */
static bool settled(struct team *team, struct member *member, bool *good)
{
    ncclResult_t state = ncclSuccess;
    ncclResult_t asked = member->comm ? team->nccl->ncclCommGetAsyncError(member->comm, &state) : ncclSuccess;
    *good = team_nccl(team, member, asked) && team_nccl(team, member, state);
    return state != ncclInProgress;
}

bool team_settle(struct team *team)
{
    for (;;) {
        uint32_t waiting = 0;
        for (int i = 0; i < team->count; i++) {
            bool good = true;
            waiting |= (uint32_t)!settled(team, &team->members[i], &good) << i;
            if (!good)
                return false;
        }
        if (!waiting)
            return team->ending.outcome == OUTCOME_OK;
        if (late(team, waiting))
            return false;
        bounded_nap();
    }
}

/* A broken communicator leaves its stream busy for ever, so both are asked, of all members: the first to fail tells why the others wait. */
bool team_finish(struct team *team)
{
    for (;;) {
        uint32_t waiting = 0;
        for (int i = 0; i < team->count; i++) {
            struct member *member = &team->members[i];
            bool good = true;
            CUresult result = team->cuda->cuStreamQuery(member->stream);
            (void)settled(team, member, &good);
            if (!good || (result != CUDA_ERROR_NOT_READY && !team_cuda(team, member, result)))
                return false;
            waiting |= (uint32_t)(result == CUDA_ERROR_NOT_READY) << i;
        }
        if (!waiting)
            return true;
        if (late(team, waiting))
            return false;
        bounded_nap();
    }
}

/* ---- opening ---- */

static bool open_device(struct team *team, struct member *member)
{
    const struct cuda_api *cuda = team->cuda;
    return team_cuda(team, member, cuda->cuDeviceGet(&member->handle, member->device)) &&
           team_cuda(team, member, cuda->cuDevicePrimaryCtxRetain(&member->context, member->handle)) &&
           team_cuda(team, member, cuda->cuCtxSetCurrent(member->context)) &&
           team_cuda(team, member, cuda->cuStreamCreate(&member->stream, CU_STREAM_NON_BLOCKING)) &&
           team_cuda(team, member, cuda->cuMemAlloc_v2(&member->send, team->buffer)) &&
           team_cuda(team, member, cuda->cuMemAlloc_v2(&member->receive, team->buffer));
}

static ncclResult_t start_communicator(struct team *team, struct member *member)
{
    struct config_2_14 config = {.size = sizeof config, .magic = CONFIG_MAGIC, .version = NCCL_VERSION(2, 14, 0), .blocking = 0};
    if (team->nccl->ncclCommInitRankConfig)
        return team->nccl->ncclCommInitRankConfig(&member->comm, team->ranks, team->id, member->rank, (ncclConfig_t *)(void *)&config);
    return team->nccl->ncclCommInitRank(&member->comm, team->ranks, team->id, member->rank);
}

void team_open(void *context)
{
    struct team *team = context;
    team->ending = (struct ending){.outcome = OUTCOME_OK};
    team->buffer = (size_t)team->ranks * sizeof(float);
    team->buffer = team->buffer > TEAM_BYTES_MAX ? team->buffer : TEAM_BYTES_MAX;
    atomic_store(&team->step, "device");
    for (int i = 0; i < team->count; i++)
        if (!open_device(team, &team->members[i]))
            return;
    atomic_store(&team->step, "communicator");
    bool good = team_nccl(team, &team->members[0], team->nccl->ncclGroupStart());
    for (int i = 0; good && i < team->count; i++)
        good = team_cuda(team, &team->members[i], team->cuda->cuCtxSetCurrent(team->members[i].context)) &&
               team_nccl(team, &team->members[i], start_communicator(team, &team->members[i]));
    ncclResult_t ended = team->nccl->ncclGroupEnd();
    /* A member's own state tells more than the group's. */
    if (good && team_settle(team))
        (void)team_nccl(team, &team->members[0], ended);
}

/* ---- closing ---- */

static void release(struct team *team)
{
    const struct cuda_api *cuda = team->cuda;
    for (int i = 0; i < team->count; i++) {
        struct member *member = &team->members[i];
        if (!member->context)
            continue;
        (void)cuda->cuCtxSetCurrent(member->context);
        if (member->send)
            (void)cuda->cuMemFree_v2(member->send);
        if (member->receive)
            (void)cuda->cuMemFree_v2(member->receive);
        if (member->stream)
            (void)cuda->cuStreamDestroy_v2(member->stream);
        (void)cuda->cuCtxSetCurrent(NULL);
        (void)cuda->cuDevicePrimaryCtxRelease(member->handle);
        *member = (struct member){.rank = member->rank, .device = member->device};
    }
}

void team_close(void *context)
{
    struct team *team = context;
    atomic_store(&team->step, "closing");
    for (int i = 0; team->nccl->ncclCommFinalize && i < team->count; i++)
        (void)team->nccl->ncclCommFinalize(team->members[i].comm);
    (void)team_settle(team);
    for (int i = 0; i < team->count; i++)
        (void)team->nccl->ncclCommDestroy(team->members[i].comm);
    release(team);
}

void team_abort(void *context)
{
    struct team *team = context;
    atomic_store(&team->step, "aborting");
    for (int i = 0; i < team->count; i++)
        if (team->members[i].comm)
            (void)team->nccl->ncclCommAbort(team->members[i].comm);
    release(team);
}

#include "collectives.h"

#include <stdio.h>
#include <string.h>

#include "bounded.h"

#define SENTINEL 0xffffffffu /* no number that is ever sent */

static const struct {
    const char *name, *title;
} names[COLLECTIVES] = {[COLLECTIVE_ALL_REDUCE] = {"allreduce", "all-reduce"},
                        [COLLECTIVE_BROADCAST] = {"broadcast", "broadcast"},
                        [COLLECTIVE_ALL_GATHER] = {"allgather", "all-gather"},
                        [COLLECTIVE_REDUCE_SCATTER] = {"reducescatter", "reduce-scatter"},
                        [COLLECTIVE_SEND_RECV] = {"sendrecv", "send/receive"}};

const char *collective_name(enum collective kind)
{
    return names[kind].name;
}

const char *collective_title(enum collective kind)
{
    return names[kind].title;
}

bool collective_available(const struct nccl_api *nccl, enum collective kind)
{
    switch (kind) {
    case COLLECTIVE_BROADCAST:
        return nccl->ncclBroadcast != NULL;
    case COLLECTIVE_ALL_GATHER:
        return nccl->ncclAllGather != NULL;
    case COLLECTIVE_REDUCE_SCATTER:
        return nccl->ncclReduceScatter != NULL;
    case COLLECTIVE_SEND_RECV:
        return nccl->ncclSend != NULL && nccl->ncclRecv != NULL;
    default:
        return true;
    }
}

/* Elements a rank sends and receives. */
struct extent {
    size_t send, receive;
};

static struct extent extent_of(const struct collective_run *run)
{
    size_t all = run->bytes / sizeof(float), ranks = (size_t)run->team->ranks, share = all / ranks ? all / ranks : 1;
    switch (run->kind) {
    case COLLECTIVE_ALL_GATHER:
        return (struct extent){share, share * ranks};
    case COLLECTIVE_REDUCE_SCATTER:
        return (struct extent){share * ranks, share};
    default:
        return (struct extent){all, all};
    }
}

/* ---- values: whole numbers that a float sums exactly, different for neighbouring ranks and elements ---- */

static unsigned place_value(size_t index)
{
    return (unsigned)((index * 17 + (index >> 8) * 13) % 127);
}

static unsigned rank_value(int rank)
{
    return 128u * ((unsigned)rank % 64);
}

static float value(int rank, size_t index)
{
    return (float)(place_value(index) + rank_value(rank));
}

static float sum(int ranks, size_t index)
{
    unsigned whole = (unsigned)ranks / 64, rest = (unsigned)ranks % 64;
    unsigned of_ranks = 128u * (whole * 2016 + rest * (rest ? rest - 1 : 0) / 2);
    return (float)((unsigned)ranks * place_value(index) + of_ranks);
}

static float expected(const struct collective_run *run, int rank, size_t index, size_t share)
{
    const int ranks = run->team->ranks;
    switch (run->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return sum(ranks, index);
    case COLLECTIVE_BROADCAST:
        return value(ranks - 1, index);
    case COLLECTIVE_ALL_GATHER:
        return value((int)(index / share), index % share);
    case COLLECTIVE_REDUCE_SCATTER:
        return sum(ranks, (size_t)rank * share + index);
    default:
        return value((rank + ranks - 1) % ranks, index);
    }
}

/* ---- one operation ---- */

static bool fill(struct collective_run *run)
{
    struct team *team = run->team;
    const struct extent extent = extent_of(run);
    for (int i = 0; i < team->count; i++) {
        struct member *member = &team->members[i];
        for (size_t e = 0; e < extent.send; e++)
            run->host[e] = value(member->rank, e);
        if (!team_cuda(team, member, team->cuda->cuCtxSetCurrent(member->context)) ||
            !team_cuda(team, member,
                       team->cuda->cuMemcpyHtoDAsync_v2(member->send, run->host, extent.send * sizeof(float), member->stream)) ||
            !team_cuda(team, member, team->cuda->cuMemsetD32Async(member->receive, SENTINEL, extent.receive, member->stream)))
            return false;
        if (!team_finish(team)) /* the host buffer is used again */
            return false;
    }
    return true;
}

static ncclResult_t call(const struct collective_run *run, const struct member *member)
{
    const struct nccl_api *nccl = run->team->nccl;
    const struct extent extent = extent_of(run);
    const int ranks = run->team->ranks;
    const void *send = (const void *)(uintptr_t)member->send;
    void *receive = (void *)(uintptr_t)member->receive;
    ncclResult_t result;
    switch (run->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return nccl->ncclAllReduce(send, receive, extent.send, ncclFloat32, ncclSum, member->comm, member->stream);
    case COLLECTIVE_BROADCAST:
        return nccl->ncclBroadcast(send, receive, extent.send, ncclFloat32, ranks - 1, member->comm, member->stream);
    case COLLECTIVE_ALL_GATHER:
        return nccl->ncclAllGather(send, receive, extent.send, ncclFloat32, member->comm, member->stream);
    case COLLECTIVE_REDUCE_SCATTER:
        return nccl->ncclReduceScatter(send, receive, extent.receive, ncclFloat32, ncclSum, member->comm, member->stream);
    default:
        result = nccl->ncclSend(send, extent.send, ncclFloat32, (member->rank + 1) % ranks, member->comm, member->stream);
        if (result != ncclSuccess && result != ncclInProgress)
            return result;
        return nccl->ncclRecv(receive, extent.receive, ncclFloat32, (member->rank + ranks - 1) % ranks, member->comm, member->stream);
    }
}

/* Puts the operation on every member's stream. */
static bool issue(struct collective_run *run)
{
    struct team *team = run->team;
    bool good = team_nccl(team, &team->members[0], team->nccl->ncclGroupStart());
    for (int i = 0; good && i < team->count; i++) {
        struct member *member = &team->members[i];
        good = team_cuda(team, member, team->cuda->cuCtxSetCurrent(member->context)) && team_nccl(team, member, call(run, member));
    }
    ncclResult_t ended = team->nccl->ncclGroupEnd();
    return good && team_settle(team) && team_nccl(team, &team->members[0], ended);
}

static bool compare(struct collective_run *run, const struct member *member)
{
    struct team *team = run->team;
    const struct extent extent = extent_of(run);
    const size_t share = extent.send < extent.receive ? extent.send : extent.receive;
    size_t wrong = 0, first = 0;
    for (size_t e = 0; e < extent.receive; e++)
        if (!(run->host[e] == expected(run, member->rank, e, share)) && !wrong++)
            first = e;
    if (!wrong)
        return true;
    struct ending ending = {.outcome = OUTCOME_WRONG, .rank = member->rank};
    (void)snprintf(ending.text, sizeof ending.text,
                   "rank %d (device %d), element %zu: got %.9g, wanted %.9g (%zu of %zu elements are wrong)", member->rank, member->device,
                   first, (double)run->host[first], (double)expected(run, member->rank, first, share), wrong, extent.receive);
    if (team->ending.outcome == OUTCOME_OK)
        team->ending = ending;
    return false;
}

static bool verify(struct collective_run *run)
{
    struct team *team = run->team;
    const size_t bytes = extent_of(run).receive * sizeof(float);
    for (int i = 0; i < team->count; i++) {
        struct member *member = &team->members[i];
        if (!team_cuda(team, member, team->cuda->cuCtxSetCurrent(member->context)) ||
            !team_cuda(team, member, team->cuda->cuMemcpyDtoHAsync_v2(run->host, member->receive, bytes, member->stream)) ||
            !team_finish(team) || !compare(run, member))
            return false;
    }
    return true;
}

/* ---- time ---- */

/* The share of the traffic that one link carries, as nccl-tests counts it. */
static double bus_factor(const struct collective_run *run)
{
    double ranks = run->team->ranks;
    switch (run->kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (ranks - 1) / ranks;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
        return (ranks - 1) / ranks;
    default:
        return 1;
    }
}

static void measure(struct collective_run *run)
{
    const struct extent extent = extent_of(run);
    const size_t bytes = (extent.send > extent.receive ? extent.send : extent.receive) * sizeof(float);
    uint64_t before = bounded_now();
    for (int i = 0; i < run->repeats; i++)
        if (!issue(run))
            return;
    if (!team_finish(run->team))
        return;
    run->seconds = (double)(bounded_now() - before) / 1e9 / run->repeats;
    if (run->seconds > 0)
        run->busbw = (double)bytes / run->seconds / 1e9 * bus_factor(run);
}

void collective_execute(void *context)
{
    struct collective_run *run = context;
    atomic_store(&run->team->step, collective_title(run->kind));
    if (fill(run) && issue(run) && team_finish(run->team) && verify(run) && run->repeats)
        measure(run);
}

/* NCCL's unique id: made by this process for its own GPUs, or by rank 0 for all who meet. */
#include <stdio.h>
#include <string.h>

#include "bounded.h"
#include "nccl_run.h"

#define MEET_SECONDS 20.0

void make_id(void *context)
{
    struct state *state = context;
    state->id_result = state->nccl.ncclGetUniqueId(&state->team.id);
}

static void id_error(const struct state *state, char *out, size_t size)
{
    const char *text = state->nccl.ncclGetLastError ? state->nccl.ncclGetLastError(NULL) : "";
    (void)snprintf(out, size, "ncclGetUniqueId: %s: %s%s%s", nccl_result_name(state->id_result), nccl_result_meaning(state->id_result),
                   text && *text ? "; NCCL says: " : "", text ? text : "");
}

static bool make_id_for_all(void *context, unsigned char *id, char *error, size_t size)
{
    struct state *state = context;
    _Static_assert(sizeof(ncclUniqueId) == RENDEZVOUS_ID_MAX, "the id of NCCL grew");
    make_id(state);
    memcpy(id, &state->team.id, sizeof state->team.id);
    if (state->id_result != ncclSuccess)
        id_error(state, error, size);
    return state->id_result == ncclSuccess;
}

bool meet_locally(struct run *run)
{
    uint64_t deadline;
    struct state *state = run->state;
    char error[600];
    if (!run_step(run, make_id, state, &deadline, STEP_SECONDS)) {
        run_fault(run, "ncclGetUniqueId did not return in time");
    } else if (state->id_result != ncclSuccess) {
        id_error(state, error, sizeof error);
        run_fault(run, "%s", error);
    }
    if (!*run->fault)
        return true;
    run_status(run, run->given_up ? "timed-out" : nccl_result_name(state->id_result), "ncclGetUniqueId", "nccl.init.status");
    return false;
}

bool meet_all(struct run *run)
{
    struct rendezvous *meeting = &run->state->meeting;
    const double patience = run_seconds(run, "meet-seconds", MEET_SECONDS);
    *meeting = (struct rendezvous){.master = run->job.master,
                                   .port = run->job.port,
                                   .rank = run->job.rank,
                                   .ranks = run->job.ranks,
                                   .version = run->state->nccl.version,
                                   .make_id = make_id_for_all,
                                   .context = run->state};
    /* Rank 0 may have come later than this one, and be patient as long from then on. */
    meeting->deadline = bounded_in(patience, run->limit > END_NS ? run->limit - END_NS : 0);
    meeting->patience = bounded_in(2 * patience + 1, run->limit > END_NS ? run->limit - END_NS : 0);
    uint64_t deadline;
    bool back = run_step(run, rendezvous_run, meeting, &deadline, 2 * patience + 2);
    if (back && meeting->met) {
        memcpy(&run->state->team.id, meeting->id, sizeof run->state->team.id);
        return true;
    }
    run_status(run, "not-met", meeting->master, "nccl.init.status");
    if (back && *meeting->missing)
        run_status(run, meeting->missing, meeting->master, "nccl.missing_ranks");
    if (back && *meeting->mismatch)
        run_status(run, meeting->mismatch, "ncclGetVersion", "nccl.version_mismatch");
    run_fault(run, "the ranks did not meet: %s", back ? meeting->error : "the name service does not answer");
    return false;
}

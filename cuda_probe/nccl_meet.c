/* NCCL's unique id: made by this process for its own GPUs, or by rank 0 for all who meet. */
#include <stdio.h>
#include <string.h>

#include "bounded.h"
#include "nccl_run.h"

#define MEET_SECONDS 20.0
#define SILENCE_SECONDS 5.0 /* between two signs of life of a rank */
#define TURN_NS 100000000ull

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

bool meet_locally(struct run *run)
{
    struct state *state = run->state;
    char error[600];
    if (!run_step(run, make_id, state, STEP_SECONDS)) {
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

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

/* While there is time for a report. */
static bool may_wait(struct run *run)
{
    return !kit_stop(&run->kit) && bounded_now() + END_NS < run->limit;
}

static void report_absent(struct run *run)
{
    const enum trouble trouble = roll_verdict(run->roll);
    run_status(run, "not-met", "roll call", "nccl.init.status");
    if (trouble == TROUBLE_MISSING)
        run_status(run, roll_ranks(run->roll), "roll call", "nccl.missing_ranks");
    else if (trouble == TROUBLE_DIFFERS)
        run_status(run, roll_ranks(run->roll), "ncclGetVersion", "nccl.version_mismatch");
    run_fault(run, "the ranks did not meet: %s", trouble ? roll_reason(run->roll) : "there was no time left for it");
}

/* What rank 0 gives to all. */
struct gift {
    uint32_t ready; /* there is an id */
    ncclUniqueId id;
};
_Static_assert(sizeof(struct gift) <= ROLL_GIFT_MAX, "an id of NCCL is a gift");

static struct roll_call *call_the_roll(struct run *run, const struct gift *gift)
{
    char version[32], stamp[48];
    (void)snprintf(stamp, sizeof stamp, "NCCL %s", nccl_version_text(run->state->nccl.version, version, sizeof version));
    struct roll_setup setup = roll_setup(&run->kit, &run->job, "nccl");
    setup.arrive_ns = nanoseconds(run_seconds(run, "meet-seconds", MEET_SECONDS));
    setup.silence_ns = nanoseconds(SILENCE_SECONDS);
    setup.stamp = stamp;
    setup.gift = gift;
    setup.gift_length = sizeof *gift;
    return roll_begin(&run->kit, &setup);
}

bool meet_all(struct run *run)
{
    struct state *state = run->state;
    struct gift gift = {.ready = !run->job.rank && meet_locally(run)}; /* rank 0 makes the id before it opens the door */
    gift.id = state->team.id;
    run->roll = call_the_roll(run, &gift);
    if (!run->roll)
        return false;
    while (!roll_present(run->roll) && !roll_over(run->roll) && may_wait(run))
        roll_turn(run->roll, NULL, 0, TURN_NS);
    if (!roll_present(run->roll)) {
        report_absent(run);
        return false;
    }
    memcpy(&gift, roll_gift(run->roll), sizeof gift);
    state->team.id = gift.id;
    while (!gift.ready && !*run->fault && !roll_over(run->roll) && may_wait(run)) /* rank 0 tells why in a moment */
        roll_turn(run->roll, NULL, 0, TURN_NS);
    if (!gift.ready && run->job.rank)
        run_status(run, "not-met", "roll call", "nccl.init.status");
    return gift.ready;
}

void meet_conclude(struct run *run)
{
    if (!run->roll || !roll_present(run->roll))
        return;
    const struct ending *ending = &run->state->team.ending;
    const bool unable = ending->outcome == OUTCOME_OK || run_is_refused(ending); /* a missing function leaves no ending */
    if (*run->fault)
        roll_trouble(run->roll,
                     unable                            ? TROUBLE_REFUSED
                     : ending->outcome == OUTCOME_LATE ? TROUBLE_LATE
                                                       : TROUBLE_FAILED,
                     "%s", run->fault);
    else if (!run->called_off)
        roll_done(run->roll);
    while (!roll_over(run->roll) && may_wait(run))
        roll_turn(run->roll, NULL, 0, TURN_NS);
    const enum trouble trouble = roll_verdict(run->roll);
    const char *reason = roll_reason(run->roll);
    if (trouble >= TROUBLE_SILENT) {
        *run->fault = '\0'; /* what this rank saw follows from it */
        run_status(run, roll_ranks(run->roll), "roll call", "nccl.lost_ranks");
    }
    if (trouble && !*run->fault)
        run_fault(run, "%s", reason);
    else if (trouble == TROUBLE_LATE && strstr(reason, " still in "))
        run_fault_more(run, "; %s", reason);
}

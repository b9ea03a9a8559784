/* The communicator, and on it every collective in every size. */
#include <stdio.h>
#include <stdlib.h>

#include "nccl_run.h"

#define OPEN_SECONDS 20.0
#define REPEATS 3

static const size_t sizes[] = {8, 65536, 4194304};
#define SIZES (sizeof sizes / sizeof *sizes)

static void report_failed(struct run *run, const char *what)
{
    char text[700];
    if (run->called_off) /* the roll call knows more */
        return;
    const struct team *team = &run->state->team;
    run_fault(run, "%s: %s", what, ending_text(team, &team->ending, text, sizeof text));
}

/* Of the step that ended: the value of its status fact. */
static const char *status_of(const struct run *run)
{
    const struct team *team = &run->state->team;
    return run->called_off ? "called-off" : ending_status(team, &team->ending);
}

static bool open_team(struct run *run)
{
    struct team *team = &run->state->team;
    char what[64];
    run_begins(run, "the communicator");
    bool good = run_team_step(run, team_open, team, run_seconds(run, "init-seconds", OPEN_SECONDS));
    run_status(run, status_of(run), "ncclCommInitRank", "nccl.init.status");
    (void)snprintf(what, sizeof what, "communicator of %d rank%s", team->ranks, team->ranks == 1 ? "" : "s");
    if (!good)
        report_failed(run, what);
    return good;
}

static void report_speed(struct run *run, const struct collective_run *collective)
{
    const char *name = collective_name(collective->kind);
    if (collective->seconds <= 0)
        return;
    kit_f64(&run->kit, collective->seconds, "s", "NCCL", "nccl.%s.%zu.seconds", name, collective->bytes);
    if (run->state->team.ranks > 1)
        kit_f64(&run->kit, collective->busbw, "GB/s", "NCCL", "nccl.%s.%zu.busbw_gbytes_per_s", name, collective->bytes);
}

/* False: the team can do no more. */
static bool check_collective(struct run *run, enum collective kind)
{
    struct team *team = &run->state->team;
    const char *name = collective_name(kind);
    const double seconds = run_seconds(run, "step-seconds", STEP_SECONDS);
    if (!collective_available(&run->state->nccl, kind)) {
        run_status(run, "missing", nccl_path(&run->state->nccl), "nccl.%s.status", name);
        run_fault(run, "%s cannot %s: it lacks %s", nccl_path(&run->state->nccl), collective_title(kind), run->state->nccl.missing.names);
        return true;
    }
    for (size_t i = 0; i < SIZES && !kit_stop(&run->kit); i++) {
        run_begins(run, "%s of %zu bytes", collective_title(kind), sizes[i]);
        if (run_collective(run, kind, sizes[i], REPEATS, seconds)) {
            report_speed(run, &run->state->collective);
            continue;
        }
        char what[96];
        (void)snprintf(what, sizeof what, "%s of %zu bytes over %d rank%s", collective_title(kind), sizes[i], team->ranks,
                       team->ranks == 1 ? "" : "s");
        run_status(run, status_of(run), "NCCL", "nccl.%s.status", name);
        report_failed(run, what);
        return false;
    }
    if (!run->kit.stopped)
        kit_string(&run->kit, "ok", "NCCL", "nccl.%s.status", name);
    return !run->kit.stopped;
}

void check_collectives(struct run *run)
{
    run_gather(run, ~0u);
    run->state->collective.host = malloc((size_t)run->state->team.ranks * sizeof(float) + TEAM_BYTES_MAX);
    if (!run->state->collective.host) {
        kit_unavailable(&run->kit, "out of memory");
        return;
    }
    bool good = open_team(run);
    for (int kind = 0; good && kind < COLLECTIVES; kind++)
        good = check_collective(run, (enum collective)kind);
    struct ending ending = run->state->team.ending;
    run_disband(run);
    if (ending.outcome != OUTCOME_OK)
        bisect_devices(run, &ending);
    run->state->team.ending = ending;
}

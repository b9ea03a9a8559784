#include "nccl_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"

#define ABORT_SECONDS 1.0
#define TURN_NS 100000000ull

double run_seconds(const struct run *run, const char *name, double otherwise)
{
    double given = strtod(kit_param(&run->kit, name, "0"), NULL);
    return given > 0 && given < 3600 ? given : otherwise;
}

/* While a step runs: the roll call goes on, and where it is over there is nothing more to wait for. */
static void turn(void *context, int fd)
{
    struct run *run = context;
    struct pollfd done = {.fd = fd, .events = POLLIN};
    roll_turn(run->roll, &done, 1, TURN_NS);
    if (!roll_over(run->roll) || run->called_off)
        return;
    run->called_off = true;
    atomic_store(&run->state->team.deadline, bounded_now());
    atomic_store(&run->state->until, bounded_in(ABORT_SECONDS, run->limit));
}

bool run_step(struct run *run, void (*work)(void *), void *context, double seconds)
{
    struct state *state = run->state;
    const struct bounded_turn beside = {turn, run};
    uint64_t deadline = bounded_in(seconds, run->limit > END_NS ? run->limit - END_NS : 0);
    atomic_store(&state->team.deadline, deadline);
    atomic_store(&state->until, deadline + END_NS / 2);
    bool back = !run->given_up && bounded_run_beside(work, context, &state->until, run->roll ? &beside : NULL);
    run->given_up = run->given_up || !back;
    return back;
}

void run_begins(struct run *run, const char *format, ...)
{
    char name[48];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if (run->roll)
        roll_step(run->roll, ++run->steps, name);
}

bool run_team_step(struct run *run, void (*work)(void *), void *context, double seconds)
{
    struct team *team = &run->state->team;
    if (!run_step(run, work, context, seconds)) {
        const char *at = atomic_load(&team->step);
        team->ending = (struct ending){.outcome = OUTCOME_LATE};
        (void)snprintf(team->ending.text, sizeof team->ending.text, "NCCL does not come back from %s", at ? at : "its first call");
    }
    return team->ending.outcome == OUTCOME_OK;
}

void run_disband(struct run *run)
{
    struct team *team = &run->state->team;
    if (run->given_up)
        return;
    struct ending ending = team->ending;
    bool good = ending.outcome == OUTCOME_OK || ending.outcome == OUTCOME_WRONG;
    (void)run_step(run, good ? team_close : team_abort, team, good ? STEP_SECONDS : ABORT_SECONDS);
    team->ending = ending;
}

bool run_is_refused(const struct ending *ending)
{
    return ending->outcome == OUTCOME_MISSING || (ending->outcome == OUTCOME_NCCL && ending->nccl == ncclInvalidUsage);
}

void run_fault(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*run->fault)
        (void)vsnprintf(run->fault, sizeof run->fault, format, args);
    va_end(args);
}

void run_fault_more(struct run *run, const char *format, ...)
{
    size_t length = strlen(run->fault);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(run->fault + length, sizeof run->fault - length, format, args);
    va_end(args);
}

void run_status(struct run *run, const char *status, const char *origin, const char *format, ...)
{
    char name[DTKB_FACT_NAME_MAX + 1];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    kit_wrong(&run->kit, strcmp(status, "ok") != 0);
    kit_string(&run->kit, status, origin, "%s", name);
}

void run_gather(struct run *run, uint32_t subset)
{
    struct team *team = &run->state->team;
    ncclUniqueId id = team->id;
    memset(team, 0, sizeof *team);
    team->cuda = &run->state->cuda;
    team->nccl = &run->state->nccl;
    team->id = id;
    for (int i = 0; i < run->device_count; i++)
        if (subset >> i & 1) {
            team->members[team->count] = (struct member){.rank = team->count, .device = run->devices[i]};
            team->count++;
        }
    team->ranks = team->count;
    if (run->job.launcher) {
        team->ranks = (int)run->job.size;
        team->members[0].rank = (int)run->job.rank;
    }
}

bool run_collective(struct run *run, enum collective kind, size_t bytes, int repeats, double seconds)
{
    struct collective_run *collective = &run->state->collective;
    struct team *team = &run->state->team;
    *collective = (struct collective_run){.team = team, .kind = kind, .bytes = bytes, .repeats = repeats, .host = collective->host};
    return run_team_step(run, collective_execute, collective, seconds);
}

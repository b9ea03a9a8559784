/* The probe `mpi`: which rank this is, and which way MPI can be run here. */
#include <stdlib.h>
#include <string.h>

#include "run.h"

#define SECOND 1000000000.0

/* A parameter in seconds, at most `share` of the time there is. */
static uint64_t seconds(const struct kit *kit, const char *name, const char *otherwise, double share)
{
    double left = (double)(kit->call->deadline_ns - kit->host->now_ns()), wanted = strtod(kit_param(kit, name, otherwise), NULL) * SECOND;
    return (uint64_t)(wanted > 0 && wanted < left * share ? wanted : left * share);
}

static struct roll_call *call_the_roll(struct run *run)
{
    struct roll_setup setup = roll_setup(run->kit, &run->job, "mpi");
    setup.arrive_ns = run->limits.arrive_ns;
    setup.silence_ns = run->limits.silence_ns;
    return roll_begin(run->kit, &setup);
}

/* How many ranks to start where no launcher did; 0: none. */
static uint32_t ranks_wanted(struct kit *kit)
{
    const char *text = kit_param(kit, "ranks", NULL);
    unsigned long ranks = text ? strtoul(text, NULL, 10) : 0;
    if (text && (ranks < 1 || ranks > 64))
        kit_unavailable(kit, "ranks=%s: give a number from 1 to 64", text);
    else if (!text)
        kit_skip(kit,
                 "no launcher started this process: 'mpirun -np 4 dtkb probe mpi' runs it in a job, '--set mpi.ranks=4' starts one here");
    return (uint32_t)(ranks <= 64 ? ranks : 0);
}

static void run_job(struct run *run)
{
    struct job *job = &run->job;
    run->ranks = job->size;
    if (run->trial && !job->one_host) {
        kit_unavailable(run->kit,
                        "a job that spans hosts cannot start MPI a second time: run 'mpirun -x %s dtkb probe mpi' to see whether it helps",
                        run->trial);
        return;
    }
    run->roll = call_the_roll(run);
    if (!run->roll)
        return;
    if (run->trial)
        run_fresh_job(run);
    else
        run_in_slot(run);
    run_report(run);
    roll_end(run->roll);
}

static dtkb_result probe(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct kit kit = kit_start(host, call);
    struct run run = {.kit = &kit, .current = -1};
    run.worker = kit_memory(&kit, sizeof *run.worker);
    if (!run.worker)
        return kit_unavailable(&kit, "no memory"), kit_finish(&kit);
    run.worker->streams[0].fd = run.worker->streams[1].fd = -1;
    run.trial = kit_param(&kit, "trial", NULL);
    run.rounds = kit_param(&kit, "rounds", "1");
    run.limits = (struct limits){.arrive_ns = seconds(&kit, "arrive", "10", 0.4),
                                 .init_ns = seconds(&kit, "init", "15", 0.4),
                                 .step_ns = seconds(&kit, "step", "5", 0.3),
                                 .silence_ns = seconds(&kit, "silence", "3", 0.2)};
    if (job_read(&kit, JOB_MPI, &run.job)) {
        run_job(&run);
    } else if (run.job.launcher) {
        kit_fault(&kit, "%s: %s", run.job.launcher, run.job.problem);
    } else if ((run.ranks = ranks_wanted(&kit))) {
        run_fresh_job(&run);
        run_report(&run);
    }
    worker_end(run.worker);
    return kit_finish(&kit);
}

static const char *const facts[] = {"mpi.*.*", "mpi.*.*.*", "mpi.missing_ranks", "mpi.lost_ranks", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "ranks", .summary = "without a launcher: start a job of that many ranks on this machine"},
    {DTKB_PARAM_V1_INIT, .name = "rounds", .summary = "how often all collectives are run", .default_value = "1"},
    {DTKB_PARAM_V1_INIT, .name = "head", .summary = "address of rank 0's host for the roll call; by the launcher's variables if not given"},
    {DTKB_PARAM_V1_INIT, .name = "port", .summary = "first of four ports for the roll call; by the job's id if not given"},
    {DTKB_PARAM_V1_INIT, .name = "arrive", .summary = "seconds in which all ranks must check in", .default_value = "10"},
    {DTKB_PARAM_V1_INIT, .name = "init", .summary = "seconds for MPI_Init", .default_value = "15"},
    {DTKB_PARAM_V1_INIT, .name = "step", .summary = "seconds for each collective", .default_value = "5"},
    {DTKB_PARAM_V1_INIT, .name = "silence", .summary = "seconds without a sign of life after which a rank is lost", .default_value = "3"},
};
static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .default_timeout_ms = 45000, .name = "mpi",
                                        .summary = "small verified MPI collectives over the ranks of this job",
                                        .caps = DTKB_CAP_ACTIVE | DTKB_CAP_NETWORK | DTKB_CAP_MULTI_RANK | DTKB_CAP_TRIALS, .facts = facts,
                                        .params = params, .param_count = sizeof params / sizeof *params, .run = probe}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "mpi",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "does MPI move data rightly between the ranks of this job",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

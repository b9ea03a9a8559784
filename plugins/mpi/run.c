#include "run.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes MPI's abort wait, and say so: else the launcher ends all ranks before any of them could tell what happened. */
#define ABORT_DELAY "opal_abort_delay"
#define TURN_NS 100000000ull
#define LAST_WORDS_NS 1500000000ull /* before the deadline: to settle and tell a verdict */

static uint64_t now_of(const struct run *run)
{
    return run->kit->host->now_ns();
}

void run_trouble(struct run *run, enum trouble trouble, const char *format, ...)
{
    char text[sizeof run->reason];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (run->trouble)
        return;
    run->trouble = trouble;
    (void)snprintf(run->reason, sizeof run->reason, "%s", text);
    if (run->roll)
        roll_trouble(run->roll, trouble, "%s", text);
}

void run_step(struct run *run, uint32_t number, const char *name)
{
    (void)snprintf(run->step, sizeof run->step, "%s", name);
    run->step_began = now_of(run);
    if (run->roll)
        roll_step(run->roll, number, run->step);
}

/* ---- what the worker says ---- */

static int collective_by_name(const char *name, size_t length)
{
    for (int i = 0; i < COLLECTIVES; i++)
        if (strlen(collective_names[i]) == length && !strncmp(collective_names[i], name, length))
            return i;
    return -1;
}

static int size_by_bytes(size_t bytes)
{
    for (int i = 0; i < SIZES; i++)
        if (step_sizes[i] == bytes)
            return i;
    return -1;
}

static const char *in_words(char *out, size_t size, int collective, size_t bytes)
{
    static const char *const words[COLLECTIVES] = {
        [ALLREDUCE] = "all-reduce",         [BROADCAST] = "broadcast",       [ALLGATHER] = "all-gather",
        [REDUCESCATTER] = "reduce-scatter", [SENDRECV] = "send and receive",
    };
    const char *unit = bytes >= 1u << 20 ? "MB" : bytes >= 1u << 10 ? "KB" : "B";
    size_t number = bytes >= 1u << 20 ? bytes >> 20 : bytes >= 1u << 10 ? bytes >> 10 : bytes;
    (void)snprintf(out, size, "%s of %zu %s", collective >= 0 ? words[collective] : "set-up", number, unit);
    return out;
}

static void take_world(struct run *run, const char *rest)
{
    unsigned long size = strtoul(rest, NULL, 10);
    run->init_ok = size == run->ranks;
    run->init_status = run->init_ok ? "ok" : "wrong-size";
    if (!run->init_ok)
        run_trouble(run, TROUBLE_FAILED,
                    "MPI made a world of %lu rank%s where %u were started: the launcher and the MPI library are not of one installation",
                    size, size == 1 ? "" : "s", run->ranks);
}

/* "NAME BYTES REST": false when it is nothing of the kind. */
static bool take_operation(const char *text, int *collective, size_t *bytes, const char **rest)
{
    char *end;
    size_t length = strcspn(text, " ");
    *collective = collective_by_name(text, length);
    if (!text[length])
        return false;
    *bytes = strtoul(text + length + 1, &end, 10);
    *rest = *end ? end + 1 : end;
    return true;
}

static void take_begin(struct run *run, const char *text)
{
    char *end, words[48];
    unsigned long number = strtoul(text, &end, 10);
    size_t bytes;
    const char *rest;
    if (*end != ' ' || !take_operation(end + 1, &run->current, &bytes, &rest))
        return;
    run_step(run, (uint32_t)number, in_words(words, sizeof words, run->current, bytes));
}

static void take_result(struct run *run, const struct worker_line *line)
{
    int collective;
    size_t bytes;
    const char *rest;
    char words[48];
    if (!take_operation(line->rest, &collective, &bytes, &rest))
        return;
    int size = size_by_bytes(bytes);
    (void)in_words(words, sizeof words, collective, bytes);
    if (!strcmp(line->verb, "end") && collective >= 0 && size >= 0) {
        double seconds = strtod(rest, NULL), *known = &run->seconds[collective][size];
        *known = *known > 0 && *known < seconds ? *known : seconds;
        if (!*run->status[collective])
            (void)snprintf(run->status[collective], sizeof *run->status, "ok");
    } else if (!strcmp(line->verb, "wrong")) {
        unsigned long element = 0;
        long long got = 0, wanted = 0;
        (void)sscanf(rest, "%lu %lld %lld", &element, &got, &wanted);
        run_trouble(run, TROUBLE_FAILED, "%s gave a wrong result on rank %d: element %lu is %lld, wanted %lld", words, line->rank, element,
                    got, wanted);
        if (collective >= 0)
            (void)snprintf(run->status[collective], sizeof *run->status, "wrong-result");
    } else if (!strcmp(line->verb, "error")) {
        int class = (int)strcspn(rest, " ");
        run_trouble(run, TROUBLE_FAILED, "%s failed on rank %d: %s", words, line->rank, rest);
        if (collective >= 0)
            (void)snprintf(run->status[collective], sizeof *run->status, "%.*s", class, rest);
    }
}

void run_take(void *context, const struct worker_line *line)
{
    struct run *run = context;
    if (!strcmp(line->verb, "version") && !run->told) {
        char version[256];
        (void)snprintf(version, sizeof version, "%.*s", (int)strcspn(line->rest, ",\n"), line->rest);
        kit_string(run->kit, version, "MPI_Get_library_version", "mpi.library.version");
        run->told = true;
    } else if (!strcmp(line->verb, "world")) {
        take_world(run, line->rest);
    } else if (!strcmp(line->verb, "begin")) {
        take_begin(run, line->rest);
    } else if (!strcmp(line->verb, "finalize")) {
        run->current = -1;
        run_step(run, (uint32_t)strtoul(line->rest, NULL, 10), "MPI_Finalize");
    } else if (!strcmp(line->verb, "done")) {
        run->finished++;
    } else {
        take_result(run, line);
    }
}

/* ---- waiting ---- */

static void look_at_worker(struct run *run)
{
    const struct worker *worker = run->worker;
    char complaint[200];
    if (run->roll && strstr(worker->text, ABORT_DELAY))
        run_trouble(run, TROUBLE_FAILED, "%s failed and MPI gave the job up: the launcher's own output says why", run->step);
    if (worker->stopped)
        run_trouble(run, TROUBLE_STOPPED, "its MPI process is stopped (by a signal such as SIGSTOP) in %s", run->step);
    if (!worker->ended)
        return;
    if (worker->signal)
        run_trouble(run, TROUBLE_GONE, "its MPI process was killed by signal %d (%s) in %s", worker->signal, strsignal(worker->signal),
                    run->step);
    else if (worker->code || !run->finished)
        run_trouble(run, TROUBLE_FAILED, "%s failed, its process ended with status %d%s%s", run->step, worker->code,
                    *worker_complaint(run->worker, complaint, sizeof complaint) ? ": " : "", complaint);
}

static void look_at_clock(struct run *run, size_t wanted)
{
    uint64_t now = now_of(run), limit = run->current >= 0 ? run->limits.step_ns : run->limits.init_ns;
    bool late = now + LAST_WORDS_NS > run->kit->call->deadline_ns;
    if (run->finished < wanted && (late || now > run->step_began + limit)) {
        if (run->current >= 0 && !run->trouble)
            (void)snprintf(run->status[run->current], sizeof *run->status, "timed-out");
        run_trouble(run, TROUBLE_LATE, "%s did not end within %.1f s", run->step, (double)(now - run->step_began) / 1e9);
    }
}

/* Until the job has a verdict; without a roll call, until this process has one. */
static bool is_over(const struct run *run)
{
    return run->roll ? roll_over(run->roll) : run->trouble || run->worker->ended;
}

static void wait_for_worker(struct run *run, size_t wanted)
{
    while (!is_over(run) && !kit_stop(run->kit)) {
        struct pollfd fds[2];
        size_t count = worker_polls(run->worker, fds);
        if (run->roll) {
            roll_turn(run->roll, fds, count, TURN_NS);
        } else {
            const struct timespec wait = {.tv_nsec = (long)TURN_NS};
            (void)ppoll(fds, count, &wait, NULL);
        }
        worker_turn(run->worker);
        look_at_worker(run);
        look_at_clock(run, wanted);
        if (run->roll && run->finished >= wanted && run->worker->ended && !run->trouble)
            roll_done(run->roll);
    }
}

/* The program beside this plugin. */
static const char *rank_program(char *out, size_t size)
{
    Dl_info info;
    const char *file = dladdr(collective_names, &info) && info.dli_fname ? info.dli_fname : "", *slash = strrchr(file, '/');
    (void)snprintf(out, size, "%.*sdtkb-mpi-rank", slash ? (int)(slash - file) + 1 : 0, file);
    return out;
}

static void start(struct run *run, char *const *argv, char *const *env)
{
    run->worker->take = run_take;
    run->worker->context = run;
    run->current = -1;
    run->init_status = "timed-out";
    run_step(run, 1, "MPI_Init");
    if (!worker_start(run->worker, argv, env))
        run_trouble(run, TROUBLE_FAILED, "cannot start %s: %s", argv[0], strerror(run->worker->code));
}

/* Is the variable of this entry one that the trial changes ("A=1,B=2")? */
static bool is_tried(const char *entry, const char *trial)
{
    const size_t length = strcspn(entry, "=") + 1;
    while (trial && strncmp(entry, trial, length) != 0) {
        trial = strchr(trial, ',');
        trial = trial ? trial + 1 : NULL;
    }
    return trial != NULL;
}

/* Variables by which the outer launcher speaks to its ranks: with them a second launcher would take itself for one of those. */
static bool is_launchers(const char *entry, const char *trial)
{
    static const char *const prefixes[] = {"PMIX_",
                                           "PMI_",
                                           "OMPI_COMM_WORLD_",
                                           "OMPI_MCA_orte_",
                                           "OMPI_MCA_ess",
                                           "OMPI_MCA_pmix",
                                           "OMPI_MCA_initial_wdir",
                                           "OMPI_UNIVERSE_SIZE",
                                           "OMPI_NUM_APP_CTX",
                                           "OMPI_APP_CTX_",
                                           "OMPI_FIRST_RANKS",
                                           "OMPI_FILE_LOCATION",
                                           "OMPI_COMMAND",
                                           "OMPI_ARGV",
                                           "OMPI_MCA_mpi_oversubscribe",
                                           "SLURM_",
                                           "PRTE_",
                                           "HYDI_"};
    if (is_tried(entry, trial))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(entry, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* The job's environment and `added` behind it, without the launcher's own variables if `fresh`; NULL when there is no memory. */
static char **environment(const struct run *run, bool fresh, const char *const *added)
{
    const char *const *job = run->kit->call->env;
    size_t count = 0, kept = 0, extra = 0;
    while (job[count])
        count++;
    while (added[extra])
        extra++;
    char **env = kit_memory(run->kit, (count + extra + 1) * sizeof *env);
    for (size_t i = 0; env && i < count; i++)
        if (!fresh || !is_launchers(job[i], run->trial))
            env[kept++] = (char *)job[i];
    for (size_t i = 0; env && i < extra; i++)
        env[kept++] = (char *)added[i];
    if (!env)
        kit_unavailable(run->kit, "no memory for an environment");
    return env;
}

void run_in_slot(struct run *run)
{
    static const char *const added[] = {"OMPI_MCA_" ABORT_DELAY "=-1", NULL};
    char program[PATH_MAX], **env = environment(run, false, added);
    while (env && !roll_present(run->roll) && !roll_over(run->roll) && !kit_stop(run->kit))
        roll_turn(run->roll, NULL, 0, TURN_NS);
    if (!env || !roll_present(run->roll) || roll_over(run->roll))
        return;
    start(run, (char *[]){(char *)rank_program(program, sizeof program), (char *)run->rounds, NULL}, env);
    run->ranks = run->job.size;
    run->finished = 0;
    wait_for_worker(run, 1);
}

void run_fresh_job(struct run *run)
{
    char program[PATH_MAX], ranks[16];
    while (run->roll && !roll_present(run->roll) && !roll_over(run->roll) && !kit_stop(run->kit))
        roll_turn(run->roll, NULL, 0, TURN_NS);
    if (run->roll && (!roll_present(run->roll) || roll_over(run->roll)))
        return;
    if (run->roll && run->job.rank) {
        roll_step(run->roll, 1, "waiting for the job that rank 0 starts");
        roll_done(run->roll);
        while (!roll_over(run->roll) && !kit_stop(run->kit))
            roll_turn(run->roll, NULL, 0, TURN_NS);
        return;
    }
    const char *const added[] = {"OMPI_MCA_rmaps_base_oversubscribe=1", geteuid() ? NULL : "OMPI_ALLOW_RUN_AS_ROOT=1",
                                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", NULL};
    char **env = environment(run, true, added);
    if (!env)
        return;
    (void)snprintf(ranks, sizeof ranks, "%u", run->ranks);
    start(run, (char *[]){(char *)"mpirun", (char *)"-np", ranks, (char *)rank_program(program, sizeof program), (char *)run->rounds, NULL},
          env);
    wait_for_worker(run, run->ranks);
}

/* ---- the report ---- */

static void report_collectives(struct run *run)
{
    for (int c = 0; c < COLLECTIVES; c++) {
        if (*run->status[c]) {
            kit_wrong(run->kit, strcmp(run->status[c], "ok") != 0);
            kit_string(run->kit, run->status[c], "", "mpi.%s.status", collective_names[c]);
        }
        for (int s = 0; s < SIZES; s++)
            if (run->seconds[c][s] > 0)
                kit_f64(run->kit, run->seconds[c][s], "s", "MPI_Wtime", "mpi.%s.%zu.seconds", collective_names[c], step_sizes[s]);
    }
}

void run_report(struct run *run)
{
    struct kit *kit = run->kit;
    enum trouble trouble = run->roll ? roll_verdict(run->roll) : run->trouble;
    const char *reason = run->roll ? roll_reason(run->roll) : run->reason;
    kit_u64(kit, run->ranks, "ranks", run->job.launcher, "mpi.world.size");
    if (run->job.launcher)
        kit_u64(kit, run->job.rank, "", run->job.launcher, "mpi.world.rank");
    if (run->init_status) {
        kit_wrong(kit, !run->init_ok && trouble);
        kit_string(kit, run->trouble == TROUBLE_FAILED && !run->init_ok ? "failed" : run->init_status, "MPI_Init", "mpi.init.status");
    }
    report_collectives(run);
    kit_wrong(kit, trouble != TROUBLE_NONE);
    if (trouble == TROUBLE_MISSING)
        kit_string(kit, roll_ranks(run->roll), "roll call", "mpi.missing_ranks");
    else if (trouble == TROUBLE_SILENT || trouble == TROUBLE_STOPPED || trouble == TROUBLE_GONE)
        kit_string(kit, run->roll ? roll_ranks(run->roll) : "0", "roll call", "mpi.lost_ranks");
    if (run->worker->text_length)
        kit->host->evidence(kit->call, "mpi", run->worker->text, run->worker->text_length);
    if (trouble)
        kit_fault(kit, "%s", reason);
}

/* The probe "nccl": a communicator over this host's GPUs, or over all ranks of the job, and small collectives whose results are checked. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "bounded.h"
#include "collectives.h"
#include "nccl_job.h"
#include "rendezvous.h"
#include "transcript.h"

#define MEET_SECONDS 20.0
#define OPEN_SECONDS 20.0
#define STEP_SECONDS 10.0
#define BISECT_SECONDS 4.0 /* a set that works takes a fraction of it */
#define ABORT_SECONDS 1.0
#define END_NS 300000000u /* what is left for the report when a step takes all the time there is */
#define REPEATS 3

static const size_t sizes[] = {8, 65536, 4194304};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Everything that a thread of NCCL or CUDA may still use after it was given up: allocated once, and freed only when none was. */
struct state {
    struct cuda_api cuda;
    struct nccl_api nccl;
    struct team team;
    struct collective_run collective;
    struct rendezvous meeting;
    CUresult cuda_result;
    ncclResult_t id_result;
    int device_count;
};

struct run {
    struct kit kit;
    struct state *state;
    struct transcript transcript;
    struct job job;
    int devices[TEAM_MEMBERS_MAX]; /* of the members, local ones */
    int device_count;
    uint64_t limit;
    bool given_up;   /* a thread did not come back */
    char fault[700]; /* what to report once NCCL's log has been read */
};

/* ---- steps ---- */

static double seconds_param(const struct run *run, const char *name, double otherwise)
{
    double given = strtod(kit_param(&run->kit, name, "0"), NULL);
    return given > 0 && given < 3600 ? given : otherwise;
}

/* True when work() came back. It has until the deadline by its own clock, and a moment more to come back. */
static bool step(struct run *run, void (*work)(void *), void *context, uint64_t *deadline, double seconds)
{
    *deadline = bounded_in(seconds, run->limit > END_NS ? run->limit - END_NS : 0);
    bool back = !run->given_up && bounded_run(work, context, *deadline + END_NS / 2);
    run->given_up = run->given_up || !back;
    return back;
}

static bool team_step(struct run *run, void (*work)(void *), void *context, double seconds)
{
    struct team *team = &run->state->team;
    if (!step(run, work, context, &team->deadline, seconds)) {
        const char *at = atomic_load(&team->step);
        team->ending = (struct ending){.outcome = OUTCOME_LATE};
        (void)snprintf(team->ending.text, sizeof team->ending.text, "NCCL does not come back from %s", at ? at : "its first call");
    }
    return team->ending.outcome == OUTCOME_OK;
}

/* Ends the team, however it is. */
static void disband(struct run *run)
{
    struct team *team = &run->state->team;
    if (run->given_up)
        return;
    uint64_t deadline;
    struct ending ending = team->ending;
    bool good = ending.outcome == OUTCOME_OK || ending.outcome == OUTCOME_WRONG;
    team->deadline = bounded_in(good ? STEP_SECONDS : ABORT_SECONDS, run->limit);
    (void)step(run, good ? team_close : team_abort, team, &deadline, good ? STEP_SECONDS : ABORT_SECONDS);
    team->ending = ending;
}

__attribute__((format(printf, 2, 3))) static void fault(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*run->fault)
        (void)vsnprintf(run->fault, sizeof run->fault, format, args);
    va_end(args);
}

/* A status, marked as what the fault consists in unless it is "ok". */
__attribute__((format(printf, 4, 5))) static void status_fact(struct run *run, const char *status, const char *origin, const char *format,
                                                              ...)
{
    char name[DTKB_FACT_NAME_MAX + 1];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    kit_wrong(&run->kit, strcmp(status, "ok") != 0);
    kit_string(&run->kit, status, origin, "%s", name);
}

/* ---- libraries ---- */

static bool open_nccl(struct run *run)
{
    struct kit *kit = &run->kit;
    struct nccl_api *nccl = &run->state->nccl;
    char error[700], version[32];
    bool opened = nccl_api_open(kit, nccl, error, sizeof error);
    kit_u64(kit, nccl->library.count, "files", NULL, "nccl.library.candidates");
    if (nccl->library.handle)
        kit_string(kit, nccl_path(nccl), NULL, "nccl.library.path");
    if (nccl->version)
        kit_string(kit, nccl_version_text(nccl->version, version, sizeof version), "ncclGetVersion", "nccl.library.version");
    if (*nccl->missing.names)
        kit_string(kit, nccl->missing.names, nccl->library.handle ? nccl_path(nccl) : NULL, "nccl.library.missing");
    if (!opened && nccl->library.handle)
        kit_fault(kit, "%s", error);
    else if (!opened)
        kit_unavailable(kit, "%s", error);
    return opened;
}

static void start_cuda(void *context)
{
    struct state *state = context;
    state->cuda_result = state->cuda.cuInit(0);
    if (state->cuda_result == CUDA_SUCCESS)
        state->cuda_result = state->cuda.cuDeviceGetCount(&state->device_count);
}

static bool open_cuda(struct run *run)
{
    struct kit *kit = &run->kit;
    struct state *state = run->state;
    char error[600], version[32];
    uint64_t deadline;
    if (!cuda_api_open(kit, &state->cuda, error, sizeof error)) {
        kit_unavailable(kit, "NCCL %s at %s would be used, but %s", nccl_version_text(state->nccl.version, version, sizeof version),
                        nccl_path(&state->nccl), error);
        return false;
    }
    if (!step(run, start_cuda, state, &deadline, STEP_SECONDS))
        kit_fault(kit, "cuInit did not return in time: the driver hangs; the probe cuda tells more");
    else if (state->cuda_result != CUDA_SUCCESS)
        kit_fault(kit, "cuInit: %s: %s", cuda_error_name(&state->cuda, state->cuda_result), cuda_error_meaning(state->cuda_result));
    else if (!state->device_count)
        kit_fault(kit, "the driver lists no device");
    return !run->given_up && state->cuda_result == CUDA_SUCCESS && state->device_count > 0;
}

/* ---- who takes part ---- */

static bool choose_devices(struct run *run)
{
    struct kit *kit = &run->kit;
    const char *given = kit_param(kit, "devices", NULL);
    const int present = run->state->device_count;
    if (!given) {
        for (int i = 0; i < present && i < TEAM_MEMBERS_MAX; i++)
            run->devices[run->device_count++] = i;
        return true;
    }
    for (const char *at = given; *at;) {
        char *end;
        long device = strtol(at, &end, 10);
        if (end == at || device < 0 || device >= present || (*end && *end != ',') || run->device_count == TEAM_MEMBERS_MAX) {
            kit_unavailable(kit, "the parameter devices is '%s': numbers from 0 to %d joined by commas", given, present - 1);
            return false;
        }
        run->devices[run->device_count++] = (int)device;
        at = end + (*end == ',');
    }
    return run->device_count > 0;
}

/* A launcher that binds each rank to its GPU leaves one visible. */
static bool choose_own_device(struct run *run)
{
    const int present = run->state->device_count, local = run->job.local_rank >= 0 ? run->job.local_rank : run->job.rank;
    if (kit_param(&run->kit, "devices", NULL))
        return choose_devices(run) && (run->device_count = 1);
    if (present > 1 && local >= present) {
        fault(run, "rank %d is the process number %d of its host, which shows %d GPUs: more ranks than GPUs", run->job.rank, local,
              present);
        return false;
    }
    run->devices[0] = present > 1 ? local : 0;
    run->device_count = 1;
    return true;
}

static void make_id(void *context)
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

static bool meet_locally(struct run *run)
{
    uint64_t deadline;
    struct state *state = run->state;
    char error[600];
    if (!step(run, make_id, state, &deadline, STEP_SECONDS)) {
        fault(run, "ncclGetUniqueId did not return in time");
    } else if (state->id_result != ncclSuccess) {
        id_error(state, error, sizeof error);
        fault(run, "%s", error);
    }
    if (!*run->fault)
        return true;
    status_fact(run, run->given_up ? "timed-out" : nccl_result_name(state->id_result), "ncclGetUniqueId", "nccl.init.status");
    return false;
}

static bool meet_all(struct run *run)
{
    struct rendezvous *meeting = &run->state->meeting;
    const double patience = seconds_param(run, "meet-seconds", MEET_SECONDS);
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
    bool back = step(run, rendezvous_run, meeting, &deadline, 2 * patience + 2);
    if (back && meeting->met) {
        memcpy(&run->state->team.id, meeting->id, sizeof run->state->team.id);
        return true;
    }
    status_fact(run, "not-met", meeting->master, "nccl.init.status");
    if (back && *meeting->missing)
        status_fact(run, meeting->missing, meeting->master, "nccl.missing_ranks");
    if (back && *meeting->mismatch)
        status_fact(run, meeting->mismatch, "ncclGetVersion", "nccl.version_mismatch");
    fault(run, "the ranks did not meet: %s", back ? meeting->error : "the name service does not answer");
    return false;
}

/* ---- the team ---- */

/* Members from the devices whose bits are set in `subset`. */
static void gather(struct run *run, uint32_t subset)
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
        team->ranks = run->job.ranks;
        team->members[0].rank = run->job.rank;
    }
}

static void report_failed(struct run *run, const char *what)
{
    char text[700];
    const struct team *team = &run->state->team;
    fault(run, "%s: %s", what, ending_text(team, &team->ending, text, sizeof text));
}

static bool open_team(struct run *run)
{
    struct team *team = &run->state->team;
    char what[64];
    bool good = team_step(run, team_open, team, seconds_param(run, "init-seconds", OPEN_SECONDS));
    status_fact(run, ending_status(team, &team->ending), "ncclCommInitRank", "nccl.init.status");
    (void)snprintf(what, sizeof what, "communicator of %d rank%s", team->ranks, team->ranks == 1 ? "" : "s");
    if (!good)
        report_failed(run, what);
    return good;
}

/* ---- collectives ---- */

static bool run_collective(struct run *run, enum collective kind, size_t bytes, int repeats, double seconds)
{
    struct collective_run *collective = &run->state->collective;
    struct team *team = &run->state->team;
    *collective = (struct collective_run){.team = team, .kind = kind, .bytes = bytes, .repeats = repeats, .host = collective->host};
    return team_step(run, collective_execute, collective, seconds);
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
    const double seconds = seconds_param(run, "step-seconds", STEP_SECONDS);
    if (!collective_available(&run->state->nccl, kind)) {
        status_fact(run, "missing", nccl_path(&run->state->nccl), "nccl.%s.status", name);
        fault(run, "%s cannot %s: it lacks %s", nccl_path(&run->state->nccl), collective_title(kind), run->state->nccl.missing.names);
        return true;
    }
    for (size_t i = 0; i < SIZES && !kit_stop(&run->kit); i++) {
        if (run_collective(run, kind, sizes[i], REPEATS, seconds)) {
            report_speed(run, &run->state->collective);
            continue;
        }
        char what[96];
        (void)snprintf(what, sizeof what, "%s of %zu bytes over %d rank%s", collective_title(kind), sizes[i], team->ranks,
                       team->ranks == 1 ? "" : "s");
        status_fact(run, ending_status(team, &team->ending), "NCCL", "nccl.%s.status", name);
        report_failed(run, what);
        return false;
    }
    if (!run->kit.stopped)
        kit_string(&run->kit, "ok", "NCCL", "nccl.%s.status", name);
    return !run->kit.stopped;
}

/* ---- bisecting ---- */

/* A fresh communicator over the subset and the collective that failed, once: does it fail again? */
static bool subset_fails(struct run *run, uint32_t subset, enum collective kind, size_t bytes)
{
    uint64_t deadline;
    if (!step(run, make_id, run->state, &deadline, BISECT_SECONDS) || run->state->id_result != ncclSuccess)
        return true;
    gather(run, subset);
    bool good = team_step(run, team_open, &run->state->team, BISECT_SECONDS) && run_collective(run, kind, bytes, 0, BISECT_SECONDS);
    disband(run);
    return !good;
}

static void report_culprit(struct run *run, const struct bisect *bisect)
{
    struct kit *kit = &run->kit;
    const uint32_t culprit = bisect_culprit(bisect);
    char pair[32];
    kit_u64(kit, bisect->tests, "collectives", "NCCL", "nccl.bisect.collectives");
    if (!culprit) {
        kit_log(kit, 1, "%u smaller sets of GPUs tried: the fault is not one of a single GPU or pair", bisect->tests);
        return;
    }
    int first = run->devices[__builtin_ctz(culprit)], last = run->devices[31 - __builtin_clz(culprit)];
    size_t length = strlen(run->fault);
    if (first == last) {
        kit_u64(kit, (uint64_t)first, "index", "NCCL", "nccl.bad_gpu");
        (void)snprintf(run->fault + length, sizeof run->fault - length, "; it fails with GPU %d and works without it", first);
        return;
    }
    (void)snprintf(pair, sizeof pair, "%d,%d", first, last);
    status_fact(run, pair, "NCCL", "nccl.bad_pair");
    (void)snprintf(run->fault + length, sizeof run->fault - length, "; it fails where GPUs %d and %d are together and works otherwise",
                   first, last);
}

static void bisect(struct run *run, const struct ending *ending)
{
    const char *wanted = kit_param(&run->kit, "bisect", "1");
    bool usage = ending->outcome == OUTCOME_MISSING || (ending->outcome == OUTCOME_NCCL && ending->nccl == ncclInvalidUsage);
    if (run->job.launcher || run->device_count < 3 || run->device_count > BISECT_DEVICES_MAX || usage || *wanted == '0')
        return;
    struct bisect bisect;
    uint32_t subset;
    const enum collective kind = run->state->collective.kind;
    const size_t bytes = run->state->collective.bytes ? run->state->collective.bytes : sizes[1];
    bisect_start(&bisect, run->device_count);
    while (!run->given_up && !kit_stop(&run->kit) && (subset = bisect_next(&bisect)) != 0)
        bisect_tell(&bisect, subset, subset_fails(run, subset, kind, bytes));
    if (!run->given_up)
        report_culprit(run, &bisect);
}

/* ---- the report ---- */

static void report_choices(struct run *run)
{
    struct kit *kit = &run->kit;
    struct nccl_choices choices;
    size_t length;
    const char *text = transcript_finish(kit, &run->transcript, &length);
    if (!text)
        return;
    transcript_read(text, &choices);
    char slowest[32];
    (void)snprintf(slowest, sizeof slowest, "%.*s", (int)strcspn(choices.transports, ","), choices.transports);
    const struct {
        const char *name, *value;
    } facts[] = {{"nccl.transport", slowest},           {"nccl.transports", choices.transports}, {"nccl.network", choices.network},
                 {"nccl.interface", choices.interface}, {"nccl.address", choices.address},       {"nccl.rdma_devices", choices.devices},
                 {"nccl.warning", choices.last_warning}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (*facts[i].value) {
            kit_wrong(kit, *run->fault && facts[i].value == choices.last_warning);
            kit_string(kit, facts[i].value, "NCCL's log", "%s", facts[i].name);
        }
    /* Where the network is the trouble, the first thing to ask is which one NCCL took. */
    const struct ending *ending = &run->state->team.ending;
    bool network = ending->outcome == OUTCOME_LATE || (ending->outcome == OUTCOME_NCCL && ending->nccl == ncclSystemError);
    size_t used = strlen(run->fault);
    if (*run->fault && network && *choices.interface)
        (void)snprintf(run->fault + used, sizeof run->fault - used, "; NCCL's sockets are on %s (%s)", choices.interface, choices.address);
}

static bool take_part(struct run *run)
{
    struct kit *kit = &run->kit;
    char error[512];
    if (!job_find(kit, &run->job, error, sizeof error)) {
        kit_unavailable(kit, "%s", error);
        return false;
    }
    if (run->job.launcher ? !choose_own_device(run) : !choose_devices(run))
        return false;
    kit_u64(kit, (uint64_t)(run->job.launcher ? run->job.ranks : run->device_count), "ranks", run->job.launcher, "nccl.world.size");
    kit_u64(kit, (uint64_t)run->job.rank, "rank", run->job.launcher, "nccl.rank");
    return run->job.launcher ? meet_all(run) : meet_locally(run);
}

static void check(struct run *run)
{
    gather(run, ~0u);
    run->state->collective.host = malloc((size_t)run->state->team.ranks * sizeof(float) + TEAM_BYTES_MAX);
    if (!run->state->collective.host) {
        kit_unavailable(&run->kit, "out of memory");
        return;
    }
    bool good = open_team(run);
    for (int kind = 0; good && kind < COLLECTIVES; kind++)
        good = check_collective(run, (enum collective)kind);
    struct ending ending = run->state->team.ending;
    disband(run);
    if (ending.outcome != OUTCOME_OK)
        bisect(run, &ending);
    run->state->team.ending = ending;
}

static void begin(struct run *run)
{
    const char *trial = kit_param(&run->kit, "trial", NULL); /* is in the environment already */
    if (trial)
        kit_string(&run->kit, trial, NULL, "nccl.trial");
    transcript_start(&run->transcript);
}

static dtkb_result run_nccl(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct run run = {.kit = kit_start(host, call), .limit = call->deadline_ns, .state = calloc(1, sizeof *run.state), .transcript = {-1}};
    if (!run.state) {
        kit_unavailable(&run.kit, "out of memory");
        return kit_finish(&run.kit);
    }
    begin(&run);
    if (open_nccl(&run) && open_cuda(&run) && take_part(&run))
        check(&run);
    report_choices(&run);
    if (*run.fault)
        kit_fault(&run.kit, "%s", run.fault);
    if (!run.given_up) {
        free(run.state->collective.host);
        free(run.state);
    }
    return kit_finish(&run.kit);
}

static const char *const facts[] = {"nccl.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "scope", .summary = "local: this host's GPUs; job: all ranks; auto: job where a launcher's variables are",
     .default_value = "auto"},
    {DTKB_PARAM_V1_INIT, .name = "devices", .summary = "devices to use, numbers joined by commas; all when not given"},
    {DTKB_PARAM_V1_INIT, .name = "port", .summary = "port at which ranks meet on rank 0's host; next to MASTER_PORT when not given"},
    {DTKB_PARAM_V1_INIT, .name = "meet-seconds", .summary = "how long ranks wait for each other", .default_value = "20"},
    {DTKB_PARAM_V1_INIT, .name = "init-seconds", .summary = "how long a communicator may take", .default_value = "20"},
    {DTKB_PARAM_V1_INIT, .name = "step-seconds", .summary = "how long a collective may take", .default_value = "10"},
    {DTKB_PARAM_V1_INIT, .name = "bisect", .summary = "1: find the GPU or pair at fault, 0: do not", .default_value = "1"},
    {DTKB_PARAM_V1_INIT, .name = "libnccl", .summary = "file or folder of NCCL's library, instead of searching"},
    {DTKB_PARAM_V1_INIT, .name = "libcuda", .summary = "likewise of the driver's library"},
    {DTKB_PARAM_V1_INIT, .name = "trial", .summary = "NAME=VALUE, or several joined by commas, to try; no value: the variable is removed"},
};
static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .default_timeout_ms = 60000, .name = "nccl",
     .summary = "NCCL: version, transports, and small verified collectives over this host's GPUs or the job's ranks",
     .caps = DTKB_CAP_ACTIVE | DTKB_CAP_GPU | DTKB_CAP_NETWORK | DTKB_CAP_MULTI_RANK | DTKB_CAP_TRIALS, .facts = facts, .params = params,
     .param_count = sizeof params / sizeof *params, .run = run_nccl}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "nccl",
                                      .version = DTKB_VERSION_TEXT,
                                      .licence = "Apache-2.0",
                                      .summary = "checks NCCL with small, verified collectives",
                                      .probes = probes,
                                      .probe_count = sizeof probes / sizeof *probes,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

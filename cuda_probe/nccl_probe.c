/* The probe "nccl": a communicator over this host's GPUs, or over all ranks of the job, and small collectives whose results are checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_run.h"

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
    kit_wrong(kit, !opened && nccl->library.handle && *nccl->missing.names);
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
    if (!cuda_api_open(kit, &state->cuda, error, sizeof error)) {
        kit_unavailable(kit, "NCCL %s at %s would be used, but %s", nccl_version_text(state->nccl.version, version, sizeof version),
                        nccl_path(&state->nccl), error);
        return false;
    }
    const bool back = run_step(run, start_cuda, state, STEP_SECONDS), good = back && state->cuda_result == CUDA_SUCCESS;
    if (!good || !state->device_count)
        run_status(run, !back ? "timed-out" : cuda_error_name(&state->cuda, good ? CUDA_ERROR_NO_DEVICE : state->cuda_result), "cuInit",
                   "nccl.init.status");
    if (!back)
        kit_fault(kit, "cuInit did not return in time: the driver hangs; the probe cuda tells more");
    else if (state->cuda_result != CUDA_SUCCESS)
        kit_fault(kit, "cuInit: %s: %s", cuda_error_name(&state->cuda, state->cuda_result), cuda_error_meaning(state->cuda_result));
    else if (!state->device_count)
        kit_fault(kit, "the driver lists no device");
    return good && state->device_count > 0;
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
    const int present = run->state->device_count, local = run->job.local_rank >= 0 ? run->job.local_rank : (int)run->job.rank;
    if (kit_param(&run->kit, "devices", NULL))
        return choose_devices(run) && (run->device_count = 1);
    if (present > 1 && local >= present) {
        run_status(run, "no-gpu", "cuDeviceGetCount", "nccl.init.status");
        run_fault(run, "rank %u is the process number %d of its host, which shows %d GPUs: more ranks than GPUs", run->job.rank, local,
                  present);
        return false;
    }
    run->devices[0] = present > 1 ? local : 0;
    run->device_count = 1;
    return true;
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
    bool network =
        (ending->outcome == OUTCOME_LATE && !run->called_off) || (ending->outcome == OUTCOME_NCCL && ending->nccl == ncclSystemError);
    size_t used = strlen(run->fault);
    if (*run->fault && network && *choices.interface)
        (void)snprintf(run->fault + used, sizeof run->fault - used, "; NCCL's sockets are on %s (%s)", choices.interface, choices.address);
}

static bool find_job(struct run *run)
{
    const char *scope = kit_param(&run->kit, "scope", "auto");
    if (!strcmp(scope, "local") || job_read(&run->kit, JOB_ANY, &run->job))
        return true;
    if (run->job.launcher)
        kit_unavailable(&run->kit, "%s", run->job.problem);
    else if (!strcmp(scope, "job"))
        kit_unavailable(&run->kit, "no launcher's variables (RANK and WORLD_SIZE, OMPI_*, SLURM_*, PMI_*): start it as a rank of the job");
    return !run->job.launcher && strcmp(scope, "job") != 0;
}

static bool take_part(struct run *run)
{
    struct kit *kit = &run->kit;
    if (!find_job(run))
        return false;
    if (run->job.launcher ? !choose_own_device(run) : !choose_devices(run))
        return false;
    kit_u64(kit, run->job.launcher ? run->job.size : (uint64_t)run->device_count, "ranks", run->job.launcher, "nccl.world.size");
    kit_u64(kit, run->job.rank, "rank", run->job.launcher, "nccl.rank");
    return run->job.launcher ? meet_all(run) : meet_locally(run);
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
        check_collectives(&run);
    meet_conclude(&run);
    seek_culprit(&run);
    report_choices(&run);
    if (*run.fault)
        kit_fault(&run.kit, "%s", run.fault);
    roll_end(run.roll);
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
    {DTKB_PARAM_V1_INIT, .name = "port", .summary = "first of four ports for the ranks' roll call; by the job's id if not given"},
    {DTKB_PARAM_V1_INIT, .name = "head", .summary = "address of rank 0's host for the roll call; by the launcher's variables if not given"},
    {DTKB_PARAM_V1_INIT, .name = "meet-seconds", .summary = "how long ranks wait for each other", .default_value = "20"},
    {DTKB_PARAM_V1_INIT, .name = "init-seconds", .summary = "how long a communicator may take", .default_value = "20"},
    {DTKB_PARAM_V1_INIT, .name = "step-seconds", .summary = "how long a collective may take", .default_value = "10"},
    {DTKB_PARAM_V1_INIT, .name = "bisect", .summary = "1: find the GPU, rank or pair at fault, 0: do not", .default_value = "1"},
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

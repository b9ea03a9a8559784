/* The probe "cuda": from the driver's library to a kernel on every device and a copy between every two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "cuda_api.h"
#include "cuda_device.h"
#include "nvml_health.h"

#define STEP_SECONDS 10.0
#define END_NS 300000000u /* what is left for the report when a step takes all the time there is */

struct start {
    struct cuda_api api;
    CUresult result;
    int driver_version, device_count;
};

struct run {
    struct kit kit;
    struct start *start;
    struct nvml *nvml;
    uint64_t limit;
};

static uint64_t step_deadline(const struct run *run)
{
    return bounded_in(STEP_SECONDS, run->limit);
}

/* ---- the driver ---- */

static void initialise(void *context)
{
    struct start *start = context;
    (void)start->api.cuDriverGetVersion(&start->driver_version);
    start->result = start->api.cuInit(0);
    if (start->result == CUDA_SUCCESS)
        start->result = start->api.cuDeviceGetCount(&start->device_count);
}

/* Within a major version a newer runtime works on an older driver; across majors it does not. */
static void judge_versions(struct kit *kit, int driver)
{
    struct library library;
    char runtime_text[16], driver_text[16];
    int runtime = cuda_runtime_version(kit, &library);
    if (driver)
        kit_string(kit, cuda_version_text(driver, driver_text, sizeof driver_text), "cuDriverGetVersion", "cuda.driver.version");
    if (!runtime)
        return;
    const char *path = library.candidates[library.winner].path;
    kit_string(kit, path, NULL, "cuda.runtime.path");
    kit_string(kit, cuda_version_text(runtime, runtime_text, sizeof runtime_text), "cudaRuntimeGetVersion", "cuda.runtime.version");
    if (!driver)
        return;
    kit_wrong(kit, runtime / 1000 > driver / 1000);
    kit_bool(kit, runtime / 1000 > driver / 1000, "cudaRuntimeGetVersion", "cuda.runtime.too_new");
    if (runtime / 1000 > driver / 1000)
        kit_fault(kit,
                  "the driver supports CUDA %s and the runtime at %s is %s: CUDA_ERROR_INSUFFICIENT_DRIVER awaits the job; upgrade the "
                  "driver or install a build for CUDA %d",
                  driver_text, path, runtime_text, driver / 1000);
    else if (runtime > driver)
        kit_log(kit, 1, "runtime %s on a driver for %s: fine within a major version, but kernels shipped as PTX only will not load",
                runtime_text, driver_text);
}

static void report_start(struct run *run, bool returned)
{
    struct kit *kit = &run->kit;
    struct start *start = run->start;
    const char *visible = kit_env(kit, "CUDA_VISIBLE_DEVICES");
    kit_wrong(kit, !returned || start->result != CUDA_SUCCESS);
    kit_string(kit, returned ? cuda_error_name(&start->api, start->result) : "timed-out", "cuInit", "cuda.init.status");
    if (!returned)
        kit_fault(kit, "cuInit did not return in time: the driver hangs (a GPU that fell off the bus, or a fabric that is not set up)");
    else if (start->result != CUDA_SUCCESS)
        kit_fault(kit, "cuInit: %s: %s%s%s", cuda_error_name(&start->api, start->result), cuda_error_meaning(start->result),
                  visible ? "; CUDA_VISIBLE_DEVICES=" : "", visible ? visible : "");
    else if (!start->device_count)
        kit_fault(kit, "the driver lists no device%s%s", visible ? "; CUDA_VISIBLE_DEVICES=" : "", visible ? visible : "");
}

/* False: nothing can be tested. Nothing of what cuInit may still use is freed when it does not return. */
static bool start(struct run *run)
{
    struct kit *kit = &run->kit;
    char error[700];
    run->start = calloc(1, sizeof *run->start);
    if (!run->start) {
        kit_unavailable(kit, "out of memory");
        return false;
    }
    if (!cuda_api_open(kit, &run->start->api, error, sizeof error)) {
        judge_versions(kit, 0);
        kit_string(kit, "no-library", NULL, "cuda.init.status");
        kit_unavailable(kit, "%s", error);
        return false;
    }
    const struct cuda_api *api = &run->start->api;
    kit_string(kit, api->library.candidates[api->library.winner].path, NULL, "cuda.library.path");
    if (*api->missing.names)
        kit_log(kit, 1, "this driver lacks %s", api->missing.names);
    bool returned = bounded_run(initialise, run->start, step_deadline(run));
    report_start(run, returned);
    judge_versions(kit, returned ? run->start->driver_version : 0);
    if (!returned) {
        run->start = NULL;
        return false;
    }
    kit_u64(kit, (uint64_t)run->start->device_count, "devices", "cuDeviceGetCount", "cuda.device.count");
    return run->start->result == CUDA_SUCCESS && run->start->device_count > 0;
}

/* ---- devices ---- */

/* Before a context of our own stands there, so that the processes are others'. */
static bool report_health(struct run *run, int index, const char *bus_id, struct nvml_health *health)
{
    struct kit *kit = &run->kit;
    if (!run->nvml || !*bus_id || !nvml_health(run->nvml, bus_id, health))
        return false;
    const char *origin = nvml_path(run->nvml);
    kit_wrong(kit, health->has_ecc && health->ecc_uncorrected);
    if (health->has_ecc)
        kit_u64(kit, health->ecc_uncorrected, "errors", origin, "cuda.device.%d.ecc_uncorrected", index);
    if (health->has_mig)
        kit_bool(kit, health->mig, origin, "cuda.device.%d.mig", index);
    if (health->has_remap) {
        kit_bool(kit, health->remap_pending, origin, "cuda.device.%d.remap_pending", index);
        kit_wrong(kit, health->remap_failed);
        kit_bool(kit, health->remap_failed, origin, "cuda.device.%d.remap_failed", index);
    }
    if (health->has_processes)
        kit_u64(kit, health->processes, "processes", origin, "cuda.device.%d.processes", index);
    if (health->ecc_uncorrected)
        kit_fault(kit, "device %d has %llu uncorrected ECC errors since its last reset: drain the node and reset the GPU", index,
                  (unsigned long long)health->ecc_uncorrected);
    if (health->remap_failed)
        kit_fault(kit, "device %d could not remap a failing row of its memory: the board must be replaced", index);
    return true;
}

static void report_device(struct run *run, const struct device_check *check, bool returned, const struct nvml_health *health)
{
    struct kit *kit = &run->kit;
    const int index = check->index;
    const char *step = atomic_load(&check->step);
    bool hung = !returned || check->result == CUDA_ERROR_NOT_READY;
    const char *status = hung                            ? "timed-out"
                         : check->result != CUDA_SUCCESS ? cuda_error_name(check->api, check->result)
                         : check->wrong_bytes            ? "wrong-result"
                                                         : "ok";
    if (check->major) {
        char capability[32];
        (void)snprintf(capability, sizeof capability, "%d.%d", check->major, check->minor);
        kit_string(kit, check->name, "cuDeviceGetName", "cuda.device.%d.name", index);
        kit_string(kit, capability, "cuDeviceGetAttribute", "cuda.device.%d.capability", index);
        kit_string(kit, compute_mode_name(check->compute_mode), "cuDeviceGetAttribute", "cuda.device.%d.compute_mode", index);
        kit_u64(kit, check->memory_total, "bytes", "cuDeviceTotalMem", "cuda.device.%d.memory_total_bytes", index);
    }
    if (check->memory_free)
        kit_u64(kit, check->memory_free, "bytes", "cuMemGetInfo", "cuda.device.%d.memory_free_bytes", index);
    if (check->code)
        kit_string(kit, check->code, "cuModuleLoadDataEx", "cuda.device.%d.kernel", index);
    kit_wrong(kit, strcmp(status, "ok") != 0);
    kit_string(kit, status, step, "cuda.device.%d.status", index);
    if (check->result == CUDA_SUCCESS && returned) {
        kit_wrong(kit, check->wrong_bytes != 0);
        kit_u64(kit, check->wrong_bytes, "bytes", "dtkb_check", "cuda.device.%d.wrong_bytes", index);
    }
    const char *holders = health && *health->pids ? health->pids : NULL;
    if (hung)
        kit_fault(kit, "device %d (%s): %s did not finish in time: the GPU or its driver hangs", index, check->name, step);
    else if (check->result != CUDA_SUCCESS)
        kit_fault(kit, "device %d (%s): %s: %s: %s%s%s", index, check->name, step, status, cuda_error_meaning(check->result),
                  holders ? "; compute processes there: " : "", holders ? holders : "");
    else if (check->wrong_bytes)
        kit_fault(kit, "device %d (%s): %llu bytes came back different, the first at offset %llu: failing memory or PCIe", index,
                  check->name, (unsigned long long)check->wrong_bytes, (unsigned long long)check->first_wrong);
}

/* The bus id comes first, since NVML must be asked before there is a context. */
static void find_bus_id(const struct cuda_api *api, int index, char *out, int size)
{
    CUdevice device;
    *out = '\0';
    if (!api->cuDeviceGetPCIBusId || api->cuDeviceGet(&device, index) != CUDA_SUCCESS ||
        api->cuDeviceGetPCIBusId(out, size, device) != CUDA_SUCCESS)
        *out = '\0';
}

/* False: the device hangs, and what is below may as well. */
static bool check_device(struct run *run, int index, uint64_t bytes)
{
    struct device_check *check = calloc(1, sizeof *check);
    struct nvml_health health;
    char bus_id[32];
    if (!check) {
        kit_unavailable(&run->kit, "out of memory");
        return false;
    }
    find_bus_id(&run->start->api, index, bus_id, sizeof bus_id);
    bool known = report_health(run, index, bus_id, &health);
    check->api = &run->start->api;
    check->index = index;
    check->bytes = bytes;
    atomic_store(&check->step, "start");
    uint64_t deadline = step_deadline(run);
    check->deadline = deadline > END_NS ? deadline - END_NS / 2 : deadline;
    bool returned = bounded_run(device_check_run, check, deadline);
    report_device(run, check, returned, known ? &health : NULL);
    if (returned)
        free(check); /* otherwise a thread still writes to it */
    return returned;
}

static bool check_devices(struct run *run)
{
    const char *text = kit_param(&run->kit, "bytes", "0");
    char *end;
    uint64_t bytes = strtoull(text, &end, 10);
    if (*end || *text == '-') {
        kit_unavailable(&run->kit, "the parameter bytes is '%s', not a number", text);
        return false;
    }
    bool answers = true;
    for (int i = 0; answers && i < run->start->device_count && !kit_stop(&run->kit); i++)
        answers = check_device(run, i, bytes);
    return answers;
}

/* ---- peers ---- */

static void report_peers(struct run *run, const struct peer_check *check)
{
    for (int a = 0; a < check->count; a++)
        for (int b = 0; b < check->count; b++)
            if (a != b)
                kit_bool(&run->kit, check->access[a * check->count + b], "cuDeviceCanAccessPeer", "cuda.peer.%d.%d", a, b);
    kit_wrong(&run->kit, *check->bad != 0);
    kit_string(&run->kit, *check->bad ? check->bad : "none", "cuMemcpyPeerAsync", "cuda.peer.bad");
    if (*check->bad)
        kit_fault(&run->kit,
                  "copies between GPUs fail: %s: broken peer access (PCIe access control or an IOMMU in the way, a sick NVLink); "
                  "NCCL_P2P_DISABLE=1 avoids it",
                  check->bad);
}

/* False: it did not come back. */
static bool check_peers(struct run *run)
{
    int count = run->start->device_count < PEERS_MAX ? run->start->device_count : PEERS_MAX;
    if (count < 2 || !run->start->api.cuDeviceCanAccessPeer || kit_stop(&run->kit))
        return true;
    struct peer_check *check = calloc(1, sizeof *check);
    bool *access = calloc((size_t)count * (size_t)count, sizeof *access);
    if (!check || !access) {
        free(check);
        free(access);
        return true;
    }
    check->api = &run->start->api;
    check->count = count;
    check->access = access;
    uint64_t deadline = step_deadline(run);
    check->deadline = deadline > END_NS ? deadline - END_NS / 2 : deadline;
    bool returned = bounded_run(peer_check_run, check, deadline);
    if (returned)
        report_peers(run, check);
    else
        kit_fault(&run->kit, "a copy from device %d to device %d did not finish in time: peer access hangs", atomic_load(&check->at_a),
                  atomic_load(&check->at_b));
    if (returned) {
        free(access);
        free(check);
    }
    return returned;
}

/* ---- all of it ---- */

static dtkb_result run_cuda(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct run run = {.kit = kit_start(host, call), .limit = call->deadline_ns > END_NS ? call->deadline_ns - END_NS : 0};
    char why[256];
    if (!start(&run)) {
        free(run.start);
        return kit_finish(&run.kit);
    }
    run.nvml = nvml_open(&run.kit, why, sizeof why);
    if (check_devices(&run) && check_peers(&run)) {
        nvml_close(run.nvml);
        free(run.start);
    }
    /* Where something else failed, this may be why. */
    kit_wrong(&run.kit, run.kit.result == DTKB_FAULT && strstr(why, "mismatch"));
    kit_string(&run.kit, why, "nvmlInit_v2", "cuda.nvml.status");
    return kit_finish(&run.kit);
}

static const char *const facts[] = {"cuda.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "bytes", .summary = "device memory to allocate on each device", .default_value = "33554432, or less"},
    {DTKB_PARAM_V1_INIT, .name = "libcuda", .summary = "file or folder of the driver's library, instead of searching"},
    {DTKB_PARAM_V1_INIT, .name = "libcudart", .summary = "likewise of the runtime library"},
    {DTKB_PARAM_V1_INIT, .name = "libnvidia-ml", .summary = "likewise of NVML"},
};
static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .default_timeout_ms = 30000, .name = "cuda",
                                        .summary = "the CUDA driver: versions, devices, memory, a checked kernel, peer access",
                                        .caps = DTKB_CAP_ACTIVE | DTKB_CAP_GPU, .facts = facts, .params = params,
                                        .param_count = sizeof params / sizeof *params, .run = run_cuda}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "cuda",
                                      .version = DTKB_VERSION_TEXT,
                                      .licence = "Apache-2.0",
                                      .summary = "checks the CUDA driver and every device with small, verified work",
                                      .probes = probes,
                                      .probe_count = sizeof probes / sizeof *probes,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

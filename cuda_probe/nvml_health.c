#include "nvml_health.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *nvml_device;
typedef int nvml_return;
#define NVML_SUCCESS 0
#define NVML_ERROR_INSUFFICIENT_SIZE 7
#define NVML_UNCORRECTED 1u
#define NVML_VOLATILE 0u

struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

extern nvml_return nvmlInit_v2(void);
extern nvml_return nvmlShutdown(void);
extern const char *nvmlErrorString(nvml_return result);
extern nvml_return nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, nvml_device *device);
extern nvml_return nvmlDeviceGetTotalEccErrors(nvml_device device, unsigned type, unsigned counter, unsigned long long *count);
extern nvml_return nvmlDeviceGetMigMode(nvml_device device, unsigned *current, unsigned *pending);
extern nvml_return nvmlDeviceGetRemappedRows(nvml_device device, unsigned *correctable, unsigned *uncorrectable, unsigned *pending,
                                             unsigned *failed);
extern nvml_return nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *processes);

#define NVML_SYMBOLS(X)                                \
    X(nvmlInit_v2, "5.319", true)                      \
    X(nvmlShutdown, "5.319", true)                     \
    X(nvmlErrorString, "5.319", true)                  \
    X(nvmlDeviceGetHandleByPciBusId_v2, "5.319", true) \
    X(nvmlDeviceGetTotalEccErrors, "5.319", false)     \
    X(nvmlDeviceGetMigMode, "450", false)              \
    X(nvmlDeviceGetRemappedRows, "450", false)         \
    X(nvmlDeviceGetComputeRunningProcesses_v3, "510", false)

struct nvml {
    NVML_SYMBOLS(SYMBOL_MEMBER)
    struct library library;
    struct missing_symbols missing;
};

#define ROW(function, since, required) SYMBOL_ROW(struct nvml, function, since, required)
static const struct symbol symbols[] = {NVML_SYMBOLS(ROW)};
static const struct library_spec library_spec = {.pattern = "libnvidia-ml.so.1", .parameter = "libnvidia-ml"};

struct nvml *nvml_open(const struct kit *kit, char *why, size_t size)
{
    struct nvml *nvml = kit_memory(kit, sizeof *nvml);
    (void)snprintf(why, size, "missing");
    if (!nvml || !library_open(kit, &library_spec, &nvml->library))
        return NULL;
    symbols_load(nvml->library.handle, symbols, sizeof symbols / sizeof *symbols, nvml, &nvml->missing);
    if (nvml->missing.required) {
        (void)snprintf(why, size, "lacks %s", nvml->missing.names);
        return NULL;
    }
    nvml_return result = nvml->nvmlInit_v2();
    (void)snprintf(why, size, "%s", result == NVML_SUCCESS ? "ok" : nvml->nvmlErrorString(result));
    return result == NVML_SUCCESS ? nvml : NULL;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml)
        (void)nvml->nvmlShutdown();
}

const char *nvml_path(const struct nvml *nvml)
{
    return nvml->library.candidates[nvml->library.winner].path;
}

static void read_processes(const struct nvml *nvml, nvml_device device, struct nvml_health *out)
{
    struct nvml_process processes[64];
    unsigned count = sizeof processes / sizeof *processes;
    nvml_return result = nvml->nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes);
    if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE)
        return;
    out->has_processes = true;
    out->processes = count;
    size_t length = 0;
    for (unsigned i = 0; result == NVML_SUCCESS && i < count && length + 16 < sizeof out->pids; i++)
        length += (size_t)snprintf(out->pids + length, sizeof out->pids - length, "%s%u", i ? "," : "", processes[i].pid);
}

bool nvml_health(const struct nvml *nvml, const char *bus_id, struct nvml_health *out)
{
    nvml_device device;
    *out = (struct nvml_health){0};
    if (nvml->nvmlDeviceGetHandleByPciBusId_v2(bus_id, &device) != NVML_SUCCESS)
        return false;
    unsigned long long errors = 0;
    unsigned current = 0, later = 0, correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
    out->has_ecc = nvml->nvmlDeviceGetTotalEccErrors &&
                   nvml->nvmlDeviceGetTotalEccErrors(device, NVML_UNCORRECTED, NVML_VOLATILE, &errors) == NVML_SUCCESS;
    out->ecc_uncorrected = errors;
    out->has_mig = nvml->nvmlDeviceGetMigMode && nvml->nvmlDeviceGetMigMode(device, &current, &later) == NVML_SUCCESS;
    out->mig = current != 0;
    out->has_remap = nvml->nvmlDeviceGetRemappedRows &&
                     nvml->nvmlDeviceGetRemappedRows(device, &correctable, &uncorrectable, &pending, &failed) == NVML_SUCCESS;
    out->remap_pending = pending != 0;
    out->remap_failed = failed != 0;
    if (nvml->nvmlDeviceGetComputeRunningProcesses_v3)
        read_processes(nvml, device, out);
    return true;
}

/* libnvidia-ml.so.1 for the devices of the fake driver. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL __attribute__((visibility("default")))
#define NVML_ERROR_NOT_FOUND 6
#define NVML_ERROR_LIB_RM_VERSION_MISMATCH 18

struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int result);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetTotalEccErrors(void *device, unsigned type, unsigned counter, unsigned long long *count);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetRemappedRows(void *device, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes);

static int listed(const char *variable, const void *device)
{
    const char *value = getenv(variable);
    long index = (long)(intptr_t)device - 1;
    return value && *value && strtol(value, NULL, 10) == index;
}

SYMBOL int nvmlInit_v2(void)
{
    return getenv("FAKE_GPU_NVML_MISMATCH") ? NVML_ERROR_LIB_RM_VERSION_MISMATCH : 0;
}

SYMBOL int nvmlShutdown(void)
{
    return 0;
}

SYMBOL const char *nvmlErrorString(int result)
{
    return result == NVML_ERROR_LIB_RM_VERSION_MISMATCH ? "Driver/library version mismatch" : "Unknown Error";
}

SYMBOL int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
    unsigned bus;
    if (sscanf(bus_id, "0000:%x:00.0", &bus) != 1)
        return NVML_ERROR_NOT_FOUND;
    *device = (void *)(uintptr_t)bus;
    return 0;
}

SYMBOL int nvmlDeviceGetTotalEccErrors(void *device, unsigned type, unsigned counter, unsigned long long *count)
{
    (void)type;
    (void)counter;
    *count = listed("FAKE_GPU_ECC", device) ? 2 : 0;
    return 0;
}

SYMBOL int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    *current = *pending = (unsigned)listed("FAKE_GPU_MIG", device);
    return 0;
}

SYMBOL int nvmlDeviceGetRemappedRows(void *device, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed)
{
    *correctable = *uncorrectable = *failed = 0;
    *pending = (unsigned)listed("FAKE_GPU_REMAP", device);
    return 0;
}

SYMBOL int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    *count = (unsigned)listed("FAKE_GPU_BUSY", device);
    if (*count)
        processes[0] = (struct process){.pid = 4711, .memory = 1u << 20};
    return 0;
}

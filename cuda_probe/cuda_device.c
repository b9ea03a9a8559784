#include "cuda_device.h"

#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "verify.h"

#define SEED 0x5eed1234u

/* What a check holds; all of it is given back at the end. */
struct held {
    CUdevice device;
    CUstream stream;
    CUdeviceptr memory, found;
    struct verify verify;
    uint32_t *host;
    uint64_t words;
    bool context;
};

const char *compute_mode_name(int mode)
{
    static const char *const names[] = {"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"};
    return mode >= 0 && (size_t)mode < sizeof names / sizeof *names ? names[mode] : "unknown";
}

static bool good(struct device_check *check, CUresult result)
{
    check->result = result;
    return result == CUDA_SUCCESS;
}

static bool describe(struct device_check *check, struct held *held)
{
    const struct cuda_api *api = check->api;
    atomic_store(&check->step, "query");
    size_t total = 0;
    if (!good(check, api->cuDeviceGet(&held->device, check->index)) ||
        !good(check, api->cuDeviceGetName(check->name, sizeof check->name, held->device)) ||
        !good(check, api->cuDeviceGetAttribute(&check->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, held->device)) ||
        !good(check, api->cuDeviceGetAttribute(&check->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, held->device)) ||
        !good(check, api->cuDeviceGetAttribute(&check->compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, held->device)) ||
        !good(check, api->cuDeviceTotalMem_v2(&total, held->device)))
        return false;
    check->memory_total = total;
    if (api->cuDeviceGetPCIBusId)
        (void)api->cuDeviceGetPCIBusId(check->bus_id, sizeof check->bus_id, held->device);
    return true;
}

static bool enter(struct device_check *check, struct held *held)
{
    const struct cuda_api *api = check->api;
    CUcontext context;
    size_t available = 0, total = 0;
    atomic_store(&check->step, "context");
    held->context = good(check, api->cuDevicePrimaryCtxRetain(&context, held->device));
    if (!held->context || !good(check, api->cuCtxSetCurrent(context)) || !good(check, api->cuMemGetInfo_v2(&available, &total)) ||
        !good(check, api->cuStreamCreate(&held->stream, CU_STREAM_NON_BLOCKING)))
        return false;
    check->memory_free = available;
    return true;
}

static bool allocate(struct device_check *check, struct held *held)
{
    const struct cuda_api *api = check->api;
    uint64_t bytes = check->bytes ? check->bytes : DEVICE_BYTES_DEFAULT;
    if (!check->bytes && bytes > check->memory_free / 4)
        bytes = check->memory_free / 4 > 4096 ? check->memory_free / 4 : 4096;
    atomic_store(&check->step, "allocation");
    if (!good(check, api->cuMemAlloc_v2(&held->memory, bytes)) || !good(check, api->cuMemAlloc_v2(&held->found, 2 * sizeof(uint64_t))))
        return false;
    /* Memory beyond the default was asked for to see whether it can be had; checking the beginning will do. */
    held->words = (bytes < DEVICE_BYTES_DEFAULT ? bytes : DEVICE_BYTES_DEFAULT) / sizeof(uint32_t);
    held->host = malloc(held->words * sizeof *held->host);
    return good(check, held->host ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static void compare(struct device_check *check, const struct held *held, uint32_t seed)
{
    for (uint64_t i = 0; i < held->words; i++) {
        uint32_t difference = held->host[i] ^ verify_pattern(i, seed);
        if (!difference)
            continue;
        if (!check->wrong_bytes)
            check->first_wrong = i * sizeof(uint32_t);
        for (; difference; difference >>= 8)
            check->wrong_bytes += (difference & 0xff) != 0;
    }
}

static bool copy_there_and_back(struct device_check *check, struct held *held)
{
    const struct cuda_api *api = check->api;
    const size_t bytes = held->words * sizeof *held->host;
    atomic_store(&check->step, "copy");
    for (uint64_t i = 0; i < held->words; i++)
        held->host[i] = verify_pattern(i, SEED);
    if (!good(check, api->cuMemcpyHtoDAsync_v2(held->memory, held->host, bytes, held->stream)) ||
        !good(check, cuda_wait(api, held->stream, check->deadline)))
        return false;
    memset(held->host, 0, bytes);
    if (!good(check, api->cuMemcpyDtoHAsync_v2(held->host, held->memory, bytes, held->stream)) ||
        !good(check, cuda_wait(api, held->stream, check->deadline)))
        return false;
    compare(check, held, SEED);
    return true;
}

/* The device fills its memory and checks it; the host checks what the device wrote. */
static bool run_kernels(struct device_check *check, struct held *held)
{
    const struct cuda_api *api = check->api;
    uint64_t found[2] = {0, UINT64_MAX};
    atomic_store(&check->step, "kernel");
    if (!good(check, verify_load(api, &held->verify)))
        return false;
    check->code = held->verify.code;
    if (!good(check, api->cuMemcpyHtoDAsync_v2(held->found, found, sizeof found, held->stream)) ||
        !good(check, verify_fill(api, &held->verify, held->stream, held->memory, held->words, ~SEED)) ||
        !good(check, verify_check(api, &held->verify, held->stream, held->memory, held->words, ~SEED, held->found)) ||
        !good(check, cuda_wait(api, held->stream, check->deadline)) ||
        !good(check, api->cuMemcpyDtoHAsync_v2(found, held->found, sizeof found, held->stream)) ||
        !good(check, api->cuMemcpyDtoHAsync_v2(held->host, held->memory, held->words * sizeof *held->host, held->stream)) ||
        !good(check, cuda_wait(api, held->stream, check->deadline)))
        return false;
    uint64_t before = check->wrong_bytes;
    compare(check, held, ~SEED);
    if (check->wrong_bytes == before && found[0]) { /* only the device sees it: reading it differs from copying it */
        if (!before)
            check->first_wrong = found[1] * sizeof(uint32_t);
        check->wrong_bytes += found[0] * sizeof(uint32_t);
    }
    return true;
}

static void leave(const struct device_check *check, struct held *held)
{
    const struct cuda_api *api = check->api;
    free(held->host);
    /* A kernel that still runs would make each of these wait for it. */
    if (!held->context || (check->result == CUDA_ERROR_NOT_READY))
        return;
    if (held->verify.code)
        (void)api->cuModuleUnload(held->verify.module);
    if (held->found)
        (void)api->cuMemFree_v2(held->found);
    if (held->memory)
        (void)api->cuMemFree_v2(held->memory);
    if (held->stream)
        (void)api->cuStreamDestroy_v2(held->stream);
    (void)api->cuCtxSetCurrent(NULL);
    (void)api->cuDevicePrimaryCtxRelease(held->device);
}

void device_check_run(void *device_check)
{
    struct device_check *check = device_check;
    struct held held = {0};
    if (describe(check, &held) && enter(check, &held) && allocate(check, &held) && copy_there_and_back(check, &held))
        (void)run_kernels(check, &held);
    leave(check, &held);
}

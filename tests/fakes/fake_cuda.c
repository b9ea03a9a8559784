/* libcuda.so.1 without a GPU: device memory is host memory, kernels are emulated, faults are switched by FAKE_GPU_*. README.md lists them.
 */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES_MAX 64
#define MEMORY_TOTAL ((size_t)1 << 30)
#define SYMBOL __attribute__((visibility("default")))

struct CUstream_st {
    int pending; /* operations that have not ended; guarded by lock */
    int device;
};
struct CUctx_st {
    int device, holders;
    size_t used;
    unsigned long long peers; /* bit i: may reach device i */
    bool broken;
};
struct CUfunc_st {
    const char *name;
};
struct CUmod_st {
    struct CUfunc_st functions[8];
    char *text;
};
struct block {
    struct block *next;
    size_t size;
    int device;
    void *bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st contexts[DEVICES_MAX];
static struct block *blocks;
static bool initialised;
static __thread struct CUctx_st *current;

/* ---- switches ---- */

SYMBOL long fake_number(const char *variable, long otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtol(value, NULL, 10) : otherwise;
}

SYMBOL bool fake_listed(const char *variable, long number)
{
    const char *value = getenv(variable);
    for (char *end; value && *value; value = *end ? end + 1 : end) {
        if (strtol(value, &end, 10) == number && end != value)
            return true;
        if (end == value)
            return false;
    }
    return false;
}

/* Devices that CUDA_VISIBLE_DEVICES leaves, in its order, by their real numbers: up to the first entry that is none. */
static int visible_devices(int *devices)
{
    const long present = fake_number("FAKE_GPU_COUNT", 2) < DEVICES_MAX ? fake_number("FAKE_GPU_COUNT", 2) : DEVICES_MAX;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int count = 0;
    if (!visible)
        for (; count < present; count++)
            devices[count] = count;
    for (char *end; visible && *visible && count < present; visible = end + 1) {
        long device = strtol(visible, &end, 10);
        if (end == visible || device < 0 || device >= present)
            break;
        devices[count++] = (int)device;
        if (*end != ',')
            break;
    }
    return count;
}

static int device_count(void)
{
    int devices[DEVICES_MAX];
    return visible_devices(devices);
}

static int driver_version(void)
{
    return (int)fake_number("FAKE_GPU_DRIVER", 13000);
}

/* The newest PTX a driver reads: 13.0 -> 9.0, 12.4 -> 8.4, 11.8 -> 7.8, 10.2 -> 6.5. */
static int ptx_maximum(void)
{
    int version = driver_version(), major = version / 1000, minor = version % 1000 / 10;
    return major <= 10 ? 65 : (major - 4) * 10 + minor;
}

static bool is_bad_pair(int a, int b)
{
    const char *pair = getenv("FAKE_GPU_BAD_PAIR");
    int first, second;
    return pair && sscanf(pair, "%d,%d", &first, &second) == 2 && ((a == first && b == second) || (a == second && b == first));
}

/* ---- start, devices ---- */

SYMBOL CUresult cuInit(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (fake_number("FAKE_GPU_HANG_INIT", 0))
        for (;;)
            (void)pause();
    long failure = fake_number("FAKE_GPU_INIT", 0);
    if (failure)
        return (CUresult)failure;
    if (device_count() < 1)
        return CUDA_ERROR_NO_DEVICE;
    initialised = true;
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuDriverGetVersion(int *version)
{
    *version = driver_version();
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuDeviceGetCount(int *count)
{
    *count = device_count();
    return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

static CUresult check_device(CUdevice device)
{
    int devices[DEVICES_MAX];
    if (!initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    for (int count = visible_devices(devices); count > 0; count--)
        if (devices[count - 1] == device)
            return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_DEVICE;
}

SYMBOL CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    int devices[DEVICES_MAX];
    if (initialised && (ordinal < 0 || ordinal >= visible_devices(devices)))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = initialised ? devices[ordinal] : 0; /* the faults go by real numbers */
    return check_device(*device);
}

SYMBOL CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)snprintf(name, (size_t)size, "Fake GPU");
    return check_device(device);
}

SYMBOL CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    *value = 0;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        *value = (int)fake_number("FAKE_GPU_CAPABILITY", 90) / 10;
    else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        *value = (int)fake_number("FAKE_GPU_CAPABILITY", 90) % 10;
    else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
        *value = (int)(fake_listed("FAKE_GPU_BUSY", device) ? 3 : fake_number("FAKE_GPU_COMPUTE_MODE", 0));
    return check_device(device);
}

SYMBOL CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    *bytes = MEMORY_TOTAL;
    return check_device(device);
}

SYMBOL CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    (void)snprintf(id, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return check_device(device);
}

SYMBOL CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = NULL;
    return error == CUDA_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- contexts ---- */

SYMBOL CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (fake_listed("FAKE_GPU_BUSY", device) || fake_number("FAKE_GPU_COMPUTE_MODE", 0) == 2)
        return CUDA_ERROR_DEVICE_UNAVAILABLE;
    (void)pthread_mutex_lock(&lock);
    contexts[device].device = device;
    contexts[device].holders++;
    (void)pthread_mutex_unlock(&lock);
    *context = &contexts[device];
    return CUDA_SUCCESS;
}

#undef cuDevicePrimaryCtxRelease /* the name before 11.0, which the header no longer declares */
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
SYMBOL CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    (void)pthread_mutex_lock(&lock);
    CUresult result = contexts[device].holders > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS)
        contexts[device].holders--;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

SYMBOL CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

SYMBOL int fake_cuda_current_device(void)
{
    return current ? current->device : -1;
}

SYMBOL CUresult cuDeviceCanAccessPeer(int *access, CUdevice a, CUdevice b)
{
    *access = a != b && !fake_number("FAKE_GPU_NO_PEERS", 0);
    return check_device(a) != CUDA_SUCCESS ? check_device(a) : check_device(b);
}

SYMBOL CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    if (!current || flags)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned long long bit = 1ull << peer->device;
    if (current->peers & bit)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    current->peers |= bit;
    return CUDA_SUCCESS;
}

/* ---- memory ---- */

SYMBOL CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    size_t taken = (size_t)fake_number("FAKE_GPU_TAKEN_MIB", 0) << 20;
    *total = MEMORY_TOTAL;
    *available = MEMORY_TOTAL - current->used - taken;
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size)
{
    size_t available, total;
    CUresult result = cuMemGetInfo_v2(&available, &total);
    if (result != CUDA_SUCCESS)
        return result;
    struct block *block = size && size <= available ? malloc(sizeof *block) : NULL;
    if (!block)
        return size ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    *block = (struct block){.size = size, .device = current->device, .bytes = malloc(size)};
    if (!block->bytes) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (void)pthread_mutex_lock(&lock);
    current->used += size;
    block->next = blocks;
    blocks = block;
    (void)pthread_mutex_unlock(&lock);
    *out = (CUdeviceptr)(uintptr_t)block->bytes;
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    (void)pthread_mutex_lock(&lock);
    struct block **at = &blocks;
    while (*at && (CUdeviceptr)(uintptr_t)(*at)->bytes != pointer)
        at = &(*at)->next;
    struct block *block = *at;
    if (block) {
        *at = block->next;
        contexts[block->device].used -= block->size;
        free(block->bytes);
        free(block);
    }
    (void)pthread_mutex_unlock(&lock);
    return block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The device that holds [pointer, pointer + size), or -1: an access beyond an allocation is an illegal address. */
static int holder(CUdeviceptr pointer, size_t size)
{
    int device = -1;
    (void)pthread_mutex_lock(&lock);
    for (const struct block *block = blocks; block && device < 0; block = block->next) {
        CUdeviceptr start = (CUdeviceptr)(uintptr_t)block->bytes;
        if (pointer >= start && size <= block->size && pointer - start <= block->size - size)
            device = block->device;
    }
    (void)pthread_mutex_unlock(&lock);
    return device;
}

/* ---- streams: what is put on them is done at once, unless something before it still runs ---- */

SYMBOL CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void)flags;
    *stream = current ? calloc(1, sizeof **stream) : NULL;
    if (*stream)
        (*stream)->device = current->device;
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

static int pending(CUstream stream)
{
    (void)pthread_mutex_lock(&lock);
    int count = stream->pending;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static void drain(CUstream stream)
{
    while (stream && pending(stream))
        (void)usleep(100);
}

SYMBOL CUresult cuStreamDestroy_v2(CUstream stream)
{
    drain(stream);
    free(stream);
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuStreamQuery(CUstream stream)
{
    if (pending(stream))
        return CUDA_ERROR_NOT_READY;
    return contexts[stream->device].broken ? CUDA_ERROR_ECC_UNCORRECTABLE : CUDA_SUCCESS;
}

SYMBOL void fake_cuda_stream_begin(CUstream stream)
{
    (void)pthread_mutex_lock(&lock);
    stream->pending++;
    (void)pthread_mutex_unlock(&lock);
}

SYMBOL void fake_cuda_stream_end(CUstream stream)
{
    (void)pthread_mutex_lock(&lock);
    stream->pending--;
    (void)pthread_mutex_unlock(&lock);
}

SYMBOL CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    if (holder(to, size) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    drain(stream);
    memcpy((void *)(uintptr_t)to, from, size);
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    if (holder(from, size) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    drain(stream);
    memcpy(to, (const void *)(uintptr_t)from, size);
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    if (holder(to, count * sizeof value) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    drain(stream);
    for (size_t i = 0; i < count; i++)
        ((unsigned *)(uintptr_t)to)[i] = value;
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size,
                                  CUstream stream)
{
    if (holder(to, size) != to_context->device || holder(from, size) != from_context->device)
        return CUDA_ERROR_INVALID_VALUE;
    drain(stream);
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    if (is_bad_pair(to_context->device, from_context->device))
        *(unsigned char *)(uintptr_t)to ^= 1; /* as a bridge that redirects peer traffic does it */
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

SYMBOL CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, CUjit_option *names, void **values)
{
    (void)options;
    (void)names;
    (void)values;
    int major = 0, minor = 0, target = 0;
    const char *version = strstr(image, "\n.version "), *architecture = strstr(image, "\n.target sm_");
    if (!version || sscanf(version, " .version %d.%d", &major, &minor) != 2 || !architecture ||
        sscanf(architecture, " .target sm_%d", &target) != 1)
        return CUDA_ERROR_INVALID_PTX;
    if (major * 10 + minor > ptx_maximum())
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (target > fake_number("FAKE_GPU_CAPABILITY", 90))
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    *module = calloc(1, sizeof **module);
    (*module)->text = strdup(image);
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuModuleUnload(CUmodule module)
{
    free(module->text);
    free(module);
    return CUDA_SUCCESS;
}

SYMBOL CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    static const char *const known[] = {"dtkb_fill", "dtkb_check"};
    char entry[128];
    (void)snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], name) && strstr(module->text, entry)) {
            module->functions[i].name = known[i];
            *function = &module->functions[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

static uint32_t pattern(uint64_t index, uint32_t seed)
{
    return (uint32_t)index * 2654435761u ^ seed;
}

static void fill(uint32_t *memory, uint64_t count, uint32_t seed)
{
    for (uint64_t i = 0; i < count; i++)
        memory[i] = pattern(i, seed);
    if (fake_listed("FAKE_GPU_BITFLIP", current->device))
        memory[count / 2] ^= 0x400;
}

static void check(const uint32_t *memory, uint64_t count, uint32_t seed, uint64_t *found)
{
    for (uint64_t i = 0; i < count; i++)
        if (memory[i] != pattern(i, seed)) {
            found[0]++;
            found[1] = i < found[1] ? i : found[1];
        }
}

SYMBOL CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared, CUstream stream, void **arguments, void **extra)
{
    (void)shared;
    if (!grid_x || grid_y != 1 || grid_z != 1 || !block_x || block_x > 1024 || block_y != 1 || block_z != 1 || extra || !current)
        return CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr memory = *(CUdeviceptr *)arguments[0];
    uint64_t count = *(uint64_t *)arguments[1];
    uint32_t seed = *(uint32_t *)arguments[2];
    drain(stream);
    if (fake_listed("FAKE_GPU_ECC", current->device)) /* reported by whatever asks next, as the real one does it */
        contexts[current->device].broken = true;
    if (fake_listed("FAKE_GPU_HANG", current->device)) {
        fake_cuda_stream_begin(stream);
        return CUDA_SUCCESS;
    }
    if (holder(memory, count * sizeof(uint32_t)) != current->device)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (!strcmp(function->name, "dtkb_fill"))
        fill((uint32_t *)(uintptr_t)memory, count, seed);
    else
        check((const uint32_t *)(uintptr_t)memory, count, seed, (uint64_t *)(uintptr_t) * (CUdeviceptr *)arguments[3]);
    return CUDA_SUCCESS;
}

#include "cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "verify.h"

#define PEER_BYTES ((size_t)1 << 20)

/* One device's end of the copies. */
struct end {
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory;
    CUdevice device;
    bool ready;
};

static bool open_end(const struct cuda_api *api, int index, struct end *end)
{
    if (api->cuDeviceGet(&end->device, index) != CUDA_SUCCESS || api->cuDevicePrimaryCtxRetain(&end->context, end->device) != CUDA_SUCCESS)
        return false;
    end->ready = api->cuCtxSetCurrent(end->context) == CUDA_SUCCESS &&
                 api->cuStreamCreate(&end->stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
                 api->cuMemAlloc_v2(&end->memory, PEER_BYTES) == CUDA_SUCCESS;
    return end->ready;
}

static void close_end(const struct cuda_api *api, struct end *end)
{
    if (!end->context)
        return;
    (void)api->cuCtxSetCurrent(end->context);
    if (end->memory)
        (void)api->cuMemFree_v2(end->memory);
    if (end->stream)
        (void)api->cuStreamDestroy_v2(end->stream);
    (void)api->cuCtxSetCurrent(NULL);
    (void)api->cuDevicePrimaryCtxRelease(end->device);
}

/* Enables the way from a to b, sends a pattern along it and reads it back at b. */
static CUresult copy(struct peer_check *check, const struct end *a, const struct end *b, uint32_t *host, bool *arrived)
{
    const struct cuda_api *api = check->api;
    const size_t words = PEER_BYTES / sizeof *host;
    const uint32_t seed = (uint32_t)(a->device * PEERS_MAX + b->device) * 7919u;
    for (size_t i = 0; i < words; i++)
        host[i] = verify_pattern(i, seed);
    CUresult result = api->cuCtxSetCurrent(a->context);
    if (result == CUDA_SUCCESS)
        result = api->cuCtxEnablePeerAccess(b->context, 0);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        return result;
    result = api->cuMemcpyHtoDAsync_v2(a->memory, host, PEER_BYTES, a->stream);
    if (result == CUDA_SUCCESS)
        result = api->cuMemcpyPeerAsync(b->memory, b->context, a->memory, a->context, PEER_BYTES, a->stream);
    if (result == CUDA_SUCCESS)
        result = cuda_wait(api, a->stream, check->deadline);
    if (result == CUDA_SUCCESS)
        result = api->cuCtxSetCurrent(b->context);
    memset(host, 0, PEER_BYTES);
    if (result == CUDA_SUCCESS)
        result = api->cuMemcpyDtoHAsync_v2(host, b->memory, PEER_BYTES, b->stream);
    if (result == CUDA_SUCCESS)
        result = cuda_wait(api, b->stream, check->deadline);
    *arrived = true;
    for (size_t i = 0; result == CUDA_SUCCESS && *arrived && i < words; i++)
        *arrived = host[i] == verify_pattern(i, seed);
    return result;
}

static void note_bad(struct peer_check *check, int a, int b, const char *what)
{
    size_t length = strlen(check->bad);
    (void)snprintf(check->bad + length, sizeof check->bad - length, "%s%d>%d %s", length ? ", " : "", a, b, what);
}

static void check_copies(struct peer_check *check, struct end *ends)
{
    uint32_t *host = malloc(PEER_BYTES);
    CUresult result = CUDA_SUCCESS;
    for (int a = 0; host && a < check->count; a++)
        for (int b = 0; b < check->count && result != CUDA_ERROR_NOT_READY && bounded_now() < check->deadline; b++) {
            bool arrived = true;
            if (!check->access[a * check->count + b] || !ends[a].ready || !ends[b].ready)
                continue;
            atomic_store(&check->at_a, a);
            atomic_store(&check->at_b, b);
            result = copy(check, &ends[a], &ends[b], host, &arrived);
            if (result != CUDA_SUCCESS || !arrived)
                note_bad(check, a, b, result == CUDA_SUCCESS ? "wrong data" : cuda_error_name(check->api, result));
        }
    free(host);
    if (result == CUDA_ERROR_NOT_READY) /* giving back what a copy still uses would wait for it */
        return;
    for (int i = 0; i < check->count; i++)
        close_end(check->api, &ends[i]);
}

void peer_check_run(void *peer_check)
{
    struct peer_check *check = peer_check;
    const struct cuda_api *api = check->api;
    struct end ends[PEERS_MAX] = {0};
    bool any = false;
    for (int a = 0; a < check->count; a++)
        for (int b = 0; b < check->count; b++) {
            CUdevice from, to;
            int access = 0;
            if (a != b && api->cuDeviceGet(&from, a) == CUDA_SUCCESS && api->cuDeviceGet(&to, b) == CUDA_SUCCESS)
                (void)api->cuDeviceCanAccessPeer(&access, from, to);
            check->access[a * check->count + b] = access != 0;
            any = any || access;
        }
    if (!any || !api->cuCtxEnablePeerAccess || !api->cuMemcpyPeerAsync)
        return;
    for (int i = 0; i < check->count; i++)
        (void)open_end(api, i, &ends[i]);
    check_copies(check, ends);
}

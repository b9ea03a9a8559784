/* The driver API and what else the CUDA probe calls, as tables of functions found at run time. */
#ifndef DTKB_CUDA_PROBE_CUDA_API_H
#define DTKB_CUDA_PROBE_CUDA_API_H

#include <cuda.h>

#include "library.h"
#include "symbols.h"

/* (function, since, required). Versioned names stand as such, so that a newer toolkit's header cannot ask for what older drivers lack. */
#define CUDA_SYMBOLS(X)                       \
    X(cuInit, "2.0", true)                    \
    X(cuDriverGetVersion, "2.2", true)        \
    X(cuDeviceGetCount, "2.0", true)          \
    X(cuDeviceGet, "2.0", true)               \
    X(cuDeviceGetName, "2.0", true)           \
    X(cuDeviceGetAttribute, "2.0", true)      \
    X(cuDeviceTotalMem_v2, "3.2", true)       \
    X(cuDeviceGetPCIBusId, "4.1", false)      \
    X(cuDevicePrimaryCtxRetain, "7.0", true)  \
    X(cuDevicePrimaryCtxRelease, "7.0", true) \
    X(cuCtxSetCurrent, "4.0", true)           \
    X(cuMemGetInfo_v2, "3.2", true)           \
    X(cuMemAlloc_v2, "3.2", true)             \
    X(cuMemFree_v2, "3.2", true)              \
    X(cuMemcpyHtoDAsync_v2, "3.2", true)      \
    X(cuMemcpyDtoHAsync_v2, "3.2", true)      \
    X(cuMemcpyPeerAsync, "4.0", false)        \
    X(cuMemsetD32Async, "3.2", true)          \
    X(cuStreamCreate, "2.0", true)            \
    X(cuStreamDestroy_v2, "4.0", true)        \
    X(cuStreamQuery, "2.0", true)             \
    X(cuModuleLoadDataEx, "2.1", true)        \
    X(cuModuleUnload, "2.0", true)            \
    X(cuModuleGetFunction, "2.0", true)       \
    X(cuLaunchKernel, "4.0", true)            \
    X(cuDeviceCanAccessPeer, "4.0", false)    \
    X(cuCtxEnablePeerAccess, "4.0", false)    \
    X(cuGetErrorName, "6.0", false)

#undef cuDevicePrimaryCtxRelease /* the header renames it to a _v2 that drivers before 11.0 lack; the old one does the same */
extern CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device);

struct cuda_api {
    CUDA_SYMBOLS(SYMBOL_MEMBER)
    struct library library;
    struct missing_symbols missing;
};

/* Opens libcuda and fills the table. False: `error` says why in one line. */
bool cuda_api_open(const struct kit *kit, struct cuda_api *api, char *error, size_t size);

/* The runtime library that the job would find, and its version (1000 * major + 10 * minor), 0 when there is none. */
int cuda_runtime_version(const struct kit *kit, struct library *library);

/* 12040 -> "12.4" */
const char *cuda_version_text(int version, char *out, size_t size);

/* The name of a result ("CUDA_ERROR_NO_DEVICE"), and what it means here; "" for one that explains itself. */
const char *cuda_error_name(const struct cuda_api *api, CUresult result);
const char *cuda_error_meaning(CUresult result);

#endif

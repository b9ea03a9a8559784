/* The verification kernel on one device. */
#ifndef DTKB_CUDA_PROBE_VERIFY_H
#define DTKB_CUDA_PROBE_VERIFY_H

#include "cuda_api.h"

struct verify {
    CUmodule module;
    CUfunction fill, check;
    const char *code; /* "toolkit" or "sm_60": which of the two the driver took */
};

/* Loads it into the current context. */
CUresult verify_load(const struct cuda_api *api, struct verify *out);
CUresult verify_fill(const struct cuda_api *api, const struct verify *verify, CUstream stream, CUdeviceptr memory, uint64_t words,
                     uint32_t seed);
/* `found`: two u64 on the device, the words that differ and the lowest index of one; set to 0 and UINT64_MAX before. */
CUresult verify_check(const struct cuda_api *api, const struct verify *verify, CUstream stream, CUdeviceptr memory, uint64_t words,
                      uint32_t seed, CUdeviceptr found);

/* What dtkb_fill writes at `index`. */
static inline uint32_t verify_pattern(uint64_t index, uint32_t seed)
{
    return (uint32_t)index * 2654435761u ^ seed;
}

/* Waits for the stream, at most until `deadline`: then CUDA_ERROR_NOT_READY. */
CUresult cuda_wait(const struct cuda_api *api, CUstream stream, uint64_t deadline);

#endif

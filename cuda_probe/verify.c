#include "verify.h"

#include "bounded.h"

extern const char verify_ptx[], verify_sm60_ptx[]; /* generated from verify.cu and verify_sm60.ptx; end with a NUL */

#define THREADS 256u
#define BLOCKS_MAX 1024u

CUresult cuda_wait(const struct cuda_api *api, CUstream stream, uint64_t deadline)
{
    CUresult result;
    while ((result = api->cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY && bounded_now() < deadline)
        bounded_nap();
    return result;
}

static CUresult load(const struct cuda_api *api, const char *code, const char *name, struct verify *out)
{
    CUresult result = api->cuModuleLoadDataEx(&out->module, code, 0, NULL, NULL);
    if (result != CUDA_SUCCESS)
        return result;
    out->code = name;
    result = api->cuModuleGetFunction(&out->fill, out->module, "dtkb_fill");
    if (result == CUDA_SUCCESS)
        result = api->cuModuleGetFunction(&out->check, out->module, "dtkb_check");
    if (result != CUDA_SUCCESS)
        (void)api->cuModuleUnload(out->module);
    return result;
}

CUresult verify_load(const struct cuda_api *api, struct verify *out)
{
    CUresult result = load(api, verify_ptx, "toolkit", out);
    switch (result) {
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: /* an older driver */
    case CUDA_ERROR_INVALID_PTX:             /* how the oldest ones say it */
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU: /* an older GPU */
        return load(api, verify_sm60_ptx, "sm_60", out);
    default:
        return result;
    }
}

static CUresult launch(const struct cuda_api *api, CUfunction function, CUstream stream, uint64_t words, void **arguments)
{
    uint64_t blocks = (words + THREADS - 1) / THREADS;
    return api->cuLaunchKernel(function, blocks < BLOCKS_MAX ? (unsigned)blocks : BLOCKS_MAX, 1, 1, THREADS, 1, 1, 0, stream, arguments,
                               NULL);
}

CUresult verify_fill(const struct cuda_api *api, const struct verify *verify, CUstream stream, CUdeviceptr memory, uint64_t words,
                     uint32_t seed)
{
    return launch(api, verify->fill, stream, words, (void *[]){&memory, &words, &seed});
}

CUresult verify_check(const struct cuda_api *api, const struct verify *verify, CUstream stream, CUdeviceptr memory, uint64_t words,
                      uint32_t seed, CUdeviceptr found)
{
    return launch(api, verify->check, stream, words, (void *[]){&memory, &words, &seed, &found});
}

#include "nccl_api.h"

#include <stdio.h>

static const struct library_spec library_spec = {
    .pattern = "libnccl.so.2", .parameter = "libnccl", .wheel = "nvidia/nccl/lib", .marker = "NCCL version ", .toolkit = true};

#define ROW(function, since, required) SYMBOL_ROW(struct nccl_api, function, since, required)
static const struct symbol symbols[] = {NCCL_SYMBOLS(ROW)};

static const struct {
    ncclResult_t result;
    const char *name, *meaning;
} results[] = {
    {ncclSuccess, "ncclSuccess", ""},
    {ncclUnhandledCudaError, "ncclUnhandledCudaError", "a CUDA call inside NCCL failed: the GPU, its driver, or a peer it cannot reach"},
    {ncclSystemError, "ncclSystemError", "a call to the operating system failed: sockets, shared memory, files or an RDMA device"},
    {ncclInternalError, "ncclInternalError", "NCCL met what it did not expect: most often no usable interface or a mix of versions"},
    {ncclInvalidArgument, "ncclInvalidArgument", "NCCL refuses an argument"},
    {ncclInvalidUsage, "ncclInvalidUsage", "the ranks do not fit together: two on one GPU, different versions, or mixed calls"},
    {ncclRemoteError, "ncclRemoteError", "another rank failed or went away: look at the first one that failed"},
    {ncclInProgress, "ncclInProgress", "it had not finished in time"},
};

bool nccl_api_open(const struct kit *kit, struct nccl_api *api, char *error, size_t size)
{
    *api = (struct nccl_api){0};
    if (!library_open(kit, &library_spec, &api->library)) {
        (void)snprintf(error, size, "%s%s", api->library.count ? "libnccl.so.2 cannot be loaded: " : "", api->library.error);
        return false;
    }
    symbols_load(api->library.handle, symbols, sizeof symbols / sizeof *symbols, api, &api->missing);
    if (api->ncclGetVersion)
        (void)api->ncclGetVersion(&api->version);
    if (api->missing.required)
        (void)snprintf(error, size, "%s lacks %s: it is no NCCL library, or a broken one", nccl_path(api), api->missing.names);
    return !api->missing.required;
}

const char *nccl_path(const struct nccl_api *api)
{
    return api->library.candidates[api->library.winner].path;
}

const char *nccl_version_text(int version, char *out, size_t size)
{
    int major = version < 10000 ? version / 1000 : version / 10000;
    int minor = version < 10000 ? version / 100 % 10 : version / 100 % 100;
    (void)snprintf(out, size, "%d.%d.%d", major, minor, version % 100);
    return out;
}

static size_t row(ncclResult_t result)
{
    size_t i = 0;
    while (i < sizeof results / sizeof *results && results[i].result != result)
        i++;
    return i;
}

const char *nccl_result_name(ncclResult_t result)
{
    size_t i = row(result);
    return i < sizeof results / sizeof *results ? results[i].name : "an unknown NCCL result";
}

const char *nccl_result_meaning(ncclResult_t result)
{
    size_t i = row(result);
    return i < sizeof results / sizeof *results ? results[i].meaning : "NCCL is newer than this probe";
}

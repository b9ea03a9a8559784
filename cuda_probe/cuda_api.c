#include "cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct library_spec driver_library = {.pattern = "libcuda.so.1", .parameter = "libcuda"};
static const struct library_spec runtime_library = {
    .pattern = "libcudart.so*", .parameter = "libcudart", .wheel = "nvidia/*/lib", .toolkit = true};

#define ROW(function, since, required) SYMBOL_ROW(struct cuda_api, function, since, required)
static const struct symbol symbols[] = {CUDA_SYMBOLS(ROW)};

bool cuda_api_open(const struct kit *kit, struct cuda_api *api, char *error, size_t size)
{
    *api = (struct cuda_api){0};
    if (!library_open(kit, &driver_library, &api->library)) {
        if (api->library.count)
            (void)snprintf(error, size, "libcuda.so.1 cannot be loaded: %s", api->library.error);
        else
            (void)snprintf(error, size,
                           "%s: the NVIDIA driver is not installed here, or not passed into this container (docker: --gpus all)",
                           api->library.error);
        return false;
    }
    symbols_load(api->library.handle, symbols, sizeof symbols / sizeof *symbols, api, &api->missing);
    if (api->missing.required) {
        (void)snprintf(error, size, "%s lacks %s: it is no NVIDIA driver library, or one too old",
                       api->library.candidates[api->library.winner].path, api->missing.names);
        return false;
    }
    return true;
}

int cuda_runtime_version(const struct kit *kit, struct library *library)
{
    if (!library_open(kit, &runtime_library, library))
        return 0;
    int (*get_version)(int *version);
    void *function = dlsym(library->handle, "cudaRuntimeGetVersion");
    memcpy(&get_version, &function, sizeof function);
    int version = 0;
    return function && get_version(&version) == 0 ? version : 0;
}

const char *cuda_version_text(int version, char *out, size_t size)
{
    (void)snprintf(out, size, "%d.%d", version / 1000, version % 1000 / 10);
    return out;
}

/* The libnccl that PyTorch would load, in the dynamic loader's order: LD_PRELOAD, DT_RPATH of the library that needs it (unless it has a
 * DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH, the default folders. Where no library of PyTorch needs it, NCCL is linked into PyTorch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python_env.h"

static const char soname[] = "libnccl.so.2";

/* In a list of folders, "$ORIGIN" being `origin`. */
static bool search(const char *list, const char *origin, char *out)
{
    while (list && *list) {
        char folder[PATH_MAX], file[PATH_MAX + 16];
        size_t length = strcspn(list, ":");
        int n;
        if (!strncmp(list, "$ORIGIN", 7))
            n = snprintf(folder, sizeof folder, "%s%.*s", origin, (int)length - 7, list + 7);
        else
            n = snprintf(folder, sizeof folder, "%.*s", (int)length, list);
        if (n > 0 && (size_t)n < sizeof folder) {
            (void)snprintf(file, sizeof file, "%s/%s", folder, soname);
            if (access(file, R_OK) == 0 && realpath(file, out))
                return true;
        }
        list += length;
        list += *list == ':';
    }
    return false;
}

static bool preloaded(const struct kit *kit, char *out)
{
    const char *list = kit_env(kit, "LD_PRELOAD");
    char file[PATH_MAX];
    while (list && *list) {
        size_t length = strcspn(list, ": ");
        if (length && length < sizeof file) {
            (void)snprintf(file, sizeof file, "%.*s", (int)length, list);
            const char *base = strrchr(file, '/');
            if (base && !strncmp(base + 1, "libnccl.so", 10) && realpath(file, out))
                return true;
        }
        list += length;
        list += *list != '\0';
    }
    return false;
}

/* The library of PyTorch that needs NCCL, and the folder it is in. */
static bool needing(const struct py_package *torch, struct py_elf *elf, char *folder, size_t size, bool *any_elf)
{
    static const char *const libraries[] = {"libtorch_cuda.so", "libtorch_nccl.so", "libtorch_cuda_cpp.so", "libtorch.so"};
    char file[PATH_MAX + 64];
    (void)snprintf(folder, size, "%.*s/torch/lib", (int)size - 16, torch->site->path);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", folder, libraries[i]);
        if (!py_elf_read(file, elf))
            continue;
        *any_elf = true;
        if (elf->needs_nccl)
            return true;
    }
    return false;
}

static const char *resolve(const struct kit *kit, const struct py_elf *elf, const char *origin, char *out)
{
    if (!*elf->runpath && search(elf->rpath, origin, out))
        return "DT_RPATH of PyTorch";
    if (search(kit_env(kit, "LD_LIBRARY_PATH"), origin, out))
        return "LD_LIBRARY_PATH";
    if (search(elf->runpath, origin, out))
        return "DT_RUNPATH of PyTorch";
    return search(kit_param(kit, "library_folders", PY_LIBRARY_FOLDERS), origin, out) ? "the loader's default folders" : NULL;
}

/* The version by the wheel's metadata, or by the file's name (libnccl.so.2.28.9). */
static void version_emit(struct python_env *env, const char *path)
{
    const char *base = strrchr(path, '/');
    if (strstr(path, "/nvidia/nccl/lib/"))
        for (size_t i = 0; i < env->package_count; i++) {
            const struct py_package *package = &env->packages[i];
            if (!strncmp(package->name, "nvidia-nccl-cu", 14) && !strncmp(path, package->site->path, strlen(package->site->path))) {
                kit_string(&env->kit, package->version, package->name, "python.nccl.version");
                return;
            }
        }
    if (base && !strncmp(base, "/libnccl.so.2.", 14))
        kit_string(&env->kit, base + 12, "name of the file", "python.nccl.version");
}

static void doubled_emit(struct python_env *env)
{
    const struct py_package *first = NULL, *second = NULL;
    for (size_t i = 0; i < env->package_count; i++)
        if (!strncmp(env->packages[i].name, "nvidia-nccl-cu", 14)) {
            second = first && !second ? &env->packages[i] : second;
            first = first ? first : &env->packages[i];
        }
    kit_wrong(&env->kit, second && first->site == second->site);
    if (first)
        kit_bool(&env->kit, second != NULL, "nvidia-nccl-*.dist-info", "python.nccl_doubled");
    if (second && first->site == second->site)
        kit_fault(&env->kit,
                  "%s %s and %s %s overwrite each other's nvidia/nccl/lib/libnccl.so.2 in %s: uninstall both, reinstall the right one",
                  first->name, first->version, second->name, second->version, first->site->path);
}

void py_nccl_emit(struct python_env *env)
{
    struct kit *kit = &env->kit;
    doubled_emit(env);
    const struct py_package *torch = py_package(env, "torch");
    if (!torch)
        return;
    struct py_elf elf;
    char folder[PATH_MAX], path[PATH_MAX];
    bool any_elf = false;
    if (preloaded(kit, path)) {
        kit_string(kit, path, "LD_PRELOAD", "python.nccl.path");
        version_emit(env, path);
        return;
    }
    if (!needing(torch, &elf, folder, sizeof folder, &any_elf)) {
        char name[PATH_MAX + 32];
        (void)snprintf(name, sizeof name, "%s/libtorch_cuda.so", folder);
        if (any_elf && access(name, F_OK) == 0)
            kit_string(kit, "bundled", "no library of PyTorch needs libnccl", "python.nccl.path");
        return;
    }
    const char *how = resolve(kit, &elf, folder, path);
    if (!how) {
        kit_wrong(kit, true);
        kit_string(kit, "none", "DT_NEEDED of PyTorch", "python.nccl.path");
        kit_fault(kit, "torch %s needs %s and none is found: install the nvidia-nccl wheel that torch's metadata names", torch->version,
                  soname);
        return;
    }
    kit_string(kit, path, how, "python.nccl.path");
    version_emit(env, path);
}

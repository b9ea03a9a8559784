/* LD_LIBRARY_PATH and LD_PRELOAD: libraries of CUDA and NCCL that are found there before the job's own. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "env.h"

static const char *const watched[] = {"libnccl.so", "libcudart.so", "libcublas.so", "libcudnn.so"};

static bool is_watched(const char *file)
{
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (!strncmp(file, watched[i], strlen(watched[i])))
            return true;
    return false;
}

static void append(char *out, size_t size, const char *folder, const char *file)
{
    size_t length = strlen(out);
    (void)snprintf(out + length, size - length, "%s%.300s/%.100s", length ? ", " : "", folder, file);
}

/* Of each library the first file in the folder stands for all its names (.so, .so.2, .so.2.28.9). */
static void folder_scan(struct env *env, const char *folder, char *found, size_t size)
{
    size_t count = 0;
    const char **names = kit_list(&env->kit, &count, folder, ".");
    for (size_t w = 0; w < sizeof watched / sizeof *watched; w++)
        for (size_t i = 0; names && i < count; i++)
            if (!strncmp(names[i], watched[w], strlen(watched[w]))) {
                append(found, size, folder, names[i]);
                break;
            }
    size_t length = strlen(folder);
    if (length > 6 && !strcmp(folder + length - 6, "/stubs") && access(folder, R_OK) == 0) {
        env_problem(env, "LD_LIBRARY_PATH", "stubs", "LD_LIBRARY_PATH holds %.300s: the libraries there are for linking and do nothing",
                    folder);
        kit_fault(&env->kit, "LD_LIBRARY_PATH holds %.300s, whose libcuda is a stub for linking: take it out", folder);
    }
}

static void path_scan(struct env *env, char *found, size_t size)
{
    const char *path = kit_env(&env->kit, "LD_LIBRARY_PATH");
    char folder[PATH_MAX];
    while (path && *path && !kit_stop(&env->kit)) {
        size_t length = strcspn(path, ":;");
        if (length && length < sizeof folder) {
            (void)snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            while (length > 1 && folder[length - 1] == '/')
                folder[--length] = '\0';
            folder_scan(env, folder, found, size);
        }
        path += strcspn(path, ":;");
        path += *path != '\0';
    }
}

static void preload_scan(struct env *env, char *found, size_t size)
{
    const char *list = kit_env(&env->kit, "LD_PRELOAD");
    char file[PATH_MAX];
    while (list && *list) {
        size_t length = strcspn(list, ": ");
        if (length && length < sizeof file) {
            (void)snprintf(file, sizeof file, "%.*s", (int)length, list);
            const char *base = strrchr(file, '/');
            if (is_watched(base ? base + 1 : file)) {
                size_t used = strlen(found);
                (void)snprintf(found + used, size - used, "%s%.400s", used ? ", " : "", file);
            }
            if (base && access(file, R_OK) != 0)
                env_problem(env, "LD_PRELOAD", "absent", "LD_PRELOAD names %.300s, which cannot be read", file);
        }
        list += strcspn(list, ": ");
        list += *list != '\0';
    }
}

void env_libraries_check(struct env *env)
{
    char found[2048] = "";
    preload_scan(env, found, sizeof found);
    path_scan(env, found, sizeof found);
    if (*found)
        kit_string(&env->kit, found, "LD_PRELOAD, LD_LIBRARY_PATH", "env.ld.shadowing");
}

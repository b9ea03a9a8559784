/* sys.path without running Python: PYTHONPATH, the user's folder, the environment's, the distribution's. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "python_env.h"

/* Once per folder, however it is spelt: lib64 is often a link to lib. */
static void add(struct python_env *env, const char *path, bool debian)
{
    struct py_site *site = env->site_count < PY_SITES_MAX ? &env->sites[env->site_count] : NULL;
    struct stat status;
    if (!site || !realpath(path, site->path) || stat(site->path, &status) || !S_ISDIR(status.st_mode))
        return;
    for (size_t i = 0; i < env->site_count; i++)
        if (!strcmp(env->sites[i].path, site->path))
            return;
    site->debian = debian;
    env->site_count++;
}

__attribute__((format(printf, 3, 4))) static void add_format(struct python_env *env, bool debian, const char *format, ...)
{
    char path[PATH_MAX + 128];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < PATH_MAX)
        add(env, path, debian);
}

static void add_python_path(struct python_env *env)
{
    const char *path = kit_env(&env->kit, "PYTHONPATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length)
            add_format(env, false, "%.*s", (int)length, path);
        path += length;
        path += *path == ':';
    }
}

static void add_prefix(struct python_env *env, const char *prefix)
{
    static const char *const folders[] = {"lib", "lib64"};
    for (size_t i = 0; i < 2; i++)
        add_format(env, false, "%s/%s/python3.%u/site-packages", prefix, folders[i], env->minor);
    if (!strcmp(prefix, "/usr")) {
        add_format(env, false, "/usr/local/lib/python3.%u/dist-packages", env->minor);
        add_format(env, false, "/usr/local/lib/python3.%u/site-packages", env->minor);
    }
    add_format(env, false, "%s/local/lib/python3.%u/dist-packages", prefix, env->minor);
    add_format(env, true, "%s/lib/python3/dist-packages", prefix);
}

static void add_user(struct python_env *env)
{
    const char *off = kit_env(&env->kit, "PYTHONNOUSERSITE"), *base = kit_env(&env->kit, "PYTHONUSERBASE"),
               *home = kit_env(&env->kit, "HOME");
    if ((off && *off) || (env->is_venv && !env->sees_system))
        return;
    if (base && *base)
        add_format(env, false, "%s/lib/python3.%u/site-packages", base, env->minor);
    else if (home && *home)
        add_format(env, false, "%s/.local/lib/python3.%u/site-packages", home, env->minor);
}

void py_sites_find(struct python_env *env)
{
    env->sites = kit_memory(&env->kit, PY_SITES_MAX * sizeof *env->sites);
    if (!env->sites)
        return;
    add_python_path(env);
    if (!env->is_venv)
        add_user(env);
    add_prefix(env, env->prefix);
    if (env->is_venv && env->sees_system) {
        add_user(env);
        add_prefix(env, env->base_prefix);
    }
}

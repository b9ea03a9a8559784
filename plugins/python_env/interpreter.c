/* The interpreter: a prefix given, VIRTUAL_ENV, CONDA_PREFIX, or the first python3 or python on the job's PATH that has a library folder.
 */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python_env.h"

/* PREFIX/lib/python3.N: its minor version, the newest where there are several; 0 when there is none. */
static unsigned minor_below(const struct kit *kit, const char *prefix)
{
    static const char *const folders[] = {"lib", "lib64"};
    unsigned best = 0;
    for (size_t f = 0; f < 2 && !best; f++) {
        size_t count = 0;
        const char **names = kit_list(kit, &count, prefix, "%s", folders[f]);
        for (size_t i = 0; names && i < count; i++) {
            unsigned minor;
            char rest;
            if (sscanf(names[i], "python3.%u%c", &minor, &rest) == 1 && minor > best)
                best = minor;
        }
    }
    return best;
}

/* A line "key = value" of pyvenv.cfg. */
static bool venv_setting(const char *text, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at != '=')
            continue;
        at += 1 + strspn(at + 1, " \t");
        size_t n = strcspn(at, "\r\n");
        if (n >= size)
            return false;
        memcpy(out, at, n);
        out[n] = '\0';
        return true;
    }
    return false;
}

/* The full version from the header of the interpreter or from conda's record, where they are installed. */
static void patch_level(struct python_env *env)
{
    const struct kit *kit = &env->kit;
    char word[32];
    const char *header = kit_read(kit, 8192, NULL, env->base_prefix, "include/python3.%u/patchlevel.h", env->minor);
    const char *at = header ? strstr(header, "PY_VERSION ") : NULL;
    if (at && sscanf(at, "PY_VERSION \"%31[^\"]\"", word) == 1) {
        (void)snprintf(env->version, sizeof env->version, "%s", word);
        return;
    }
    size_t count = 0;
    const char **names = kit_list(kit, &count, env->base_prefix, "conda-meta");
    for (size_t i = 0; names && i < count; i++)
        if (sscanf(names[i], "python-%31[0-9.]-", word) == 1) {
            (void)snprintf(env->version, sizeof env->version, "%s", word);
            return;
        }
}

static void venv_read(struct python_env *env)
{
    const struct kit *kit = &env->kit;
    const char *text = kit_read(kit, 8192, NULL, env->prefix, "pyvenv.cfg");
    char home[PATH_MAX], word[64];
    (void)snprintf(env->base_prefix, sizeof env->base_prefix, "%s", env->prefix);
    if (!text)
        return;
    env->is_venv = true;
    env->sees_system = venv_setting(text, "include-system-site-packages", word, sizeof word) && !strcasecmp(word, "true");
    if (venv_setting(text, "home", home, sizeof home)) /* the folder of its python */
        (void)snprintf(env->base_prefix, sizeof env->base_prefix, "%s", dirname(home));
    if (venv_setting(text, "version_info", word, sizeof word) || venv_setting(text, "version", word, sizeof word)) {
        unsigned major, minor, patch;
        int parts = sscanf(word, "%u.%u.%u", &major, &minor, &patch);
        if (parts == 3)
            (void)snprintf(env->version, sizeof env->version, "%u.%u.%u", major, minor, patch);
    }
}

static bool take_prefix(struct python_env *env, const char *prefix, const char *executable)
{
    unsigned minor = minor_below(&env->kit, prefix);
    if (!minor || strlen(prefix) >= sizeof env->prefix || strlen(executable) >= sizeof env->executable)
        return false;
    env->minor = minor;
    memcpy(env->prefix, prefix, strlen(prefix) + 1);
    memcpy(env->executable, executable, strlen(executable) + 1);
    venv_read(env);
    if (!*env->version)
        patch_level(env);
    if (!*env->version)
        (void)snprintf(env->version, sizeof env->version, "3.%u", minor);
    return true;
}

/* An environment's folder: its python is PREFIX/bin/python3. */
static bool take_environment(struct python_env *env, const char *prefix)
{
    static const char *const names[] = {"python3", "python"};
    char executable[PATH_MAX];
    for (size_t i = 0; prefix && *prefix && i < 2; i++) {
        int n = snprintf(executable, sizeof executable, "%s/bin/%s", prefix, names[i]);
        if (n > 0 && (size_t)n < sizeof executable && access(executable, X_OK) == 0)
            return take_prefix(env, prefix, executable);
    }
    return false;
}

/* pyenv puts scripts on the PATH, ROOT/shims/python3, that start the version which PYENV_VERSION or ROOT/version names. */
static bool take_pyenv(struct python_env *env, const char *shims)
{
    char root[PATH_MAX], line[64], prefix[PATH_MAX + 80];
    (void)snprintf(root, sizeof root, "%s", shims);
    char *slash = strrchr(root, '/');
    if (!slash || strcmp(slash, "/shims") != 0)
        return false;
    *slash = '\0';
    const char *version = kit_env(&env->kit, "PYENV_VERSION");
    if ((!version || !*version) && kit_read_line(&env->kit, line, sizeof line, root, "version"))
        version = line;
    if (!version || !*version)
        return false;
    (void)snprintf(prefix, sizeof prefix, "%s/versions/%.*s", root, (int)strcspn(version, ":"), version);
    return take_environment(env, prefix);
}

/* The executable as it is named says where a venv is; where the link leads says where its interpreter is. */
static bool take_executable(struct python_env *env, const char *folder, const char *name)
{
    char path[PATH_MAX], prefix[PATH_MAX], real[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path || access(path, X_OK) != 0)
        return false;
    (void)snprintf(prefix, sizeof prefix, "%s", folder);
    char *parent = dirname(prefix);
    if (kit_exists(&env->kit, parent, "pyvenv.cfg") && take_prefix(env, parent, path))
        return true;
    if (take_pyenv(env, folder))
        return true;
    if (realpath(path, real)) {
        char copy[PATH_MAX];
        (void)snprintf(copy, sizeof copy, "%s", real);
        if (take_prefix(env, dirname(dirname(copy)), path))
            return true;
    }
    return take_prefix(env, parent, path);
}

static bool take_from_path(struct python_env *env)
{
    const char *path = kit_env(&env->kit, "PATH");
    char folder[PATH_MAX];
    while (path && *path && !kit_stop(&env->kit)) {
        size_t length = strcspn(path, ":");
        if (length && length < sizeof folder) {
            (void)snprintf(folder, sizeof folder, "%.*s", (int)length, path);
            if (take_executable(env, folder, "python3") || take_executable(env, folder, "python"))
                return true;
        }
        path += length;
        path += *path == ':';
    }
    return false;
}

bool py_interpreter_find(struct python_env *env)
{
    struct kit *kit = &env->kit;
    const char *prefix = kit_param(kit, "prefix", NULL);
    if (prefix) {
        if (take_environment(env, prefix) || take_prefix(env, prefix, prefix))
            return true;
        kit_unavailable(kit, "prefix=%s holds no lib/python3.*", prefix);
        return false;
    }
    if (take_environment(env, kit_env(kit, "VIRTUAL_ENV")) || take_environment(env, kit_env(kit, "CONDA_PREFIX")) || take_from_path(env))
        return true;
    kit_skip(kit, "the job's environment has no Python: neither VIRTUAL_ENV, CONDA_PREFIX nor PATH leads to one");
    return false;
}

/* CUDA majors of the nvidia-* wheels, and what PyTorch was built for, from the text of torch/version.py. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python_env.h"

/* nvidia-cublas-cu12 is for 12. From CUDA 13 on the wheels' names have no suffix, and the version of the run-time's tells. */
static unsigned major_of(const struct py_package *package)
{
    if (strncmp(package->name, "nvidia-", 7) != 0)
        return 0;
    const char *suffix = strrchr(package->name, '-');
    unsigned major;
    char rest;
    if (sscanf(suffix, "-cu%u%c", &major, &rest) == 1)
        return major;
    if (!strcmp(package->name, "nvidia-cuda-runtime") && sscanf(package->version, "%u.", &major) == 1)
        return major;
    return 0;
}

static void majors_emit(struct python_env *env)
{
    bool seen[100] = {false};
    char list[64] = "", example[2][96] = {"", ""};
    size_t count = 0;
    for (size_t i = 0; i < env->package_count; i++) {
        unsigned major = major_of(&env->packages[i]);
        if (!major || major >= sizeof seen || seen[major])
            continue;
        seen[major] = true;
        if (count < 2)
            (void)snprintf(example[count], sizeof example[count], "%.50s %.40s", env->packages[i].name, env->packages[i].version);
        count++;
    }
    if (!count)
        return;
    for (unsigned major = 0; major < sizeof seen; major++)
        if (seen[major]) {
            size_t length = strlen(list);
            (void)snprintf(list + length, sizeof list - length, "%s%u", length ? "," : "", major);
        }
    kit_string(&env->kit, list, "nvidia-*.dist-info", "python.cuda_majors");
    kit_wrong(&env->kit, count > 1);
    kit_bool(&env->kit, count > 1, "nvidia-*.dist-info", "python.cuda_mixed");
    if (count > 1)
        kit_fault(&env->kit, "wheels of CUDA %s are installed together below %s (%s, %s): uninstall those of the other major", list,
                  env->prefix, example[0], example[1]);
}

/* `cuda: Optional[str] = '12.8'` or `cuda = None`. */
static bool assigned(const char *text, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, name, length) != 0 || isalnum((unsigned char)line[length]) || line[length] == '_')
            continue;
        const char *end = line + strcspn(line, "\n"), *equals = memchr(line, '=', (size_t)(end - line));
        if (!equals)
            continue;
        const char *value = equals + 1 + strspn(equals + 1, " \t");
        size_t n = *value == '\'' || *value == '"' ? strcspn(value + 1, "'\"\n") : 0;
        if (!n || n >= size)
            return false; /* None */
        memcpy(out, value + 1, n);
        out[n] = '\0';
        return true;
    }
    return false;
}

static void torch_emit(struct python_env *env)
{
    struct kit *kit = &env->kit;
    const struct py_package *torch = py_package(env, "torch");
    char build[64], origin[PATH_MAX + 32];
    if (!torch)
        return;
    kit_bool(kit, torch->site->debian, torch->site->path, "python.torch.debian");
    const char *text = kit_read(kit, 8192, NULL, torch->site->path, "torch/version.py");
    if (!text) {
        kit_log(kit, 2, "torch %s is installed in %s, but torch/version.py is missing", torch->version, torch->site->path);
        return;
    }
    (void)snprintf(origin, sizeof origin, "%.*s/torch/version.py", PATH_MAX, torch->site->path);
    bool cuda = assigned(text, "cuda", build, sizeof build);
    kit_string(kit, cuda ? build : assigned(text, "hip", build, sizeof build) ? "rocm" : "cpu", origin, "python.torch.cuda");
    unsigned built = cuda ? (unsigned)strtoul(build, NULL, 10) : 0, other = 0;
    bool same = false;
    for (size_t i = 0; i < env->package_count; i++) {
        unsigned major = major_of(&env->packages[i]);
        same |= major == built;
        other = major ? major : other;
    }
    if (built && other) {
        kit_wrong(kit, !same);
        kit_bool(kit, !same, origin, "python.torch.cuda_mismatch");
        if (!same)
            kit_fault(kit,
                      "torch %s was built for CUDA %u, but the nvidia-* wheels are for CUDA %u: install those that torch's metadata names",
                      torch->version, built, other);
    }
}

void py_cuda_emit(struct python_env *env)
{
    majors_emit(env);
    torch_emit(env);
}

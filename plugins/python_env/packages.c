/* Installed packages from their metadata: NAME-VERSION.dist-info/METADATA, or NAME.egg-info of older installers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python_env.h"

#define SHADOWED_MAX 1024u

static const char *const wanted[] = {"torch",
                                     "torchvision",
                                     "torchaudio",
                                     "triton",
                                     "flash-attn",
                                     "apex",
                                     "transformer-engine",
                                     "deepspeed",
                                     "megatron-core",
                                     "horovod",
                                     "tensorflow",
                                     "tensorflow-gpu",
                                     "tf-keras",
                                     "keras",
                                     "jax",
                                     "jaxlib",
                                     "accelerate",
                                     "lightning",
                                     "pytorch-lightning",
                                     "ray",
                                     "mpi4py",
                                     "vllm",
                                     "numpy",
                                     "protobuf",
                                     "transformers",
                                     "xformers",
                                     "bitsandbytes",
                                     "cupy-cuda11x",
                                     "cupy-cuda12x",
                                     "cupy-cuda13x",
                                     "torch-xla",
                                     "torch-npu",
                                     "intel-extension-for-pytorch",
                                     "oneccl-bind-pt",
                                     "fairscale",
                                     "colossalai",
                                     "datasets"};

static bool is_wanted(const char *name)
{
    if (!strncmp(name, "nvidia-", 7) || !strncmp(name, "jax-cuda", 8) || !strncmp(name, "transformer-engine-", 19))
        return true;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strcmp(wanted[i], name))
            return true;
    return false;
}

/* Lower case, and '-' for each run of '-', '_' and '.'. */
static void normalise(char *out, size_t size, const char *name, size_t length)
{
    size_t n = 0;
    for (size_t i = 0; i < length && n + 1 < size; i++) {
        bool separator = strchr("-_.", name[i]) != NULL;
        if (separator && n && out[n - 1] == '-')
            continue;
        out[n++] = separator ? '-' : (char)tolower((unsigned char)name[i]);
    }
    out[n] = '\0';
}

/* A header of METADATA or PKG-INFO, which end at the first blank line. */
static bool header(const char *text, const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line && *line != '\n'; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncasecmp(line, key, length) && line[length] == ':') {
            const char *value = line + length + 1 + strspn(line + length + 1, " \t");
            size_t n = strcspn(value, "\r\n");
            if (!n || n >= size)
                return false;
            memcpy(out, value, n);
            out[n] = '\0';
            return true;
        }
    return false;
}

static const char *keep(const struct kit *kit, const char *text)
{
    size_t length = strlen(text);
    char *copy = kit_memory(kit, length + 1);
    return copy ? memcpy(copy, text, length + 1) : "";
}

static struct py_package *find(const struct python_env *env, const char *name)
{
    for (size_t i = 0; i < env->package_count; i++)
        if (!strcmp(env->packages[i].name, name))
            return &env->packages[i];
    return NULL;
}

const struct py_package *py_package(const struct python_env *env, const char *name)
{
    return find(env, name);
}

static void note(struct python_env *env, const struct py_site *site, const char *name, const char *version)
{
    struct py_package *known = find(env, name);
    if (known) {
        if (!known->twice && strcmp(known->version, version) != 0) {
            known->twice = true;
            known->other = keep(&env->kit, version);
        }
        return;
    }
    if (env->package_count < PY_PACKAGES_MAX)
        env->packages[env->package_count++] =
            (struct py_package){.name = keep(&env->kit, name), .version = keep(&env->kit, version), .site = site};
}

/* The folder's name tells the package; METADATA its version as it was released. */
static void read_entry(struct python_env *env, const struct py_site *site, const char *entry)
{
    const char *dot = strrchr(entry, '.');
    bool wheel = dot && !strcmp(dot, ".dist-info"), egg = dot && !strcmp(dot, ".egg-info");
    if (!wheel && !egg)
        return;
    char name[128], value[128];
    const char *dash = memchr(entry, '-', (size_t)(dot - entry));
    normalise(name, sizeof name, entry, (size_t)((dash ? dash : dot) - entry));
    if (!is_wanted(name))
        return;
    const struct kit *kit = &env->kit;
    const char *text = kit_read(kit, 4096, NULL, site->path, "%s/%s", entry, wheel ? "METADATA" : "PKG-INFO");
    if (!text && egg)
        text = kit_read(kit, 4096, NULL, site->path, "%s", entry); /* a single file */
    if (text && header(text, "Version", value, sizeof value)) {
        note(env, site, name, value);
    } else if (dash) { /* metadata damaged or half removed */
        size_t length = strcspn(dash + 1, "-");
        if (dash + 1 + length > dot)
            length = (size_t)(dot - dash - 1);
        (void)snprintf(value, sizeof value, "%.*s", (int)(length < 100 ? length : 100), dash + 1);
        note(env, site, name, value);
    }
}

void py_packages_find(struct python_env *env)
{
    env->packages = kit_memory(&env->kit, PY_PACKAGES_MAX * sizeof *env->packages);
    for (size_t i = 0; env->packages && i < env->site_count && !kit_stop(&env->kit); i++) {
        size_t count = 0;
        const char **names = kit_list(&env->kit, &count, env->sites[i].path, ".");
        for (size_t k = 0; names && k < count; k++)
            read_entry(env, &env->sites[i], names[k]);
    }
}

void py_packages_emit(struct python_env *env)
{
    struct kit *kit = &env->kit;
    char shadowed[SHADOWED_MAX] = "", part[128];
    for (size_t i = 0; i < env->package_count; i++) {
        const struct py_package *package = &env->packages[i];
        kit_string(kit, package->version, package->site->path, "python.package.%s", kit_part(part, sizeof part - 40, package->name));
        size_t length = strlen(shadowed);
        if (package->twice)
            (void)snprintf(shadowed + length, sizeof shadowed - length, "%s%s %s over %s", length ? ", " : "", package->name,
                           package->version, package->other);
    }
    if (*shadowed)
        kit_string(kit, shadowed, "dist-info in several folders of sys.path", "python.shadowed");
}

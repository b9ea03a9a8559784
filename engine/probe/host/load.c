#include "probe/host/host.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What a first version 1 plugin has; members that came later may be absent. */
#define MEMBER_END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define PLUGIN_V1_MIN MEMBER_END(dtkb_plugin_v1, probe_stride)
#define PROBE_V1_MIN MEMBER_END(dtkb_probe_v1, run)
#define PARAM_V1_MIN MEMBER_END(dtkb_param_v1, default_value)
#define PROBES_MAX 64u
#define PARAMS_MAX 64u

/* Fixed for ever: a plugin that was built against the first header keeps its places. */
_Static_assert(offsetof(dtkb_plugin_v1, probe_stride) == 56 && PLUGIN_V1_MIN == 64, "dtkb_plugin_v1 moved");
_Static_assert(offsetof(dtkb_probe_v1, run) == 64 && PROBE_V1_MIN == 72, "dtkb_probe_v1 moved");
_Static_assert(offsetof(dtkb_param_v1, default_value) == 24 && PARAM_V1_MIN == 32, "dtkb_param_v1 moved");
_Static_assert(offsetof(dtkb_fact_v1, value) == 32 && offsetof(dtkb_fact_v1, flags) == 40, "dtkb_fact_v1 moved");
_Static_assert(offsetof(dtkb_call_v1, env) == 40 && offsetof(dtkb_call_v1, deadline_ns) == 48, "dtkb_call_v1 moved");
_Static_assert(offsetof(dtkb_host_v1, emit) == 8 && offsetof(dtkb_host_v1, scratch) == 64, "dtkb_host_v1 moved");

__attribute__((format(printf, 3, 4))) static bool refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, size, format, args);
    va_end(args);
    return false;
}

const dtkb_probe_v1 *plugin_probe(const dtkb_plugin_v1 *plugin, size_t index)
{
    return (const dtkb_probe_v1 *)(const void *)((const char *)plugin->probes + index * plugin->probe_stride);
}

static bool check_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return length && length <= 64 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

static bool check_probe(const dtkb_plugin_v1 *plugin, size_t index, char *why, size_t size)
{
    const dtkb_probe_v1 *probe = plugin_probe(plugin, index);
    if (probe->struct_size < PROBE_V1_MIN || probe->struct_size > plugin->probe_stride)
        return refuse(why, size, "probe %zu has struct_size %u; it must be between %zu and the stride %zu (use DTKB_PROBE_V1_INIT)", index,
                      probe->struct_size, PROBE_V1_MIN, plugin->probe_stride);
    if (!check_name(probe->name))
        return refuse(why, size, "probe %zu has no proper name: lower case letters, digits, '-' and '_', at most 64", index);
    if (!probe->summary || !*probe->summary)
        return refuse(why, size, "probe '%s' has no summary", probe->name);
    if (!probe->run)
        return refuse(why, size, "probe '%s' has no run function", probe->name);
    if (probe->param_count > PARAMS_MAX || (probe->param_count && !probe->params))
        return refuse(why, size, "probe '%s' has %zu parameters; at most %u are possible", probe->name, probe->param_count, PARAMS_MAX);
    if (probe->param_count && probe->params[0].struct_size < PARAM_V1_MIN)
        return refuse(why, size, "probe '%s' has parameters of struct_size %u; it must be %zu or more (use DTKB_PARAM_V1_INIT)",
                      probe->name, probe->params[0].struct_size, PARAM_V1_MIN);
    for (size_t other = 0; other < index; other++)
        if (!strcmp(plugin_probe(plugin, other)->name, probe->name))
            return refuse(why, size, "probe '%s' is described twice", probe->name);
    return true;
}

static bool check_plugin(const dtkb_plugin_v1 *plugin, char *why, size_t size)
{
    if (plugin->struct_size < PLUGIN_V1_MIN)
        return refuse(why, size, "its description has struct_size %u; version 1 has at least %zu (use DTKB_PLUGIN_V1_INIT)",
                      plugin->struct_size, PLUGIN_V1_MIN);
    if (plugin->abi_version != 1)
        return refuse(why, size, "its version 1 entry returns a description of ABI version %u", plugin->abi_version);
    if (!check_name(plugin->name))
        return refuse(why, size, "it has no proper name: lower case letters, digits, '-' and '_', at most 64");
    if (!plugin->version || !*plugin->version || !plugin->licence || !*plugin->licence || !plugin->summary || !*plugin->summary)
        return refuse(why, size, "its description lacks a version, licence or summary");
    if (!plugin->probe_count || plugin->probe_count > PROBES_MAX || !plugin->probes)
        return refuse(why, size, "it has %zu probes; 1 to %u are possible", plugin->probe_count, PROBES_MAX);
    if (plugin->probe_stride < PROBE_V1_MIN || plugin->probe_stride % sizeof(void *))
        return refuse(why, size, "its probe_stride is %zu; it must be sizeof(dtkb_probe_v1), %zu or more", plugin->probe_stride,
                      PROBE_V1_MIN);
    for (size_t i = 0; i < plugin->probe_count; i++)
        if (!check_probe(plugin, i, why, size))
            return false;
    return true;
}

static bool open_v1(void *entry, struct plugin *out, char *why, size_t size)
{
    dtkb_plugin_entry_v1_fn function;
    memcpy(&function, &entry, sizeof function); /* ISO C has no conversion from void * to a function pointer */
    const char *refusal = NULL;
    out->description = function(&host_services, &refusal);
    out->abi = 1;
    if (!out->description)
        return refuse(why, size, "the plugin refuses this host: %s", refusal ? refusal : "it gives no reason");
    return check_plugin(out->description, why, size);
}

/* One row per ABI version, newest first. A row is never removed. */
static const struct {
    uint32_t version;
    bool (*open)(void *entry, struct plugin *out, char *why, size_t size);
} versions[] = {{1, open_v1}};

bool plugin_load(const char *file, struct plugin *out, char *why, size_t why_size)
{
    void *object = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return refuse(why, why_size, "%s", dlerror());
    char symbol[64];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        (void)snprintf(symbol, sizeof symbol, "dtkb_plugin_entry_v%u", versions[i].version);
        void *entry = dlsym(object, symbol);
        if (entry)
            return versions[i].open(entry, out, why, why_size);
    }
    for (uint32_t newer = DTKB_PLUGIN_ABI + 1; newer < DTKB_PLUGIN_ABI + 16; newer++) {
        (void)snprintf(symbol, sizeof symbol, "dtkb_plugin_entry_v%u", newer);
        if (dlsym(object, symbol))
            return refuse(why, why_size, "it was built for plugin ABI version %u only; this dtkb knows versions up to %u: upgrade dtkb",
                          newer, DTKB_PLUGIN_ABI);
    }
    return refuse(why, why_size, "it exports no dtkb_plugin_entry_v1: no dtkb plugin (DTKB_PLUGIN_ENTRY emits the symbol)");
}

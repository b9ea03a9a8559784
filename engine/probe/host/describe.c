#include "probe/host/host.h"

static void capabilities(const char *key, uint64_t bits)
{
    static const char *const names[] = {"active", "network", "gpu", "privileged", "multi-rank", "trials"};
    wire_key(key);
    wire_raw("[");
    for (unsigned bit = 0, first = 1; bit < 64; bit++) {
        if (!(bits >> bit & 1))
            continue;
        wire_raw(first ? "" : ", ");
        first = 0;
        if (bit < sizeof names / sizeof *names)
            wire_string(names[bit]);
        else
            wire_u64(bit);
    }
    wire_raw("]");
}

static void facts(const char *const *names)
{
    wire_key("facts");
    wire_raw("[");
    for (size_t i = 0; names && names[i]; i++) {
        wire_raw(i ? ", " : "");
        wire_string(names[i]);
    }
    wire_raw("]");
}

static void parameters(const dtkb_probe_v1 *probe)
{
    wire_key("params");
    wire_raw("[");
    for (size_t i = 0; i < probe->param_count; i++) {
        /* All elements were built with one header, so the first one's size is the stride. */
        const dtkb_param_v1 *param = (const dtkb_param_v1 *)(const void *)((const char *)probe->params + i * probe->params[0].struct_size);
        wire_raw(i ? ", {\"name\": " : "{\"name\": ");
        wire_string(param->name);
        wire_raw(", \"summary\": ");
        wire_string(param->summary);
        if (param->default_value) {
            wire_raw(", \"default\": ");
            wire_string(param->default_value);
        }
        wire_raw("}");
    }
    wire_raw("]");
}

/* A line per plugin and one per probe: a line has a limit, the number of probes and facts has a higher one. */
void describe(const struct plugin *plugin)
{
    const dtkb_plugin_v1 *description = plugin->description;
    wire_begin();
    wire_key("plugin");
    wire_string(description->name);
    wire_key("version");
    wire_string(description->version);
    wire_key("licence");
    wire_string(description->licence);
    wire_key("summary");
    wire_string(description->summary);
    wire_key("abi");
    wire_u64(plugin->abi);
    wire_end();
    for (size_t i = 0; i < description->probe_count; i++) {
        const dtkb_probe_v1 *probe = plugin_probe(description, i);
        wire_begin();
        wire_key("probe");
        wire_string(probe->name);
        wire_key("summary");
        wire_string(probe->summary);
        wire_key("timeout_ms");
        wire_u64(probe->default_timeout_ms);
        capabilities("caps", probe->caps);
        capabilities("requires", probe->caps_required);
        facts(probe->facts);
        parameters(probe);
        wire_end();
    }
}

#include "probe/probe.h"

#include <dtkb/plugin.h>

#include "probe/catalog.h"

static json_t *capabilities(uint64_t caps)
{
    static const char *const names[] = {"active", "network", "gpu", "privileged", "multi-rank", "trials"};
    json_t *list = json_array();
    for (unsigned bit = 0; bit < sizeof names / sizeof *names; bit++)
        if (caps >> bit & 1)
            (void)json_array_append_new(list, json_string(names[bit]));
    return list;
}

static json_t *probe_tree(const struct plugin_probe *probe)
{
    json_t *facts = json_array();
    for (size_t i = 0; i < probe->fact_count; i++)
        (void)json_array_append_new(facts, json_string(probe->facts[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:O, s:f}", "name", probe->name, "summary", probe->summary, "caps", capabilities(probe->caps),
                     "facts", facts, "params", probe->params, "timeout", probe->timeout_ms / 1000.0);
}

static json_t *plugin_tree(const struct plugin *plugin)
{
    json_t *probes = json_array();
    for (size_t i = 0; i < plugin->probe_count; i++)
        if (plugin->probes[i].params)
            (void)json_array_append_new(probes, probe_tree(&plugin->probes[i]));
    return json_pack("{s:s?, s:s?, s:s?, s:s?, s:i, s:s, s:s, s:s, s:s, s:o}", "name", plugin->name, "version", plugin->version, "licence",
                     plugin->licence, "summary", plugin->summary, "abi", (int)plugin->abi, "path", plugin->path, "kind",
                     plugin->kind == PLUGIN_SHARED ? "shared-object" : "program", "status", plugin_state_name(plugin->state), "reason",
                     plugin->reason, "probes", probes);
}

dtkb_status probe_plugins(const struct probe_options *options, json_t **out, struct err *err)
{
    static const struct probe_options none;
    struct catalog catalog;
    struct err local;
    dtkb_status status = catalog_load(options ? options : &none, &catalog, err ? err : &local);
    if (status != DTKB_OK)
        return status;
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t i = 0; good && i < catalog.count; i++)
        good = json_array_append_new(list, plugin_tree(&catalog.plugins[i])) == 0;
    catalog_free(&catalog);
    if (!good) {
        json_decref(list);
        return err_nomem(err);
    }
    *out = list;
    return DTKB_OK;
}

/* Documents about plugins. */
#include <string.h>

#include <dtkb/dtkb.h>

#include "api/api.h"
#include "base/buf.h"
#include "probe/conformance.h"
#include "probe/probe.h"
#include "probe/scaffold.h"

dtkb_status dtkb_plugins(dtkb *engine, const char *plugin_path, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    const struct probe_options options = {.plugin_path = plugin_path};
    json_t *list;
    dtkb_status status = probe_plugins(&options, &list, err);
    if (status != DTKB_OK)
        return status;
    return doc_new(json_pack("{s:s, s:o}", "schema", "dtkb.plugins/1", "plugins", list), out, err);
}

static bool has_name(const json_t *plugin, const char *name)
{
    size_t index;
    const json_t *probe;
    const char *own = json_string_value(json_object_get(plugin, "name"));
    if (own && !strcmp(own, name))
        return true;
    json_array_foreach(json_object_get(plugin, "probes"), index,
                       probe) if (!strcmp(json_string_value(json_object_get(probe, "name")), name)) return true;
    return false;
}

static dtkb_status no_such_plugin(const json_t *list, const char *name, struct err *err)
{
    struct buf known = {.maximum = 700};
    size_t index;
    const json_t *plugin;
    json_array_foreach(list, index, plugin)
    {
        const char *own = json_string_value(json_object_get(plugin, "name"));
        if (own)
            buf_addf(&known, "%s%s", known.length ? ", " : "", own);
    }
    dtkb_status status = err_set(err, DTKB_E_NOT_FOUND, "there is no plugin '%s'; %s%s", name,
                                 known.length ? "there are " : "none was found", buf_text(&known));
    buf_free(&known);
    return status;
}

dtkb_status dtkb_plugin_info(dtkb *engine, const char *name, const char *plugin_path, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    const struct probe_options options = {.plugin_path = plugin_path};
    json_t *list, *found = json_array();
    dtkb_status status = probe_plugins(&options, &list, err);
    if (status != DTKB_OK) {
        json_decref(found);
        return status;
    }
    size_t index;
    json_t *plugin;
    json_array_foreach(list, index, plugin) if (has_name(plugin, name ? name : "") && !json_array_size(found))(void)
        json_array_append(found, plugin);
    if (!json_array_size(found))
        status = no_such_plugin(list, name ? name : "", err);
    json_decref(list);
    if (status == DTKB_OK)
        return doc_new(json_pack("{s:s, s:o}", "schema", "dtkb.plugins/1", "plugins", found), out, err);
    json_decref(found);
    return status;
}

dtkb_status dtkb_plugin_check(dtkb *engine, const char *file, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    if (!file || !*file)
        return err_set(err, DTKB_E_USAGE, "no plugin file is named");
    const struct vocabulary vocabulary = vocabulary_of(engine->kb);
    const struct probe_options options = {0};
    json_t *tree;
    dtkb_status status = conformance_check(&vocabulary, &options, file, &tree, err);
    return status == DTKB_OK ? doc_new(tree, out, err) : status;
}

dtkb_status dtkb_plugin_new(const char *name, const char *language, const char *folder, char *error, size_t error_size)
{
    struct err err = {0};
    (void)scaffold_write(name, language, folder, &err);
    return api_report(&err, error, error_size);
}

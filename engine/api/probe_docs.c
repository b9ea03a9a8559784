/* Documents about plugins. */
#include <dtkb/dtkb.h>

#include "api/api.h"
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

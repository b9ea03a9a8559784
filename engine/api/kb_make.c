/* Making knowledge bases: build, check, import. */
#include <string.h>

#include "api/api.h"
#include "kb/build.h"
#include "kb/import.h"

dtkb_status dtkb_kb_build(const char *folder, const char *file, char *error, size_t error_size)
{
    struct err err = {0};
    if (!folder || !file)
        err_set(&err, DTKB_E_USAGE, "dtkb_kb_build: which folder, which file?");
    else
        err.code = kb_build(folder, file, &err);
    return api_report(&err, error, error_size);
}

dtkb_status dtkb_kb_import_study(const char *xlsx, const char *notes, const char *taxonomy, const char *folder, char *error,
                                 size_t error_size)
{
    struct err err = {0};
    if (!xlsx || !taxonomy || !folder)
        err_set(&err, DTKB_E_USAGE, "dtkb_kb_import_study: which sheet, taxonomy, folder?");
    else
        err.code = kb_import_study(xlsx, notes, taxonomy, folder, &err);
    return api_report(&err, error, error_size);
}

dtkb_status dtkb_kb_check(const char *const *paths, size_t count, dtkb_doc **out, char *error, size_t error_size)
{
    return dtkb_kb_check_healthy(paths, count, NULL, 0, out, error, error_size);
}

dtkb_status dtkb_kb_check_healthy(const char *const *paths, size_t count, const char *const *healthy, size_t healthy_count, dtkb_doc **out,
                                  char *error, size_t error_size)
{
    struct err err = {0};
    json_t *list = NULL;
    dtkb_status status = kb_check(paths, count, healthy, healthy_count, &list, &err);
    if (list) {
        size_t errors = 0, i;
        json_t *complaint;
        json_array_foreach(list, i, complaint) errors += strcmp(json_string_value(json_object_get(complaint, "severity")), "error") == 0;
        json_int_t total = (json_int_t)json_array_size(list);
        json_t *tree = json_pack("{s:s, s:I, s:I, s:o}", "schema", "dtkb.check/1", "errors", (json_int_t)errors, "warnings",
                                 total - (json_int_t)errors, "findings", list);
        dtkb_status made = doc_new(tree, out, &err);
        status = made == DTKB_OK ? status : made;
    }
    err.code = status;
    return api_report(&err, error, error_size);
}

dtkb_status dtkb_kb_import(dtkb *engine, const char *dump, const char *layer,
                           void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total), void *progress_context,
                           dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    struct import_result result = {0};
    if (!dump || !layer)
        return err_set(err, DTKB_E_USAGE, "dtkb_kb_import: which dump, which layer?");
    dtkb_status status = kb_import(engine->kb, dump, layer, progress, progress_context, &result, err);
    if (status != DTKB_OK)
        return status;
    return doc_new(json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "schema", "dtkb.import/1", "layer", layer, "bytes", (json_int_t)result.bytes,
                             "read", (json_int_t)result.read, "filled", (json_int_t)result.filled, "added", (json_int_t)result.added),
                   out, err);
}

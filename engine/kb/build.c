/* Compiling a knowledge folder into a knowledge base. The same folder gives the same bytes: order is fixed by file names, and nothing of
 * the time or place of the build is kept. */
#include "kb/build.h"

#include <string.h>

#include "kb/check.h"
#include "kb/compiled.h"
#include "kb/folder.h"
#include "kb/replace.h"
#include "kb/store.h"

static const char *title_of(void *context, const char *id)
{
    const struct taxonomy *taxonomy = context;
    for (size_t i = 0; i < taxonomy->count; i++)
        if (strcmp(taxonomy->labels[i].id, id) == 0)
            return taxonomy->labels[i].title;
    return NULL;
}

static dtkb_status fill(sqlite3 *db, struct folder *folder, struct err *err)
{
    struct store *store = NULL;
    dtkb_status status = store_begin(db, title_of, &folder->taxonomy, &store, err);
    if (status == DTKB_OK)
        status = store_add_taxonomy(store, &folder->taxonomy, err);
    if (status == DTKB_OK)
        status = store_add_pack(store, &folder->facts, err);
    for (size_t i = 0; i < folder->pack_count && status == DTKB_OK; i++)
        status = store_add_pack(store, &folder->packs[i], err);
    if (status == DTKB_OK)
        status = compiled_store(store, folder->packs, folder->pack_count, err);
    if (status == DTKB_OK)
        status = store_finish(store, err);
    store_free(store);
    return status;
}

/* What would be wrong in every answer is no knowledge base: unknown labels, doubled ids. The first mistake is the error. */
static dtkb_status check_folder(const struct folder *folder, struct err *err)
{
    struct check check = {.list = json_array(),
                          .taxonomy = folder->taxonomy,
                          .vocabulary = folder->facts,
                          .packs = folder->packs,
                          .pack_count = folder->pack_count,
                          .has_study = true};
    dtkb_status status = check.list ? DTKB_OK : err_nomem(err);
    if (status == DTKB_OK)
        check_structure(&check);
    json_t *complaint;
    size_t i;
    json_array_foreach(check.list, i, complaint)
    {
        if (status == DTKB_OK && strcmp(json_string_value(json_object_get(complaint, "severity")), "error") == 0)
            status = err_set(err, DTKB_E_FORMAT, "%s:%d: %s", json_string_value(json_object_get(complaint, "file")),
                             (int)json_integer_value(json_object_get(complaint, "line")),
                             json_string_value(json_object_get(complaint, "message")));
    }
    json_decref(check.list);
    return status;
}

dtkb_status kb_build(const char *folder_path, const char *file, struct err *err)
{
    struct folder folder = {0};
    struct replacement replacement = {0};
    sqlite3 *db = NULL;
    dtkb_status status = folder_read(folder_path, &folder, err);
    if (status == DTKB_OK)
        status = check_folder(&folder, err);
    if (status == DTKB_OK)
        status = replacement_begin(&replacement, file, err);
    if (status == DTKB_OK)
        status = store_create_file(replacement.temporary, &db, err);
    if (status == DTKB_OK)
        status = fill(db, &folder, err);
    if (status == DTKB_OK && sqlite3_exec(db, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        status = err_set(err, DTKB_E_IO, "%s: %s", file, sqlite3_errmsg(db));
    if (sqlite3_close(db) != SQLITE_OK && status == DTKB_OK)
        status = err_set(err, DTKB_E_INTERNAL, "%s: the database does not close", file);
    status = replacement_end(&replacement, status, err);
    folder_free(&folder);
    return status;
}

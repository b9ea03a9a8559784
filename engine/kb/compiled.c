/* The compiled set of signatures: read from the knowledge base when it is alone, made anew when packs lie over it. */
#include "kb/compiled.h"

#include <stdlib.h>

#include "kb/kb_private.h"
#include "scan/scan.h"

void kb_scan_close(struct kb *kb)
{
    scan_db_free(kb->scan_db);
    kb->scan_db = NULL;
}

/* True when the stored set could be used. */
static bool load_stored(struct kb *kb)
{
    if (!kb->trusted)
        return false;
    struct layer *base = &kb->layers[0];
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(base, "SELECT bytes FROM scan_set", &statement, NULL);
    if (status == DTKB_OK && layer_step(base, statement, &status, NULL)) {
        const void *bytes = sqlite3_column_blob(statement, 0);
        size_t length = (size_t)sqlite3_column_bytes(statement, 0);
        if (bytes && scan_db_load(bytes, length, kb->signatures, kb->signature_count, &kb->scan_db, NULL) != DTKB_OK)
            kb->scan_db = NULL;
    }
    sqlite3_finalize(statement);
    return kb->scan_db != NULL;
}

void kb_trust_compiled(struct kb *kb)
{
    kb->trusted = true;
}

dtkb_status kb_scan_db(struct kb *kb, const struct scan_db **out, struct err *err)
{
    const struct signature *signatures;
    size_t count;
    dtkb_status status = kb_signatures(kb, &signatures, &count, err);
    if (status != DTKB_OK)
        return status;
    if (!kb->scan_db && !(kb->layer_count == 1 && load_stored(kb)))
        status = scan_db_build(signatures, count, &kb->scan_db, err);
    if (status == DTKB_OK)
        *out = kb->scan_db;
    return status;
}

/* All signatures of the packs in the order in which store_add_pack() numbers them. */
static dtkb_status gather(const struct pack *packs, size_t pack_count, struct signature **out, size_t *out_count, struct err *err)
{
    size_t capacity = 0, count = 0;
    uint32_t cause = 0;
    for (size_t i = 0; i < pack_count; i++)
        for (size_t j = 0; j < packs[i].cause_count; j++)
            capacity += packs[i].causes[j].signature_count;
    struct signature *all = calloc(capacity + 1, sizeof *all);
    if (!all)
        return err_nomem(err);
    for (size_t i = 0; i < pack_count; i++)
        for (size_t j = 0; j < packs[i].cause_count; j++, cause++)
            for (size_t k = 0; k < packs[i].causes[j].signature_count; k++) {
                const struct pack_signature *source = &packs[i].causes[j].signatures[k];
                struct err why = {0};
                dtkb_status status = scan_check_signature(&source->signature, &why);
                if (status != DTKB_OK) {
                    free(all);
                    return err_set(err, status, "%s:%d: signature %s: %s", packs[i].file, source->line, source->signature.id, why.text);
                }
                all[count] = source->signature;
                all[count++].cause = cause;
            }
    *out = all;
    *out_count = count;
    return DTKB_OK;
}

dtkb_status compiled_store(struct store *store, const struct pack *packs, size_t count, struct err *err)
{
    struct signature *signatures = NULL;
    struct scan_db *db = NULL;
    void *bytes = NULL;
    size_t signature_count = 0, length = 0;
    dtkb_status status = gather(packs, count, &signatures, &signature_count, err);
    if (status == DTKB_OK)
        status = scan_db_build(signatures, signature_count, &db, err);
    if (status == DTKB_OK)
        status = scan_db_save(db, &bytes, &length, err);
    if (status == DTKB_OK)
        status = store_set_scan_set(store, bytes, length, err);
    free(bytes);
    scan_db_free(db);
    free(signatures);
    return status;
}

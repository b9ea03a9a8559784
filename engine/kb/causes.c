/* Causes and signatures of all layers: a cause of an upper layer takes the place of one below with the same id. */
#include "kb/kb_private.h"

#include <stdlib.h>
#include <string.h>

#include "kb/card.h"

#define COUNT_MAX 1000000 /* causes or signatures of a sane knowledge base */

static struct cause_entry *find(struct kb *kb, const char *id)
{
    for (size_t i = 0; i < kb->cause_count; i++)
        if (strcmp(kb->causes[i].brief.id, id) == 0)
            return &kb->causes[i];
    return NULL;
}

static struct cause_entry *append(struct kb *kb)
{
    if (kb->cause_count == COUNT_MAX)
        return NULL;
    if ((kb->cause_count & (kb->cause_count - 1)) == 0) {
        size_t capacity = kb->cause_count ? kb->cause_count * 2 : 1;
        struct cause_entry *grown = realloc(kb->causes, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        kb->causes = grown;
    }
    struct cause_entry *entry = &kb->causes[kb->cause_count++];
    *entry = (struct cause_entry){0};
    return entry;
}

static dtkb_status read_brief(struct kb *kb, struct layer *layer, sqlite3_stmt *statement, struct err *err)
{
    struct cause brief = {.generic = sqlite3_column_int(statement, 4) != 0};
    const char **texts[] = {&brief.id, &brief.symptom, &brief.fix};
    for (int i = 0; i < 3; i++) {
        if (!layer_text(&kb->arena, statement, i + 1, texts[i]))
            return err_nomem(err);
        if (!*texts[i])
            return layer_damaged(layer, "causes", err);
    }
    /* Within a layer ids are unique, so only an upper layer can meet one that is there. */
    struct cause_entry *entry = layer == &kb->layers[0] ? NULL : find(kb, brief.id);
    if (!entry && !(entry = append(kb)))
        return err_nomem(err);
    brief.index = (uint32_t)(entry - kb->causes);
    *entry = (struct cause_entry){.layer = layer, .row = sqlite3_column_int64(statement, 0), .brief = brief};
    return DTKB_OK;
}

dtkb_status kb_need_causes(struct kb *kb, struct err *err)
{
    if (kb->causes_ready)
        return DTKB_OK;
    dtkb_status status = DTKB_OK;
    kb->cause_count = 0;
    for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++) {
        struct layer *layer = &kb->layers[i];
        sqlite3_stmt *statement = NULL;
        status = layer_prepare(layer, "SELECT n, id, symptom, fix, generic FROM cause ORDER BY n", &statement, err);
        while (status == DTKB_OK && layer_step(layer, statement, &status, err))
            status = read_brief(kb, layer, statement, err);
        sqlite3_finalize(statement);
    }
    kb->causes_ready = status == DTKB_OK;
    return status;
}

size_t kb_cause_count(struct kb *kb)
{
    return kb_need_causes(kb, NULL) == DTKB_OK ? kb->cause_count : 0;
}

dtkb_status kb_cause_brief(struct kb *kb, uint32_t index, const struct cause **out, struct err *err)
{
    dtkb_status status = kb_need_causes(kb, err);
    if (status != DTKB_OK)
        return status;
    if (index >= kb->cause_count)
        return err_set(err, DTKB_E_NOT_FOUND, "there is no cause %u", index);
    *out = &kb->causes[index].brief;
    return DTKB_OK;
}

static dtkb_status read_whole(struct kb *kb, struct cause_entry *entry, sqlite3_stmt *statement, struct err *err)
{
    const char *body = (const char *)sqlite3_column_text(statement, 0);
    json_t *tree = body ? json_loadb(body, (size_t)sqlite3_column_bytes(statement, 0), 0, NULL) : NULL;
    struct cause *cause = arena_alloc(&kb->arena, sizeof *cause);
    bool ok = tree && cause && card_from_json(&kb->arena, tree, cause) && layer_text(&kb->arena, statement, 1, &cause->pack) &&
              strcmp(cause->id, entry->brief.id) == 0;
    json_decref(tree);
    if (!ok)
        return cause ? layer_damaged(entry->layer, "a cause's body", err) : err_nomem(err);
    cause->index = entry->brief.index;
    entry->whole = cause;
    return DTKB_OK;
}

dtkb_status kb_cause(struct kb *kb, uint32_t index, const struct cause **out, struct err *err)
{
    const struct cause *brief;
    dtkb_status status = kb_cause_brief(kb, index, &brief, err);
    if (status != DTKB_OK)
        return status;
    struct cause_entry *entry = &kb->causes[index];
    if (!entry->whole) {
        sqlite3_stmt *statement = NULL;
        status = layer_prepare(entry->layer, "SELECT body, pack FROM cause WHERE n = ?1", &statement, err);
        if (status == DTKB_OK) {
            sqlite3_bind_int64(statement, 1, entry->row);
            if (layer_step(entry->layer, statement, &status, err))
                status = read_whole(kb, entry, statement, err);
            else if (status == DTKB_OK)
                status = layer_damaged(entry->layer, "a cause is missing", err);
        }
        sqlite3_finalize(statement);
    }
    if (status == DTKB_OK)
        *out = entry->whole;
    return status;
}

dtkb_status kb_cause_by_id(struct kb *kb, const char *id, const struct cause **out, struct err *err)
{
    dtkb_status status = kb_need_causes(kb, err);
    if (status != DTKB_OK)
        return status;
    const struct cause_entry *entry = find(kb, id);
    if (!entry)
        return err_set(err, DTKB_E_NOT_FOUND, "there is no cause '%s'; 'dtkb search' finds issues, 'dtkb kb info' counts causes", id);
    return kb_cause(kb, entry->brief.index, out, err);
}

/* ---- signatures ---- */

static const struct cause_entry *entry_of_row(const struct kb *kb, const struct layer *layer, int64_t row)
{
    for (size_t i = 0; i < kb->cause_count; i++)
        if (kb->causes[i].layer == layer && kb->causes[i].row == row)
            return &kb->causes[i];
    return NULL;
}

static struct signature *append_signature(struct kb *kb)
{
    if (kb->signature_count == COUNT_MAX)
        return NULL;
    if ((kb->signature_count & (kb->signature_count - 1)) == 0) {
        size_t capacity = kb->signature_count ? kb->signature_count * 2 : 1;
        struct signature *grown = realloc(kb->signatures, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        kb->signatures = grown;
    }
    return &kb->signatures[kb->signature_count++];
}

static dtkb_status read_signature(struct kb *kb, const struct layer *layer, sqlite3_stmt *statement, const struct cause_entry *entry,
                                  struct err *err)
{
    struct signature *signature = append_signature(kb);
    if (!signature)
        return err_nomem(err);
    int strength = sqlite3_column_int(statement, 2), effect = sqlite3_column_int(statement, 3), role = sqlite3_column_int(statement, 4);
    *signature = (struct signature){
        .cause = entry->brief.index,
        .strength = (enum sig_strength)strength,
        .effect = (enum sig_effect)effect,
        .role = (enum sig_role)role,
        .is_regex = sqlite3_column_int(statement, 5) != 0,
        .ignore_case = sqlite3_column_int(statement, 6) != 0,
    };
    if (!layer_text(&kb->arena, statement, 1, &signature->id) || !layer_text(&kb->arena, statement, 7, &signature->pattern))
        return err_nomem(err);
    if (!signature->id || !signature->pattern || strength < SIG_WEAK || strength > SIG_PROOF || effect < SIG_FOR || effect > SIG_AGAINST ||
        role < ROLE_UNKNOWN || role > ROLE_TEARDOWN)
        return layer_damaged(layer, "signatures", err);
    return DTKB_OK;
}

static dtkb_status read_layer(struct kb *kb, struct layer *layer, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(
        layer, "SELECT cause, id, strength, effect, role, regex, ignore_case, pattern FROM signature ORDER BY n", &statement, err);
    const struct cause_entry *entry = NULL;
    int64_t row = -1;
    while (status == DTKB_OK && layer_step(layer, statement, &status, err)) {
        int64_t cause = sqlite3_column_int64(statement, 0);
        if (cause != row || !entry) { /* a cause's signatures lie together */
            entry = entry_of_row(kb, layer, cause);
            row = cause;
        }
        if (entry) /* else an upper layer replaced the cause */
            status = read_signature(kb, layer, statement, entry, err);
    }
    sqlite3_finalize(statement);
    return status;
}

dtkb_status kb_signatures(struct kb *kb, const struct signature **out, size_t *count, struct err *err)
{
    dtkb_status status = kb_need_causes(kb, err);
    if (status == DTKB_OK && !kb->signatures_ready) {
        kb->signature_count = 0;
        for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++)
            status = read_layer(kb, &kb->layers[i], err);
        kb->signatures_ready = status == DTKB_OK;
    }
    if (status == DTKB_OK) {
        *out = kb->signatures;
        *count = kb->signature_count;
    }
    return status;
}

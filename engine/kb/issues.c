/* Issues by id or URL; the upper layer's one counts. */
#include "kb/kb_private.h"

#include <string.h>

#include "kb/card.h"

static const char columns[] = "id, url, source, framework, kind, evidence, symptom, topic, raw_label, raw_fix, title, summary, cause, fix,"
                              " is_distributed, fixes, error_lines, components, versions, log, year FROM issue";

static json_t *tree_of(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? json_loadb(text, (size_t)sqlite3_column_bytes(statement, column), 0, NULL) : NULL;
}

static bool list_of(struct arena *arena, sqlite3_stmt *statement, int column, const char ***list, size_t *count)
{
    json_t *tree = tree_of(statement, column);
    bool ok = json_is_array(tree) && strings_from_json(arena, tree, list, count);
    json_decref(tree);
    return ok;
}

static bool versions_of(struct arena *arena, sqlite3_stmt *statement, int column, struct issue *out)
{
    json_t *tree = tree_of(statement, column), *value;
    const char *key;
    out->versions = arena_alloc(arena, (json_object_size(tree) + 1) * sizeof *out->versions);
    bool ok = json_is_object(tree) && out->versions;
    if (ok)
        json_object_foreach(tree, key, value)
        {
            const char *component = arena_strdup(arena, key), *version = arena_strdup(arena, json_string_value(value));
            ok = ok && component && version;
            out->versions[out->version_count].component = component;
            out->versions[out->version_count++].version = version;
        }
    json_decref(tree);
    return ok;
}

static dtkb_status read_issue(const struct layer *layer, sqlite3_stmt *statement, struct arena *arena, struct issue *out, struct err *err)
{
    struct issue issue = {.distributed = -1};
    const char **texts[] = {&issue.id,       &issue.url,     &issue.source, &issue.framework, &issue.kind,
                            &issue.evidence, &issue.symptom, &issue.topic,  &issue.raw_label, &issue.raw_fix,
                            &issue.title,    &issue.summary, &issue.cause,  &issue.fix};
    for (int i = 0; i < 14; i++) {
        if (!layer_text(arena, statement, i, texts[i]))
            return err_nomem(err);
        if (i < 6 && !*texts[i])
            return layer_damaged(layer, "issues", err);
    }
    if (!layer_text(arena, statement, 19, &issue.log))
        return err_nomem(err);
    issue.year = sqlite3_column_int(statement, 20);
    if (sqlite3_column_type(statement, 14) != SQLITE_NULL)
        issue.distributed = sqlite3_column_int(statement, 14) != 0;
    if (!list_of(arena, statement, 15, &issue.fixes, &issue.fix_count) ||
        !list_of(arena, statement, 16, &issue.error_lines, &issue.error_line_count) ||
        !list_of(arena, statement, 17, &issue.components, &issue.component_count) || !versions_of(arena, statement, 18, &issue))
        return layer_damaged(layer, "lists of an issue", err);
    *out = issue;
    return DTKB_OK;
}

/* The statement that finds an issue of a layer by id or URL, reset; NULL when it cannot be prepared. */
static sqlite3_stmt *finder(struct layer *layer, bool by_url, dtkb_status *status, struct err *err)
{
    sqlite3_stmt **statement = by_url ? &layer->find_url : &layer->find_issue;
    if (!*statement) {
        char sql[400];
        sqlite3_snprintf(sizeof sql, sql, "SELECT %s WHERE %s = ?1 ORDER BY n LIMIT 1", columns, by_url ? "url" : "id");
        *status = layer_prepare(layer, sql, statement, err);
    }
    return *status == DTKB_OK ? *statement : NULL;
}

dtkb_status kb_issue_by_id(struct kb *kb, const char *id, struct arena *arena, struct issue *out, struct err *err)
{
    bool by_url = strstr(id, "://") != NULL, found = false;
    dtkb_status status = DTKB_OK;
    for (size_t i = kb->layer_count; i-- > 0 && !found && status == DTKB_OK;) {
        struct layer *layer = &kb->layers[i];
        sqlite3_stmt *statement = finder(layer, by_url, &status, err);
        if (!statement)
            break;
        sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
        found = layer_step(layer, statement, &status, err);
        if (found)
            status = read_issue(layer, statement, arena, out, err);
        sqlite3_reset(statement);
        sqlite3_clear_bindings(statement);
    }
    if (status == DTKB_OK && !found)
        status = err_set(err, DTKB_E_NOT_FOUND, "there is no issue '%.200s'; 'dtkb search WORDS' lists ids", id);
    return status;
}

bool kb_issue_overridden(struct kb *kb, const struct layer *layer, const char *id)
{
    for (size_t i = kb->layer_count; i-- > 0 && &kb->layers[i] != layer;) {
        dtkb_status status = DTKB_OK;
        sqlite3_stmt *statement = finder(&kb->layers[i], false, &status, NULL);
        if (!statement)
            continue;
        sqlite3_bind_text(statement, 1, id, -1, SQLITE_STATIC);
        bool found = layer_step(&kb->layers[i], statement, &status, NULL);
        sqlite3_reset(statement);
        if (found)
            return true;
    }
    return false;
}

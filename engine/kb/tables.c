#include "kb/tables.h"

#include <stdlib.h>
#include <string.h>

#include "kb/card.h"
#include "kb/kb_private.h"

/* ---- counting ---- */

/* Counts by name: a JSON object of integers, ordered by first sight. */
static void count(json_t *counts, const char *name)
{
    if (name)
        json_object_set_new(counts, name, json_integer(json_integer_value(json_object_get(counts, name)) + 1));
}

struct tally {
    json_t *kinds, *threads, *stages, *symptoms, *fixes, *fixes_by_symptom, *topics, *frameworks, *sources, *evidence;
};

static void count_fixes(struct tally *tally, const char *symptom, const char *list)
{
    json_t *fixes = list ? json_loads(list, 0, NULL) : NULL, *fix;
    size_t i;
    if (symptom && !json_object_get(tally->fixes_by_symptom, symptom))
        json_object_set_new(tally->fixes_by_symptom, symptom, json_object());
    json_array_foreach(fixes, i, fix)
    {
        count(tally->fixes, json_string_value(fix));
        if (symptom)
            count(json_object_get(tally->fixes_by_symptom, symptom), json_string_value(fix));
    }
    json_decref(fixes);
}

static void count_issue(struct tally *tally, sqlite3_stmt *row)
{
    const char *kind = (const char *)sqlite3_column_text(row, 1), *url = (const char *)sqlite3_column_text(row, 2);
    const char *symptom = (const char *)sqlite3_column_text(row, 3), *framework = (const char *)sqlite3_column_text(row, 5);
    count(tally->kinds, kind);
    if (kind && strcmp(kind, "report") == 0) /* no row of the study: counted, but not among its figures */
        return;
    if (url)
        json_object_set_new(tally->threads, url, json_true());
    count(tally->symptoms, symptom);
    count(tally->topics, (const char *)sqlite3_column_text(row, 4));
    for (const char *word = framework; word && *word;) {
        char name[64];
        size_t length = strcspn(word, " ");
        (void)sqlite3_snprintf(sizeof name, name, "%.*s", (int)length, word);
        count(tally->frameworks, name);
        word += length + strspn(word + length, " ");
    }
    count(tally->sources, (const char *)sqlite3_column_text(row, 6));
    count(tally->evidence, (const char *)sqlite3_column_text(row, 7));
    if (symptom) {
        char stage[64];
        (void)sqlite3_snprintf(sizeof stage, stage, "%.*s", (int)strcspn(symptom, "/"), symptom);
        count(tally->stages, stage);
    }
    count_fixes(tally, symptom, (const char *)sqlite3_column_text(row, 8));
}

static dtkb_status count_layers(struct kb *kb, struct tally *tally, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++) {
        struct layer *layer = &kb->layers[i];
        sqlite3_stmt *row = NULL;
        status = layer_prepare(layer, "SELECT id, kind, url, symptom, topic, framework, source, evidence, fixes FROM issue ORDER BY n",
                               &row, err);
        while (status == DTKB_OK && layer_step(layer, row, &status, err)) {
            const char *id = (const char *)sqlite3_column_text(row, 0);
            if (id && !kb_issue_overridden(kb, layer, id))
                count_issue(tally, row);
        }
        sqlite3_finalize(row);
    }
    return status;
}

/* ---- tables ---- */

static int by_count(const void *left, const void *right)
{
    json_int_t a = json_integer_value(json_object_get(*(json_t *const *)left, "count"));
    json_int_t b = json_integer_value(json_object_get(*(json_t *const *)right, "count"));
    if (a != b)
        return a > b ? -1 : 1;
    return strcmp(json_string_value(json_object_get(*(json_t *const *)left, "id")),
                  json_string_value(json_object_get(*(json_t *const *)right, "id")));
}

/* [{id, title, count}], the commonest first. */
static json_t *table(struct kb *kb, const json_t *counts)
{
    size_t size = json_object_size(counts), n = 0;
    json_t **rows = calloc(size + 1, sizeof *rows), *out = json_array(), *value;
    const char *id;
    if (rows)
        json_object_foreach((json_t *)(uintptr_t)counts, id, value)
        {
            json_t *row = json_object();
            const char *title = kb_label_title(kb, id);
            json_object_set_new(row, "id", json_string(id));
            if (title)
                json_object_set_new(row, "title", json_string(title));
            json_object_set(row, "count", value);
            rows[n++] = row;
        }
    if (n)
        qsort(rows, n, sizeof *rows, by_count);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(out, rows[i]);
    free(rows);
    return out;
}

static json_t *fixes_table(struct kb *kb, const json_t *symptoms, const json_t *fixes_by_symptom)
{
    json_t *out = json_array(), *sorted = table(kb, symptoms), *row;
    size_t i;
    json_array_foreach(sorted, i, row)
    {
        json_t *fixes = table(kb, json_object_get(fixes_by_symptom, json_string_value(json_object_get(row, "id"))));
        json_t *entry = json_object();
        json_object_set(entry, "symptom", json_object_get(row, "id"));
        json_object_set_new(entry, "fixes", fixes);
        json_array_append_new(out, entry);
    }
    json_decref(sorted);
    return out;
}

static json_t *totals(const struct tally *tally)
{
    json_int_t faults = json_integer_value(json_object_get(tally->kinds, "fault"));
    json_int_t how_to = json_integer_value(json_object_get(tally->kinds, "how-to"));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "issues", faults + how_to, "faults", faults, "how_to", how_to, "threads",
                     (json_int_t)json_object_size(tally->threads), "symptoms", (json_int_t)json_object_size(tally->symptoms), "reports",
                     json_integer_value(json_object_get(tally->kinds, "report")));
}

dtkb_status kb_stats(struct kb *kb, json_t **out, struct err *err)
{
    struct tally tally;
    json_t **all[] = {&tally.kinds,  &tally.threads,    &tally.stages,  &tally.symptoms, &tally.fixes, &tally.fixes_by_symptom,
                      &tally.topics, &tally.frameworks, &tally.sources, &tally.evidence};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        *all[i] = json_object();
    dtkb_status status = count_layers(kb, &tally, err);
    if (status == DTKB_OK) {
        *out = json_object();
        json_object_set_new(*out, "totals", totals(&tally));
        json_object_set_new(*out, "stages", table(kb, tally.stages));
        json_object_set_new(*out, "symptoms", table(kb, tally.symptoms));
        json_object_set_new(*out, "fix_patterns", table(kb, tally.fixes));
        json_object_set_new(*out, "fixes_by_symptom", fixes_table(kb, tally.symptoms, tally.fixes_by_symptom));
        json_object_set_new(*out, "topics", table(kb, tally.topics));
        json_object_set_new(*out, "frameworks", table(kb, tally.frameworks));
        json_object_set_new(*out, "sources", table(kb, tally.sources));
        json_object_set_new(*out, "evidence", table(kb, tally.evidence));
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        json_decref(*all[i]);
    return status;
}

/* ---- taxonomy ---- */

static json_t *label_to_json(const struct kb_label *label)
{
    json_t *object = json_pack("{s:s, s:s}", "id", label->id, "title", label->title);
    if (label->definition)
        json_object_set_new(object, "definition", json_string(label->definition));
    return object;
}

/* Labels of a kind; each with its children of kind `below` under `key`. */
static json_t *labels_to_json(const struct kb *kb, const char *kind, const char *below, const char *key)
{
    json_t *out = json_array();
    for (size_t i = 0; i < kb->label_count; i++) {
        const struct kb_label *label = &kb->labels[i];
        if (strcmp(label->kind, kind) != 0)
            continue;
        json_t *object = label_to_json(label), *children = json_array();
        for (size_t j = 0; below && j < kb->label_count; j++)
            if (strcmp(kb->labels[j].kind, below) == 0 && kb->labels[j].parent && strcmp(kb->labels[j].parent, label->id) == 0)
                json_array_append_new(children, label_to_json(&kb->labels[j]));
        if (below)
            json_object_set(object, key, children);
        json_decref(children);
        json_array_append_new(out, object);
    }
    return out;
}

dtkb_status kb_taxonomy(struct kb *kb, json_t **out, struct err *err)
{
    dtkb_status status = kb_need_labels(kb, err);
    if (status != DTKB_OK)
        return status;
    *out = json_object();
    json_object_set_new(*out, "stages", labels_to_json(kb, "stage", "symptom", "symptoms"));
    json_object_set_new(*out, "fix_patterns", labels_to_json(kb, "fix-pattern", NULL, NULL));
    json_object_set_new(*out, "topics", labels_to_json(kb, "topic", "subtopic", "subtopics"));
    return DTKB_OK;
}

/* ---- layers ---- */

static dtkb_status layer_to_json(const struct layer *layer, json_t *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    json_object_set_new(out, "file", json_string(layer->name));
    json_object_set_new(out, "kind", json_string(layer->trusted ? "pack" : "database"));
    json_object_set_new(out, "schema", json_integer(STORE_SCHEMA));
    dtkb_status status = layer_prepare(layer, "SELECT key, value FROM meta ORDER BY key", &row, err);
    while (status == DTKB_OK && layer_step(layer, row, &status, err)) {
        const char *key = (const char *)sqlite3_column_text(row, 0);
        if (key)
            json_object_set_new(out, key, json_integer(sqlite3_column_int64(row, 1)));
    }
    sqlite3_finalize(row);
    return status;
}

dtkb_status kb_info(struct kb *kb, json_t **out, struct err *err)
{
    const struct signature *signatures;
    size_t signature_count = 0;
    json_t *layers = json_array();
    dtkb_status status = kb_signatures(kb, &signatures, &signature_count, err);
    for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++) {
        json_t *object = json_object();
        status = layer_to_json(&kb->layers[i], object, err);
        json_array_append_new(layers, object);
    }
    if (status == DTKB_OK)
        *out = json_pack("{s:O, s:I, s:I}", "layers", layers, "causes", (json_int_t)kb->cause_count, "signatures",
                         (json_int_t)signature_count);
    json_decref(layers);
    return status;
}

/* ---- an issue ---- */

json_t *issue_to_json(const struct issue *issue)
{
    const struct {
        const char *key, *value;
    } texts[] = {{"id", issue->id},
                 {"url", issue->url},
                 {"source", issue->source},
                 {"framework", issue->framework},
                 {"kind", issue->kind},
                 {"evidence", issue->evidence},
                 {"symptom", issue->symptom},
                 {"topic", issue->topic},
                 {"title", issue->title},
                 {"summary", issue->summary},
                 {"cause", issue->cause},
                 {"fix", issue->fix},
                 {"raw_label", issue->raw_label},
                 {"raw_fix", issue->raw_fix},
                 {"log", issue->log}};
    json_t *out = json_object(), *versions = json_object();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].value)
            json_object_set_new(out, texts[i].key, json_string(texts[i].value));
    if (issue->year)
        json_object_set_new(out, "year", json_integer(issue->year));
    if (issue->distributed >= 0)
        json_object_set_new(out, "distributed", json_boolean(issue->distributed));
    json_object_set_new(out, "fixes", strings_to_json(issue->fixes, issue->fix_count));
    json_object_set_new(out, "error_lines", strings_to_json(issue->error_lines, issue->error_line_count));
    json_object_set_new(out, "components", strings_to_json(issue->components, issue->component_count));
    for (size_t i = 0; i < issue->version_count; i++)
        json_object_set_new(versions, issue->versions[i].component, json_string(issue->versions[i].version));
    json_object_set_new(out, "versions", versions);
    return out;
}

/* Joining reports of several ranks or nodes. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"

static const char *string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static json_t *find_by(json_t *list, const char *key, const char *value)
{
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) if (!strcmp(string(entry, key), value)) return entry;
    return NULL;
}

/* Insertion by confidence, best first; equal ones keep their order, so merging is deterministic. */
static void sort_by_confidence(json_t *list)
{
    for (size_t i = 1; i < json_array_size(list); i++) {
        json_t *entry = json_incref(json_array_get(list, i));
        double confidence = json_number_value(json_object_get(entry, "confidence"));
        size_t at = i;
        while (at > 0 && json_number_value(json_object_get(json_array_get(list, at - 1), "confidence")) < confidence)
            at--;
        json_array_remove(list, i);
        json_array_insert_new(list, at, entry);
    }
}

/* Joins entries of the same key: the surest wins, evidence is put together. */
static void join_list(json_t *into, const json_t *from, const char *key)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(from, i, entry)
    {
        json_t *known = find_by(into, key, string(entry, key));
        if (!known) {
            json_array_append_new(into, json_deep_copy(entry));
            continue;
        }
        json_array_extend(json_object_get(known, "evidence"), json_object_get(entry, "evidence"));
        if (json_number_value(json_object_get(entry, "confidence")) > json_number_value(json_object_get(known, "confidence")))
            json_object_set(known, "confidence", json_object_get(entry, "confidence"));
    }
    sort_by_confidence(into);
}

static const char *source_name(const json_t *report, size_t index, char *out, size_t size)
{
    const char *name = string(json_array_get(json_object_get(report, "input"), 0), "name");
    if (*name)
        (void)snprintf(out, size, "%s", name);
    else
        (void)snprintf(out, size, "report %zu", index + 1);
    return out;
}

/* Facts that differ between reports: whose driver, NCCL, interface, variable is not like the others'. */
static void add_differences(const dtkb_doc *const *reports, size_t count, json_t *differences)
{
    const json_t *first = json_object_get(reports[0]->tree, "facts"), *fact;
    size_t i;
    json_array_foreach(first, i, fact)
    {
        const char *name = string(fact, "name");
        bool differs = false;
        json_t *values = json_array();
        for (size_t r = 0; r < count; r++) {
            char source[256];
            const json_t *other = find_by(json_object_get(reports[r]->tree, "facts"), "name", name);
            const json_t *value = other ? json_object_get(other, "value") : NULL;
            differs = differs || !value || !json_equal(value, json_object_get(fact, "value"));
            json_array_append_new(values, json_pack("{s:s, s:O}", "report", source_name(reports[r]->tree, r, source, sizeof source),
                                                    "value", value ? value : json_null()));
        }
        bool telling = strstr(name, "version") || !strncmp(name, "env.", 4) || !strncmp(name, "net.nccl", 8) ||
                       !strncmp(name, "host.clock", 10) || strstr(name, ".path") || strstr(name, ".status");
        if (differs && telling)
            json_array_append_new(differences, json_pack("{s:s, s:O}", "fact", name, "values", values));
        json_decref(values);
    }
}

static void join_report(json_t *into, const json_t *from)
{
    static const char *const plain[] = {"input", "evidence", "facts", "probes", "next"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        json_array_extend(json_object_get(into, plain[i]), json_object_get(from, plain[i]));
    join_list(json_object_get(into, "causes"), json_object_get(from, "causes"), "id");
    join_list(json_object_get(into, "symptoms"), json_object_get(from, "symptoms"), "id");
    join_list(json_object_get(into, "fixes"), json_object_get(from, "fixes"), "pattern");
    join_list(json_object_get(into, "similar"), json_object_get(from, "similar"), "id");
    json_object_update_missing(json_object_get(into, "versions"), json_object_get(from, "versions"));
    const char *verdict = string(from, "verdict"), *known = string(into, "verdict");
    if (!strcmp(verdict, "fault") || !strcmp(known, "no-fault"))
        json_object_set(into, "verdict", json_object_get(from, "verdict"));
    if (json_is_null(json_object_get(into, "first_failing_rank")))
        json_object_set(into, "first_failing_rank", json_object_get(from, "first_failing_rank"));
}

dtkb_status dtkb_merge(const dtkb_doc *const *reports, size_t count, dtkb_doc **out, char *error, size_t error_size)
{
    struct err err = {0};
    for (size_t i = 0; i < count; i++)
        if (strcmp(string(reports[i]->tree, "schema"), "dtkb.report/1") != 0) {
            err_set(&err, DTKB_E_USAGE, "document %zu is a %s, not a report", i + 1, string(reports[i]->tree, "schema"));
            return api_report(&err, error, error_size);
        }
    if (!count) {
        err_set(&err, DTKB_E_USAGE, "no report to merge");
        return api_report(&err, error, error_size);
    }
    json_t *merged = json_deep_copy(reports[0]->tree), *differences = json_array();
    for (size_t i = 1; merged && i < count; i++)
        join_report(merged, reports[i]->tree);
    add_differences(reports, count, differences);
    if (merged)
        json_object_set(merged, "differences", differences);
    json_decref(differences);
    doc_new(merged, out, &err);
    return api_report(&err, error, error_size);
}

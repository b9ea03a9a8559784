#include "api/merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVIDENCE_MAX 64 /* of one cause; a job of a thousand ranks says the same a thousand times */

const char *merge_string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double confidence_of(const json_t *entry)
{
    return json_number_value(json_object_get(entry, "confidence"));
}

/* Insertion by confidence, best first; equal ones keep their order, so merging is deterministic. */
static void sort_by_confidence(json_t *list)
{
    for (size_t i = 1; i < json_array_size(list); i++) {
        json_t *entry = json_incref(json_array_get(list, i));
        size_t at = i;
        while (at > 0 && confidence_of(json_array_get(list, at - 1)) < confidence_of(entry))
            at--;
        json_array_remove(list, i);
        json_array_insert_new(list, at, entry);
    }
}

/* Appends what is not in yet; `seen` remembers entries by their text. */
static void extend_unique(json_t *into, const json_t *from, json_t *seen, const char *prefix, size_t limit)
{
    size_t i;
    json_t *entry;
    json_array_foreach(from, i, entry)
    {
        char *text = json_array_size(into) < limit ? json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS) : NULL, *key = NULL;
        if (text && asprintf(&key, "%s %s", prefix, text) > 0 && !json_object_get(seen, key)) {
            json_object_set_new(seen, key, json_true());
            json_array_append(into, entry);
        }
        free(text);
        free(key);
    }
}

/* What a rank that merely lost its peer keeps of its confidence where another rank's report says how it began. */
#define FOLLOWER_SHARE 0.4

static double share_of(const struct source *sources, size_t count, const struct source *source)
{
    for (size_t r = 0; source->follows && r < count; r++)
        if (sources[r].begins)
            return FOLLOWER_SHARE;
    return 1.0;
}

/* One list of all reports' entries: those of the same key become one, the surest wins, evidence is put together. */
static json_t *join_list(const struct source *sources, size_t count, const char *list, const char *key)
{
    json_t *joined = json_array(), *known = json_object(), *seen = json_object();
    for (size_t r = 0; r < count; r++) {
        size_t i;
        const json_t *entry;
        double share = share_of(sources, count, &sources[r]);
        json_array_foreach(json_object_get(sources[r].report, list), i, entry)
        {
            const char *id = merge_string(entry, key);
            json_t *mine = json_object_get(known, id);
            if (!mine) {
                mine = json_deep_copy(entry);
                json_object_set(known, id, mine);
                json_array_append_new(joined, mine);
                if (json_object_get(mine, "evidence"))
                    json_object_set_new(mine, "evidence", json_array());
                if (json_object_get(mine, "confidence"))
                    json_object_set_new(mine, "confidence", json_real(round(confidence_of(entry) * share * 1000.0) / 1000.0));
            }
            extend_unique(json_object_get(mine, "evidence"), json_object_get(entry, "evidence"), seen, id, EVIDENCE_MAX);
            if (confidence_of(entry) * share > confidence_of(mine))
                json_object_set_new(mine, "confidence", json_real(round(confidence_of(entry) * share * 1000.0) / 1000.0));
            if (!strcmp(merge_string(entry, "verified"), "yes"))
                json_object_set(mine, "verified", json_object_get(entry, "verified"));
        }
    }
    sort_by_confidence(joined);
    json_decref(known);
    json_decref(seen);
    return joined;
}

static json_t *join_plain(const struct source *sources, size_t count, const char *list)
{
    json_t *joined = json_array(), *seen = json_object();
    for (size_t r = 0; r < count; r++)
        extend_unique(joined, json_object_get(sources[r].report, list), seen, "", SIZE_MAX);
    json_decref(seen);
    return joined;
}

/* Facts once per value, probes once per result, each with the reports that say so. */
static json_t *join_told(const struct source *sources, size_t count, const char *list, const char *const *keys)
{
    json_t *joined = json_array(), *known = json_object();
    for (size_t r = 0; r < count; r++) {
        size_t i;
        const json_t *entry;
        json_array_foreach(json_object_get(sources[r].report, list), i, entry)
        {
            json_t *parts = json_array();
            for (size_t k = 0; keys[k]; k++)
                json_array_append(parts, json_object_get(entry, keys[k]));
            char *text = json_dumps(parts, JSON_COMPACT);
            json_t *mine = text ? json_object_get(known, text) : NULL;
            if (text && !mine) {
                mine = json_copy((json_t *)entry);
                json_object_set_new(mine, "reports", json_array());
                json_object_set(known, text, mine);
                json_array_append_new(joined, mine);
            }
            json_array_append_new(json_object_get(mine, "reports"), json_string(sources[r].name));
            free(text);
            json_decref(parts);
        }
    }
    json_decref(known);
    return joined;
}

/* The worst of all verdicts, and the rank on which the first report that knows saw it begin. */
static void join_verdict(json_t *merged, const struct source *sources, size_t count)
{
    static const char *const verdicts[] = {"no-fault", "unknown", "fault"};
    size_t worst = 0;
    bool sure = false; /* the rank comes from a report that says how it began */
    json_t *rank = NULL;
    for (size_t r = 0; r < count; r++) {
        for (size_t v = worst + 1; v < 3; v++)
            if (!strcmp(merge_string(sources[r].report, "verdict"), verdicts[v]))
                worst = v;
        json_t *told = json_object_get(sources[r].report, "first_failing_rank");
        if (json_is_integer(told) && (!rank || (sources[r].begins && !sure))) {
            rank = told;
            sure = sources[r].begins;
        }
    }
    json_object_set_new(merged, "verdict", json_string(verdicts[worst]));
    json_object_set_new(merged, "first_failing_rank", rank ? json_incref(rank) : json_null());
}

static json_t *join(const struct source *sources, size_t count)
{
    static const char *const fact_keys[] = {"name", "value", NULL}, *const probe_keys[] = {"name", "status", "reason", NULL};
    json_t *merged = json_object(), *versions = json_object();
    for (size_t r = 0; r < count; r++)
        json_object_update_missing(versions, json_object_get(sources[r].report, "versions"));
    json_object_set_new(merged, "schema", json_string("dtkb.report/1"));
    json_object_set_new(merged, "input", join_plain(sources, count, "input"));
    join_verdict(merged, sources, count);
    json_object_set_new(merged, "symptoms", join_list(sources, count, "symptoms", "id"));
    json_object_set_new(merged, "fixes", join_list(sources, count, "fixes", "pattern"));
    json_object_set_new(merged, "causes", join_list(sources, count, "causes", "id"));
    json_object_set_new(merged, "evidence", join_plain(sources, count, "evidence"));
    json_object_set_new(merged, "similar", join_list(sources, count, "similar", "id"));
    json_object_set_new(merged, "next", join_plain(sources, count, "next"));
    json_object_set_new(merged, "versions", versions);
    json_object_set_new(merged, "facts", join_told(sources, count, "facts", fact_keys));
    json_object_set_new(merged, "probes", join_told(sources, count, "probes", probe_keys));
    json_t *trials = join_plain(sources, count, "trials");
    if (json_array_size(trials))
        json_object_set(merged, "trials", trials);
    json_decref(trials);
    json_object_set_new(merged, "joined", merge_ranks(sources, count));
    json_object_set_new(merged, "differences", merge_differences(sources, count));
    return merged;
}

static int by_rank(const void *left, const void *right)
{
    const struct source *l = left, *r = right;
    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    return (l->position > r->position) - (l->position < r->position);
}

static void name_source(struct source *source)
{
    const json_t *job = json_object_get(source->report, "job"), *rank = json_object_get(job, "rank");
    const char *input = merge_string(json_array_get(json_object_get(source->report, "input"), 0), "name");
    source->rank = json_is_integer(rank) ? json_integer_value(rank) : -1;
    if (source->rank >= 0)
        (void)snprintf(source->name, sizeof source->name, "rank %lld on %s", (long long)source->rank, merge_string(job, "host"));
    else if (*input)
        (void)snprintf(source->name, sizeof source->name, "%s", input);
    else
        (void)snprintf(source->name, sizeof source->name, "report %zu", source->position + 1);
}

/* How this report's best cause came to be: see `follows` and `begins`. */
static void judge_source(struct source *source)
{
    size_t i, cascade = 0;
    const json_t *evidence;
    json_array_foreach(json_object_get(json_array_get(json_object_get(source->report, "causes"), 0), "evidence"), i, evidence)
    {
        const char *role = merge_string(evidence, "role");
        cascade += !strcmp(role, "cascade");
        source->begins = source->begins || !strcmp(role, "initiating") || json_object_get(evidence, "fact");
    }
    source->follows = cascade > 0 && !source->begins;
}

dtkb_status dtkb_merge(const dtkb_doc *const *reports, size_t count, dtkb_doc **out, char *error, size_t error_size)
{
    struct err err = {0};
    if (!count) {
        err_set(&err, DTKB_E_USAGE, "no report to merge");
        return api_report(&err, error, error_size);
    }
    struct source *sources = calloc(count, sizeof *sources);
    if (!sources) {
        err_nomem(&err);
        return api_report(&err, error, error_size);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *tree = reports[i]->tree;
        if (strcmp(merge_string(tree, "schema"), "dtkb.report/1") != 0) {
            err_set(&err, DTKB_E_USAGE, "document %zu is a %s, not a report", i + 1, merge_string(tree, "schema"));
            free(sources);
            return api_report(&err, error, error_size);
        }
        sources[i] = (struct source){.report = tree, .position = i};
        name_source(&sources[i]);
        judge_source(&sources[i]);
    }
    qsort(sources, count, sizeof *sources, by_rank);
    doc_new(join(sources, count), out, &err);
    free(sources);
    return api_report(&err, error, error_size);
}

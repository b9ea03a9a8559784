#include "report/access.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *get_string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

double get_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

long long get_integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

void add_place(struct buf *out, const json_t *evidence)
{
    buf_adds(out, get_string(evidence, "file"));
    if (get_integer(evidence, "line") > 0)
        buf_addf(out, ":%lld", get_integer(evidence, "line"));
}

const json_t *get_list(const json_t *object, const char *key)
{
    return json_object_get(object, key);
}

bool get_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

const json_t *best_cause(const json_t *report)
{
    return json_array_get(json_object_get(report, "causes"), 0);
}

void add_scalar(struct buf *out, const json_t *value)
{
    if (json_is_string(value)) {
        buf_adds(out, json_string_value(value));
    } else if (json_is_number(value) || json_is_boolean(value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        buf_adds(out, text ? text : "");
        free(text);
    }
}

const char *sureness(double confidence)
{
    return confidence >= 0.9 ? "almost certainly" : confidence >= 0.7 ? "very likely" : confidence >= 0.45 ? "probably" : "possibly";
}

void add_headline(struct buf *out, const json_t *report)
{
    const json_t *cause = best_cause(report);
    const char *verdict = get_string(report, "verdict");
    if (!strcmp(verdict, "no-fault")) {
        buf_adds(out, "No fault found.");
    } else if (cause) {
        const char *how = sureness(get_number(cause, "confidence"));
        buf_addc(out, (char)toupper((unsigned char)*how));
        buf_addf(out, "%s: %s (%.0f %%)", how + 1, get_string(cause, "title"), get_number(cause, "confidence") * 100);
    } else if (!strcmp(verdict, "fault")) {
        buf_adds(out, "A fault, but no cause in the knowledge base explains it.");
    } else if (json_array_size(json_object_get(report, "evidence"))) {
        buf_adds(out, "No confident match: something looks like an error, but nothing known explains it.");
    } else {
        buf_adds(out, "No confident match: no line complains plainly, but the job was not seen to train.");
    }
}

static bool source_of(const json_t *evidence_list, const char **file, long long *line)
{
    size_t i;
    const json_t *evidence;
    json_array_foreach(evidence_list, i, evidence)
    {
        const json_t *source = json_object_get(evidence, "source");
        if (source && *get_string(source, "file")) {
            *file = get_string(source, "file");
            *line = get_integer(source, "line");
            return true;
        }
    }
    return false;
}

static bool line_of(const json_t *evidence_list, const char **file, long long *line)
{
    size_t i;
    const json_t *evidence;
    json_array_foreach(evidence_list, i, evidence)
    {
        if (!*get_string(evidence, "file"))
            continue;
        *file = get_string(evidence, "file");
        *line = get_integer(evidence, "line");
        return true;
    }
    return false;
}

bool best_location(const json_t *report, const char **file, long long *line)
{
    const json_t *of_cause = json_object_get(best_cause(report), "evidence"), *all = json_object_get(report, "evidence");
    return source_of(of_cause, file, line) || source_of(all, file, line) || line_of(of_cause, file, line) || line_of(all, file, line);
}

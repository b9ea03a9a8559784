/* SARIF 2.1.0: one result per cause, at the user's own line of code where a traceback tells it. */
#include <ctype.h>
#include <string.h>

#include "report/access.h"
#include "report/formats.h"

/* A path as a URI reference: absolute ones get the file scheme, everything unusual is percent-encoded. */
static json_t *uri_json(const char *path)
{
    struct buf uri = {0};
    if (*path == '/')
        buf_adds(&uri, "file://");
    for (const char *p = path; *p; p++) {
        if (isalnum((unsigned char)*p) || strchr("/-._~", *p))
            buf_addc(&uri, *p);
        else
            buf_addf(&uri, "%%%02X", (unsigned char)*p);
    }
    json_t *string = json_string(buf_text(&uri));
    buf_free(&uri);
    return string;
}

static json_t *location_json(const char *file, long long line, const char *message)
{
    json_t *physical = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri_json(file));
    if (line > 0)
        json_object_set_new(physical, "region", json_pack("{s:I}", "startLine", (json_int_t)line));
    json_t *location = json_pack("{s:o}", "physicalLocation", physical);
    if (message)
        json_object_set_new(location, "message", json_pack("{s:s}", "text", message));
    return location;
}

static json_t *rule_json(const json_t *cause)
{
    struct buf help = {0};
    size_t i;
    const json_t *remedy;
    json_array_foreach(get_list(cause, "remedies"), i, remedy)
    {
        buf_addf(&help, "%zu. %s\n", i + 1, get_string(remedy, "text"));
        if (*get_string(remedy, "command"))
            buf_addf(&help, "   %s\n", get_string(remedy, "command"));
    }
    json_t *rule = json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:s}, s:{s:[s,s]}}", "id", get_string(cause, "id"), "shortDescription", "text",
                             get_string(cause, "title"), "fullDescription", "text", get_string(cause, "explanation"), "help", "text",
                             help.length ? buf_text(&help) : "no remedy known", "properties", "tags", get_string(cause, "symptom"),
                             get_string(cause, "fix"));
    buf_free(&help);
    return rule;
}

/* The log lines that speak for the result. */
static json_t *related_json(const json_t *evidence_list)
{
    json_t *list = json_array();
    size_t i;
    const json_t *evidence;
    json_array_foreach(evidence_list, i, evidence)
    {
        if (!*get_string(evidence, "file"))
            continue;
        json_t *location = location_json(get_string(evidence, "file"), get_integer(evidence, "line"), get_string(evidence, "text"));
        json_object_set_new(location, "id", json_integer((json_int_t)json_array_size(list) + 1));
        json_array_append_new(list, location);
    }
    return list;
}

static json_t *result_json(const json_t *report, const json_t *cause, size_t index, const char *message)
{
    const char *file;
    long long line;
    const json_t *evidence = cause ? get_list(cause, "evidence") : get_list(report, "evidence");
    json_t *result = json_pack("{s:s, s:I, s:s, s:{s:s}, s:o}", "ruleId", cause ? get_string(cause, "id") : "unknown-cause", "ruleIndex",
                               (json_int_t)index, "level", index == 0 ? "error" : "note", "message", "text", message, "relatedLocations",
                               related_json(evidence));
    json_t *locations = json_array();
    if (index == 0 ? best_location(report, &file, &line) : json_array_size(evidence) && *get_string(json_array_get(evidence, 0), "file")) {
        if (index != 0) {
            file = get_string(json_array_get(evidence, 0), "file");
            line = get_integer(json_array_get(evidence, 0), "line");
        }
        json_array_append_new(locations, location_json(file, line, NULL));
    }
    json_object_set_new(result, "locations", locations);
    if (cause) {
        json_object_set_new(result, "properties", json_pack("{s:f}", "confidence", get_number(cause, "confidence")));
        json_object_set_new(result, "partialFingerprints", json_pack("{s:s}", "dtkbCause/v1", get_string(cause, "id")));
    }
    return result;
}

static void add_results(const json_t *report, json_t *rules, json_t *results)
{
    size_t i;
    const json_t *cause;
    json_array_foreach(get_list(report, "causes"), i, cause)
    {
        struct buf message = {0};
        buf_addf(&message, "%s (confidence %.2f)", get_string(cause, "title"), get_number(cause, "confidence"));
        json_array_append_new(rules, rule_json(cause));
        json_array_append_new(results, result_json(report, cause, i, buf_text(&message)));
        buf_free(&message);
    }
    if (i || !strcmp(get_string(report, "verdict"), "no-fault"))
        return;
    json_array_append_new(rules, json_pack("{s:s, s:{s:s}}", "id", "unknown-cause", "shortDescription", "text",
                                           "The training job failed for an unknown cause"));
    struct buf message = {0};
    add_headline(&message, report);
    json_array_append_new(results, result_json(report, NULL, 0, buf_text(&message)));
    buf_free(&message);
}

dtkb_status render_sarif(const json_t *report, const struct render_options *options, struct buf *out)
{
    json_t *rules = json_array(), *results = json_array();
    add_results(report, rules, results);
    json_t *sarif =
        json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}", "$schema",
                  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "version", "2.1.0", "runs",
                  "tool", "driver", "name", "dtkb", "semanticVersion", DTKB_VERSION, "rules", rules, "results", results);
    if (!sarif)
        return DTKB_E_NOMEM;
    dtkb_status status = render_json(sarif, options, out);
    json_decref(sarif);
    return status;
}

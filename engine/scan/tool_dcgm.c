/*
 * `dcgmi diag -j`: categories of tests, a result for each GPU or for all of them. Layouts differ: "DCGM Diagnostic" or (until DCGM 3)
 * "DCGM GPU Diagnostic"; a result is of "gpu_ids", "gpu_id", or "entity_id" of an "entity_group"; a warning is a text, or an object that
 * holds one.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scan/tool.h"

#define PLACE_MAX 96

struct place {
    const char *test;
    char device[PLACE_MAX]; /* "GPU 0" */
};

static const json_t *body(const json_t *root)
{
    const json_t *named = json_object_get(root, "DCGM Diagnostic");
    return named ? named : json_object_get(root, "DCGM GPU Diagnostic");
}

bool dcgm_is_report(const json_t *root)
{
    return json_is_object(body(root));
}

static void describe_device(const json_t *result, struct place *place)
{
    static const char *const keys[] = {"gpu_id", "gpu_ids", "entity_id"};
    const char *group = json_string_value(json_object_get(result, "entity_group"));
    const json_t *id = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !id; i++)
        id = json_object_get(result, keys[i]);
    if (json_is_integer(id))
        (void)snprintf(place->device, sizeof place->device, "%.32s %" JSON_INTEGER_FORMAT, group ? group : "GPU", json_integer_value(id));
    else if (json_is_string(id))
        (void)snprintf(place->device, sizeof place->device, "%.32s %.48s", group ? group : "GPU", json_string_value(id));
    else
        (void)snprintf(place->device, sizeof place->device, "the system");
}

/* What DCGM advises to do about an error. */
static const char *severity_name(const json_t *severity)
{
    static const char *const names[] = {"none", "monitor", "isolate", "unknown", "triage", "configuration", "reset"};
    json_int_t number = json_is_integer(severity) ? json_integer_value(severity) : -1;
    return number >= 0 && number < (json_int_t)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static void tell_one(struct tool_report *report, const struct place *place, bool failed, const json_t *warning)
{
    struct tool_finding finding = {.role = ROLE_INITIATING, .rank = RANK_UNKNOWN};
    const json_t *id = json_object_get(warning, "error_id");
    const char *text = json_string_value(json_is_object(warning) ? json_object_get(warning, "warning") : warning);
    const char *severity = severity_name(json_object_get(warning, "error_severity"));
    char number[24] = "";
    if (json_is_integer(id))
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    tool_field(&finding, "finding", failed ? "dcgm-failed" : "dcgm-warning");
    tool_field(&finding, "test", place->test);
    tool_field(&finding, "device", place->device);
    tool_field(&finding, "error_id", number);
    tool_field(&finding, "severity", severity);
    tool_tell(report, &finding, "DCGM diagnostic: test %.80s %s %s%s%.1600s%s%s%s", place->test, failed ? "failed on" : "warns of",
              place->device, text ? ": " : "", text ? text : "", severity ? " (severity: " : "", severity ? severity : "",
              severity ? ")" : "");
    report->collect->training_log = report->collect->training_log || failed;
}

static void tell_result(struct tool_report *report, const char *test, const json_t *result)
{
    struct place place = {.test = test};
    const char *status = json_string_value(json_object_get(result, "status"));
    const json_t *warnings = json_object_get(result, "warnings"), *warning;
    bool failed = status && !strncasecmp(status, "fail", 4), warns = status && !strncasecmp(status, "warn", 4);
    if (!failed && !warns)
        return;
    describe_device(result, &place);
    size_t i;
    json_array_foreach(warnings, i, warning) tell_one(report, &place, failed, warning);
    if (!json_array_size(warnings))
        tell_one(report, &place, failed, warnings);
}

static void tell_test(struct tool_report *report, const json_t *test)
{
    const char *name = json_string_value(json_object_get(test, "name"));
    const json_t *result;
    uint64_t before = report->told;
    size_t i;
    json_array_foreach(json_object_get(test, "results"), i, result) tell_result(report, name ? name : "unnamed", result);
    if (report->told == before) /* the summary repeats what the results say, where there are any */
        tell_result(report, name ? name : "unnamed", json_object_get(test, "test_summary"));
}

static void tell_tests(struct tool_report *report, const json_t *holder)
{
    const json_t *test;
    size_t i;
    json_array_foreach(json_object_get(holder, "tests"), i, test) tell_test(report, test);
}

void dcgm_tell(struct tool_report *report, const json_t *root)
{
    const json_t *whole = body(root), *category;
    const json_t *error = json_object_get(whole, "runtime_error");
    if (json_is_string(error))
        tell_one(report, &(struct place){.test = "run", .device = "the system"}, true, error);
    size_t i;
    json_array_foreach(json_object_get(whole, "test_categories"), i, category) tell_tests(report, category);
    tell_tests(report, whole);
}

#include "probe/intake.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dtkb/plugin.h>

#include "base/clock.h"
#include "base/utf8.h"

struct mistake {
    char *text;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct mistake *mistake, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(mistake->text, mistake->size, format, args);
    va_end(args);
    return false;
}

bool intake_start(struct intake *intake, const struct vocabulary *vocabulary, const char *plugin)
{
    *intake = (struct intake){.vocabulary = vocabulary,
                              .plugin = plugin,
                              .names = json_object(),
                              .reason = {.maximum = 1024},
                              .log = {.maximum = INTAKE_TEXT_MAX},
                              .evidence = {.maximum = INTAKE_EVIDENCE_MAX},
                              .evidence_source = {.maximum = 256}};
    return intake->names != NULL;
}

void intake_free(struct intake *intake)
{
    fact_set_free(&intake->facts);
    json_decref(intake->names);
    intake->names = NULL;
    buf_free(&intake->reason);
    buf_free(&intake->log);
    buf_free(&intake->evidence);
    buf_free(&intake->evidence_source);
}

/* ---- facts ---- */

/* Parts joined by dots, none empty, no blank or control. */
static bool is_fact_name(const char *name)
{
    size_t length = strlen(name);
    if (!length || length > DTKB_FACT_NAME_MAX || name[0] == '.' || name[length - 1] == '.' || strstr(name, ".."))
        return false;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return false;
    return true;
}

/* A u64 past INT64_MAX comes as a string of digits, and "unlimited" means the largest. */
static bool read_u64(const json_t *value, uint64_t *out)
{
    if (json_is_integer(value)) {
        *out = (uint64_t)json_integer_value(value);
        return json_integer_value(value) >= 0;
    }
    const char *text = json_string_value(value);
    if (!text)
        return false;
    if (!strcmp(text, "unlimited")) {
        *out = UINT64_MAX;
        return true;
    }
    errno = 0;
    char *end;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool read_value(const json_t *value, enum fact_type type, struct fact *fact)
{
    fact->type = type;
    switch (type) {
    case FACT_BOOL:
        fact->value.boolean = json_is_true(value);
        return json_is_boolean(value);
    case FACT_I64:
        fact->value.i64 = json_integer_value(value);
        return json_is_integer(value);
    case FACT_U64:
        return read_u64(value, &fact->value.u64);
    case FACT_F64:
        fact->value.f64 = json_number_value(value);
        return json_is_number(value);
    case FACT_STRING:
        fact->value.string = json_string_value(value);
        return fact->value.string && strlen(fact->value.string) <= DTKB_FACT_STRING_MAX;
    }
    return false;
}

static bool check_vocabulary(const struct vocabulary *vocabulary, const struct fact *fact, const struct mistake *mistake)
{
    enum fact_type type;
    const char *unit;
    if (!vocabulary->definition)
        return true;
    if (!vocabulary->definition(vocabulary->context, fact->name, &type, &unit))
        return wrong(mistake, "fact '%s' is in no vocabulary: add it to the <facts> of the plugin's knowledge pack and load that pack",
                     fact->name);
    if (type != fact->type)
        return wrong(mistake, "fact '%s' has type %s; the vocabulary says %s", fact->name, fact_type_name(fact->type),
                     fact_type_name(type));
    if (strcmp(unit ? unit : "", fact->unit) != 0)
        return wrong(mistake, "fact '%s' has unit '%.40s'; the vocabulary says '%s'", fact->name, fact->unit, unit ? unit : "");
    return true;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool take_fact(struct intake *intake, const json_t *line, const struct mistake *mistake)
{
    enum fact_type type = fact_type_by_name(text_of(line, "type"));
    struct fact fact = {.name = text_of(line, "fact"), .unit = text_of(line, "unit"), .origin = text_of(line, "origin")};
    if (!is_fact_name(fact.name))
        return wrong(mistake, "fact name '%.130s' is not well-formed: parts joined by dots, at most %u bytes", fact.name,
                     DTKB_FACT_NAME_MAX);
    if (!type)
        return wrong(mistake, "fact '%s' has type '%.20s'; types are bool, i64, u64, f64 and string", fact.name, text_of(line, "type"));
    if (!read_value(json_object_get(line, "value"), type, &fact))
        return wrong(mistake, "the value of fact '%s' is no %s", fact.name, fact_type_name(type));
    if (!check_vocabulary(intake->vocabulary, &fact, mistake))
        return false;
    if (json_object_get(intake->names, fact.name))
        return wrong(mistake, "fact '%s' was emitted twice", fact.name);
    if (intake->facts.count == INTAKE_FACTS_MAX)
        return wrong(mistake, "it emitted more than %u facts", INTAKE_FACTS_MAX);
    fact.plugin = intake->plugin;
    fact.wrong = json_is_true(json_object_get(line, "wrong"));
    fact.time = clock_epoch_seconds();
    if (json_object_set_new(intake->names, fact.name, json_true()) != 0 || !fact_set_add(&intake->facts, &fact))
        return wrong(mistake, "out of memory");
    return true;
}

/* ---- the rest ---- */

/* What does not fit is dropped. */
static void add_capped(struct buf *buf, const char *text, size_t length)
{
    buf_add_clean(buf, text, utf8_cut(text, length, buf->maximum - buf->length));
}

static bool take_result(struct intake *intake, const char *text, const struct mistake *mistake)
{
    static const char *const words[] = {
        [RESULT_OK] = "ok",           [RESULT_FAULT] = "fault", [RESULT_SKIPPED] = "skipped", [RESULT_UNAVAILABLE] = "unavailable",
        [RESULT_STOPPED] = "stopped", [RESULT_ERROR] = "error"};
    if (intake->result != RESULT_NONE)
        return wrong(mistake, "it gave a second result");
    for (unsigned i = RESULT_OK; i <= RESULT_ERROR; i++)
        if (!strcmp(words[i], text))
            intake->result = (enum intake_result)i;
    if (intake->result == RESULT_NONE)
        return wrong(mistake, "result '%.40s' is none of ok, fault, skipped, unavailable, stopped and error", text);
    return true;
}

static void take_evidence(struct intake *intake, const json_t *line)
{
    const char *source = text_of(line, "source"), *text = text_of(line, "evidence");
    if (!intake->evidence_source.length)
        add_capped(&intake->evidence_source, source, strlen(source));
    size_t length = strlen(text), room = INTAKE_EVIDENCE_MAX - intake->evidence.length;
    /* As it came: the scanner strips escapes itself. Whole pieces only, so no character is cut. */
    if (length <= room)
        buf_add(&intake->evidence, text, length);
}

static bool take_object(struct intake *intake, const json_t *line, const struct mistake *mistake)
{
    if (json_object_get(line, "fact"))
        return take_fact(intake, line, mistake);
    if (json_object_get(line, "result"))
        return take_result(intake, text_of(line, "result"), mistake);
    if (json_object_get(line, "mistake"))
        return wrong(mistake, "%s", text_of(line, "mistake"));
    if (json_object_get(line, "evidence")) {
        take_evidence(intake, line);
        return true;
    }
    if (json_object_get(line, "left")) {
        intake->left_descriptors = (int)json_integer_value(json_object_get(line, "descriptors"));
        intake->left_threads = (int)json_integer_value(json_object_get(line, "threads"));
        return true;
    }
    const char *reason = json_string_value(json_object_get(line, "reason")), *log = json_string_value(json_object_get(line, "log"));
    if (reason) {
        buf_clear(&intake->reason);
        add_capped(&intake->reason, reason, strcspn(reason, "\n"));
        return true;
    }
    if (log) {
        add_capped(&intake->log, log, strlen(log));
        add_capped(&intake->log, "\n", 1);
        return true;
    }
    return wrong(mistake, "line %zu says nothing known: no fact, result, reason, log or evidence in it", intake->line);
}

bool intake_line(struct intake *intake, const char *text, size_t length, char *mistake_text, size_t mistake_size)
{
    const struct mistake mistake = {mistake_text, mistake_size};
    intake->line++;
    json_error_t error;
    json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(line)) {
        json_decref(line);
        return wrong(&mistake, "line %zu of what it reported is no JSON object: %s", intake->line, line ? "another value" : error.text);
    }
    bool good = take_object(intake, line, &mistake);
    json_decref(line);
    return good;
}

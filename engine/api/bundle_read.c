#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/bundle.h"

/* Counts a hostile bundle may not exceed. */
#define EVIDENCE_MAX 100000
#define FILES_MAX 100000
#define FACTS_MAX 100000

struct reader {
    struct kb *kb;
    struct findings *findings;
    const struct signature *signatures;
    size_t signature_count;
};

static dtkb_status wrong(struct err *err, const char *what, size_t index)
{
    return err_set(err, DTKB_E_FORMAT, "the bundle's %s %zu is not as dtkb collect writes it", what, index + 1);
}

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return arena_strdup(arena, text ? text : "");
}

static bool in_range(const json_t *object, const char *key, json_int_t low, json_int_t high)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) >= low && json_integer_value(value) <= high;
}

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static dtkb_status read_files(struct findings *findings, const json_t *list, struct err *err)
{
    size_t count = json_array_size(list);
    if (count > FILES_MAX)
        return err_set(err, DTKB_E_LIMIT, "the bundle names %zu files; more than %d are not read", count, FILES_MAX);
    findings->files = arena_alloc(&findings->arena, (count + 1) * sizeof *findings->files);
    for (size_t i = 0; findings->files && i < count; i++) {
        const json_t *file = json_array_get(list, i);
        if (!in_range(file, "rank", RANK_UNKNOWN, INT32_MAX) || !in_range(file, "bytes", 0, INT64_MAX) ||
            !in_range(file, "lines", 0, INT64_MAX))
            return wrong(err, "file", i);
        findings->files[i] = (struct input_file){.name = text_of(&findings->arena, file, "name"),
                                                 .bytes = (uint64_t)integer(file, "bytes"),
                                                 .lines = (uint64_t)integer(file, "lines"),
                                                 .rank = (int32_t)integer(file, "rank"),
                                                 .binary = json_is_true(json_object_get(file, "binary"))};
        if (!findings->files[i].name)
            return err_nomem(err);
        findings->file_count++;
    }
    return findings->files ? DTKB_OK : err_nomem(err);
}

/* The signature by cause and id; SIGNATURE_NONE when this knowledge base has none such. */
static dtkb_status find_signature(const struct reader *reader, const json_t *pair, uint32_t *out, struct err *err)
{
    const char *cause_id = json_string_value(json_array_get(pair, 0)), *id = json_string_value(json_array_get(pair, 1));
    *out = SIGNATURE_NONE;
    for (size_t i = 0; cause_id && id && i < reader->signature_count; i++) {
        const struct cause *cause;
        if (strcmp(reader->signatures[i].id, id) != 0)
            continue;
        dtkb_status status = kb_cause_brief(reader->kb, reader->signatures[i].cause, &cause, err);
        if (status != DTKB_OK)
            return status;
        if (!strcmp(cause->id, cause_id))
            *out = (uint32_t)i;
    }
    return DTKB_OK;
}

static bool read_fields(struct arena *arena, const json_t *list, struct evidence *out)
{
    size_t count = json_array_size(list);
    struct evidence_field *fields = count ? arena_alloc(arena, count * sizeof *fields) : NULL;
    for (size_t i = 0; fields && i < count; i++) {
        const char *name = json_string_value(json_array_get(json_array_get(list, i), 0));
        const char *value = json_string_value(json_array_get(json_array_get(list, i), 1));
        fields[i] = (struct evidence_field){arena_strdup(arena, name ? name : ""), arena_strdup(arena, value ? value : "")};
        if (!fields[i].name || !fields[i].value)
            return false;
    }
    out->fields = fields;
    out->field_count = count;
    return !count || fields;
}

static dtkb_status read_evidence(const struct reader *reader, const json_t *object, size_t index, struct evidence *out, struct err *err)
{
    struct arena *arena = &reader->findings->arena;
    const json_t *time = json_object_get(object, "time"), *source = json_object_get(object, "source");
    bool sane = in_range(object, "kind", EV_SIGNATURE, EV_TEXT) && in_range(object, "role", ROLE_UNKNOWN, ROLE_TEARDOWN) &&
                in_range(object, "rank", RANK_UNKNOWN, INT32_MAX) &&
                in_range(object, "file", 0, (json_int_t)reader->findings->file_count - 1) && in_range(object, "line", 0, INT64_MAX) &&
                in_range(object, "sequence", 0, INT64_MAX) && in_range(object, "count", 0, INT64_MAX) &&
                in_range(object, "number", INT32_MIN, INT32_MAX);
    if (!sane)
        return wrong(err, "piece of evidence", index);
    *out = (struct evidence){.kind = (enum evidence_kind)integer(object, "kind"),
                             .role = (enum sig_role)integer(object, "role"),
                             .file = (uint32_t)integer(object, "file"),
                             .line = (uint64_t)integer(object, "line"),
                             .sequence = (uint64_t)integer(object, "sequence"),
                             .rank = (int32_t)integer(object, "rank"),
                             .count = (uint64_t)integer(object, "count"),
                             .number = (int32_t)integer(object, "number"),
                             .chained = json_is_true(json_object_get(object, "chained")),
                             .time = json_is_number(time) ? json_number_value(time) : NAN,
                             .text = text_of(arena, object, "text")};
    const char *source_file = json_string_value(json_array_get(source, 0));
    json_int_t source_line = json_integer_value(json_array_get(source, 1));
    if (source_file) {
        out->source_file = arena_strdup(arena, source_file);
        out->source_line = source_line > 0 && source_line <= INT32_MAX ? (uint32_t)source_line : 0;
    }
    if (!out->text || !read_fields(arena, json_object_get(object, "fields"), out))
        return err_nomem(err);
    return find_signature(reader, json_object_get(object, "signature"), &out->signature, err);
}

static dtkb_status read_all_evidence(const struct reader *reader, const json_t *list, struct err *err)
{
    struct findings *findings = reader->findings;
    size_t count = json_array_size(list);
    if (count > EVIDENCE_MAX)
        return err_set(err, DTKB_E_LIMIT, "the bundle holds %zu pieces of evidence; more than %d are not read", count, EVIDENCE_MAX);
    findings->evidence = arena_alloc(&findings->arena, (count + 1) * sizeof *findings->evidence);
    if (!findings->evidence)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++) {
        dtkb_status status = read_evidence(reader, json_array_get(list, i), i, &findings->evidence[i], err);
        if (status != DTKB_OK)
            return status;
        findings->evidence_count++;
    }
    return DTKB_OK;
}

static dtkb_status read_versions(struct findings *findings, const json_t *list, struct err *err)
{
    size_t count = json_array_size(list) < 1000 ? json_array_size(list) : 1000;
    findings->versions = arena_alloc(&findings->arena, (count + 1) * sizeof *findings->versions);
    for (size_t i = 0; findings->versions && i < count; i++) {
        const char *component = json_string_value(json_array_get(json_array_get(list, i), 0));
        const char *version = json_string_value(json_array_get(json_array_get(list, i), 1));
        if (!component || !version)
            return wrong(err, "version", i);
        findings->versions[i].component = arena_strdup(&findings->arena, component);
        findings->versions[i].version = arena_strdup(&findings->arena, version);
        if (!findings->versions[i].component || !findings->versions[i].version)
            return err_nomem(err);
        findings->version_count++;
    }
    return findings->versions ? DTKB_OK : err_nomem(err);
}

static bool parse_value(struct fact *fact, const char *text)
{
    char *end = NULL;
    switch (fact->type) {
    case FACT_BOOL:
        fact->value.boolean = !strcmp(text, "true");
        return true;
    case FACT_I64:
        fact->value.i64 = strtoll(text, &end, 10);
        break;
    case FACT_U64:
        if (!strcmp(text, "unlimited")) {
            fact->value.u64 = UINT64_MAX;
            return true;
        }
        fact->value.u64 = strtoull(text, &end, 10);
        break;
    case FACT_F64:
        fact->value.f64 = strtod(text, &end);
        break;
    case FACT_STRING:
        fact->value.string = text;
        return true;
    }
    return end && end != text && !*end;
}

static dtkb_status read_facts(struct fact_set *facts, const json_t *list, struct err *err)
{
    size_t i;
    const json_t *object;
    json_array_foreach(list, i, object)
    {
        const char *name = json_string_value(json_object_get(object, "name")), *value = json_string_value(json_object_get(object, "value"));
        if (i >= FACTS_MAX || !name || !value || !in_range(object, "type", FACT_BOOL, FACT_STRING))
            return wrong(err, "fact", i);
        struct fact fact = {.name = name,
                            .type = (enum fact_type)integer(object, "type"),
                            .unit = json_string_value(json_object_get(object, "unit")),
                            .origin = json_string_value(json_object_get(object, "origin")),
                            .plugin = json_string_value(json_object_get(object, "plugin")),
                            .wrong = json_is_true(json_object_get(object, "wrong"))};
        if (!parse_value(&fact, value))
            return wrong(err, "fact", i);
        if (!fact_set_add(facts, &fact))
            return err_nomem(err);
    }
    return DTKB_OK;
}

static dtkb_status read_probes(struct probe_results *probes, const json_t *list, struct err *err)
{
    size_t count = json_array_size(list) < 1000 ? json_array_size(list) : 1000;
    probes->results = count ? arena_alloc(&probes->arena, count * sizeof *probes->results) : NULL;
    for (size_t i = 0; probes->results && i < count; i++) {
        const json_t *object = json_array_get(list, i);
        if (!in_range(object, "status", PROBE_OK, PROBE_BAD_OUTPUT) || !in_range(object, "signal", 0, 128))
            return wrong(err, "probe", i);
        probes->results[i] = (struct probe_result){.name = text_of(&probes->arena, object, "name"),
                                                   .plugin = text_of(&probes->arena, object, "plugin"),
                                                   .path = "",
                                                   .status = (enum probe_status)integer(object, "status"),
                                                   .reason = text_of(&probes->arena, object, "reason"),
                                                   .seconds = json_number_value(json_object_get(object, "seconds")),
                                                   .signal = (int)integer(object, "signal"),
                                                   .output = "",
                                                   .evidence = ""};
        if (!probes->results[i].name || !probes->results[i].plugin || !probes->results[i].reason)
            return err_nomem(err);
        probes->count++;
    }
    return DTKB_OK;
}

dtkb_status bundle_read(struct kb *kb, const json_t *bundle, struct findings *findings, struct fact_set *facts,
                        struct probe_results *probes, struct err *err)
{
    struct reader reader = {.kb = kb, .findings = findings};
    const char *schema = json_string_value(json_object_get(bundle, "schema"));
    if (!schema || strcmp(schema, "dtkb.bundle/1") != 0)
        return err_set(err, DTKB_E_FORMAT, "not a bundle: its schema is \"%s\", not \"dtkb.bundle/1\"", schema ? schema : "");
    dtkb_status status = kb_signatures(kb, &reader.signatures, &reader.signature_count, err);
    if (status == DTKB_OK)
        status = read_files(findings, json_object_get(bundle, "files"), err);
    if (status == DTKB_OK)
        status = read_all_evidence(&reader, json_object_get(bundle, "evidence"), err);
    if (status == DTKB_OK)
        status = read_versions(findings, json_object_get(bundle, "versions"), err);
    if (status == DTKB_OK)
        status = read_facts(facts, json_object_get(bundle, "facts"), err);
    if (status == DTKB_OK)
        status = read_probes(probes, json_object_get(bundle, "probes"), err);
    findings->training_log = json_is_true(json_object_get(bundle, "training_log"));
    findings->clean_end = json_is_true(json_object_get(bundle, "clean_end"));
    findings->ranks_seen = in_range(bundle, "ranks_seen", 0, UINT32_MAX) ? (uint32_t)integer(bundle, "ranks_seen") : 0;
    findings->world_size = in_range(bundle, "world_size", 0, UINT32_MAX) ? (uint32_t)integer(bundle, "world_size") : 0;
    return status;
}

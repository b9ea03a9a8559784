#include <math.h>
#include <string.h>

#include "api/bundle.h"

static json_t *files_json(const struct findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < findings->file_count; i++) {
        const struct input_file *file = &findings->files[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:i, s:b}", "name", file->name, "bytes", (json_int_t)file->bytes, "lines",
                                              (json_int_t)file->lines, "rank", (int)file->rank, "binary", file->binary));
    }
    return list;
}

static json_t *fields_json(const struct evidence *evidence)
{
    json_t *list = json_array();
    for (size_t i = 0; i < evidence->field_count; i++)
        json_array_append_new(list, json_pack("[s, s]", evidence->fields[i].name, evidence->fields[i].value));
    return list;
}

static dtkb_status evidence_json(struct kb *kb, const struct evidence *evidence, const struct signature *signatures, size_t count,
                                 json_t *list, struct err *err)
{
    json_t *object =
        json_pack("{s:i, s:i, s:I, s:I, s:I, s:i, s:I, s:s, s:i, s:b, s:o}", "kind", (int)evidence->kind, "role", (int)evidence->role,
                  "file", (json_int_t)evidence->file, "line", (json_int_t)evidence->line, "sequence", (json_int_t)evidence->sequence,
                  "rank", (int)evidence->rank, "count", (json_int_t)evidence->count, "text", evidence->text ? evidence->text : "", "number",
                  (int)evidence->number, "chained", evidence->chained, "fields", fields_json(evidence));
    if (!isnan(evidence->time))
        json_object_set_new(object, "time", json_real(evidence->time));
    if (evidence->source_file)
        json_object_set_new(object, "source", json_pack("[s, i]", evidence->source_file, (int)evidence->source_line));
    if (evidence->signature < count) {
        const struct cause *cause;
        dtkb_status status = kb_cause_brief(kb, signatures[evidence->signature].cause, &cause, err);
        if (status != DTKB_OK) {
            json_decref(object);
            return status;
        }
        json_object_set_new(object, "signature", json_pack("[s, s]", cause->id, signatures[evidence->signature].id));
    }
    json_array_append_new(list, object);
    return DTKB_OK;
}

static json_t *facts_json(const struct fact_set *facts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->facts[i];
        char text[64];
        /* Values as text, so that a 64-bit number survives any JSON reader. */
        const char *value = fact->type == FACT_STRING ? fact->value.string : fact_value_text(fact, text, sizeof text);
        json_array_append_new(list, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:b}", "name", fact->name, "type", (int)fact->type, "unit",
                                              fact->unit, "origin", fact->origin, "plugin", fact->plugin, "value", value, "wrong",
                                              (int)fact->wrong));
    }
    return list;
}

static json_t *probes_json(const struct probe_results *probes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < probes->count; i++) {
        const struct probe_result *result = &probes->results[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:s, s:f, s:i}", "name", result->name, "plugin", result->plugin, "status",
                                              (int)result->status, "reason", result->reason, "seconds", result->seconds, "signal",
                                              result->signal));
    }
    return list;
}

dtkb_status bundle_write(struct kb *kb, const struct findings *findings, const struct fact_set *facts, const struct probe_results *probes,
                         json_t **out, struct err *err)
{
    const struct signature *signatures;
    size_t count;
    dtkb_status status = kb_signatures(kb, &signatures, &count, err);
    json_t *evidence = json_array(), *versions = json_array();
    for (size_t i = 0; status == DTKB_OK && i < findings->evidence_count; i++)
        status = evidence_json(kb, &findings->evidence[i], signatures, count, evidence, err);
    for (size_t i = 0; i < findings->version_count; i++)
        json_array_append_new(versions, json_pack("[s, s]", findings->versions[i].component, findings->versions[i].version));
    if (status != DTKB_OK) {
        json_decref(evidence);
        json_decref(versions);
        return status;
    }
    *out = json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:I, s:b, s:b, s:o, s:o}", "schema", "dtkb.bundle/1", "dtkb", DTKB_VERSION, "files",
                     files_json(findings), "evidence", evidence, "versions", versions, "ranks_seen", (json_int_t)findings->ranks_seen,
                     "world_size", (json_int_t)findings->world_size, "training_log", findings->training_log, "clean_end",
                     findings->clean_end, "facts", facts_json(facts), "probes", probes_json(probes));
    return *out ? DTKB_OK : err_nomem(err);
}

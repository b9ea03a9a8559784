#include "diagnose/tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/condition.h"

#define EVIDENCE_SHOWN 6
#define NEXT_SHOWN 8
#define SUSPECTS 6 /* candidates whose facts are asked for */

static const char *role_name(enum sig_role role)
{
    static const char *const names[] = {
        [ROLE_UNKNOWN] = "unknown", [ROLE_INITIATING] = "initiating", [ROLE_CASCADE] = "cascade", [ROLE_TEARDOWN] = "teardown"};
    return names[role];
}

/* Confidences and scores to three digits: more would be noise, and would differ between machines. */
static json_t *rounded(double value)
{
    return json_real(round(value * 1000.0) / 1000.0);
}

static json_t *rank_json(int32_t rank)
{
    return rank == RANK_UNKNOWN ? json_null() : json_integer(rank);
}

static json_t *evidence_json(const struct evidence *evidence, const struct findings *findings)
{
    json_t *object =
        json_pack("{s:s, s:I, s:o, s:s, s:o}", "file", evidence->file < findings->file_count ? findings->files[evidence->file].name : "",
                  "line", (json_int_t)evidence->line, "rank", rank_json(evidence->rank), "role", role_name(evidence->role), "text",
                  json_string(evidence->text ? evidence->text : ""));
    if (evidence->count > 1)
        json_object_set_new(object, "count", json_integer((json_int_t)evidence->count));
    if (!isnan(evidence->time))
        json_object_set_new(object, "time", json_real(evidence->time));
    if (evidence->source_file)
        json_object_set_new(object, "source", json_pack("{s:s, s:i}", "file", evidence->source_file, "line", (int)evidence->source_line));
    if (evidence->field_count) {
        json_t *fields = json_object();
        for (size_t i = 0; i < evidence->field_count; i++)
            json_object_set_new(fields, evidence->fields[i].name, json_string(evidence->fields[i].value));
        json_object_set_new(object, "fields", fields);
    }
    return object;
}

json_t *tree_inputs(const struct findings *findings)
{
    json_t *list = json_array();
    for (size_t i = 0; findings && i < findings->file_count; i++) {
        const struct input_file *file = &findings->files[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:o, s:b}", "name", file->name, "bytes", (json_int_t)file->bytes, "lines",
                                              (json_int_t)file->lines, "rank", rank_json(file->rank), "skipped", file->binary));
    }
    return list;
}

json_t *tree_versions(const struct findings *findings)
{
    json_t *object = json_object();
    for (size_t i = 0; findings && i < findings->version_count; i++)
        if (!json_object_get(object, findings->versions[i].component))
            json_object_set_new(object, findings->versions[i].component, json_string(findings->versions[i].version));
    return object;
}

static json_t *value_json(const struct fact *fact)
{
    switch (fact->type) {
    case FACT_BOOL:
        return json_boolean(fact->value.boolean);
    case FACT_I64:
        return json_integer(fact->value.i64);
    case FACT_U64:
        return fact->value.u64 > INT64_MAX ? json_string("unlimited") : json_integer((json_int_t)fact->value.u64);
    case FACT_F64:
        return json_real(fact->value.f64);
    case FACT_STRING:
        return json_string(fact->value.string);
    }
    return json_null();
}

static json_t *fact_json(const struct fact *fact)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:s}", "name", fact->name, "type", fact_type_name(fact->type), "value", value_json(fact),
                               "plugin", fact->plugin);
    if (*fact->unit)
        json_object_set_new(object, "unit", json_string(fact->unit));
    if (*fact->origin)
        json_object_set_new(object, "origin", json_string(fact->origin));
    return object;
}

json_t *tree_facts(const struct fact_set *facts)
{
    json_t *list = json_array();
    for (size_t i = 0; facts && i < facts->count; i++)
        json_array_append_new(list, fact_json(&facts->facts[i]));
    return list;
}

json_t *tree_probes(const struct probe_results *probes)
{
    json_t *list = json_array();
    for (size_t i = 0; probes && i < probes->count; i++) {
        const struct probe_result *result = &probes->results[i];
        json_t *object =
            json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", result->name, "plugin", result->plugin, "status",
                      probe_status_name(result->status), "reason", json_string(result->reason), "seconds", rounded(result->seconds));
        if (result->output && *result->output)
            json_object_set_new(object, "output", json_string(result->output));
        json_array_append_new(list, object);
    }
    return list;
}

static bool follows(const struct evidence *evidence, const struct findings *findings)
{
    return findings_line_follows(findings, (size_t)(evidence - findings->evidence));
}

/* What follows from another rank's trouble is read after what did not: without time stamps the files' order says nothing. */
static void add_lines(const struct candidate *candidate, const struct findings *findings, bool following, json_t *list)
{
    for (size_t i = 0; i < candidate->evidence_count && json_array_size(list) < EVIDENCE_SHOWN; i++)
        if (follows(candidate->evidence[i], findings) == following)
            json_array_append_new(list, evidence_json(candidate->evidence[i], findings));
}

static json_t *cause_evidence(const struct candidate *candidate, const struct findings *findings)
{
    json_t *list = json_array();
    if (candidate->confirmed_by)
        json_array_append_new(list, json_pack("{s:o, s:s}", "fact", fact_json(candidate->confirmed_by), "effect", "confirms"));
    if (candidate->refuted_by)
        json_array_append_new(list, json_pack("{s:o, s:s}", "fact", fact_json(candidate->refuted_by), "effect", "refutes"));
    add_lines(candidate, findings, false, list);
    add_lines(candidate, findings, true, list);
    return list;
}

static json_t *cause_remedies(const struct cause *cause)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cause->remedy_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s?, s:s?}", "text", cause->remedies[i].text, "command", cause->remedies[i].command,
                                              "check", cause->remedies[i].check));
    return list;
}

static json_t *cause_links(const struct cause *cause)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cause->link_count; i++)
        json_array_append_new(list, json_pack("{s:s?, s:s?, s:s?}", "url", cause->links[i].url, "title", cause->links[i].title, "issue",
                                              cause->links[i].issue));
    return list;
}

static json_t *score_terms(const struct candidate *candidate)
{
    json_t *object = json_object();
    for (int term = 0; term < TERM_COUNT; term++)
        if (candidate->terms[term] != 0.0)
            json_object_set_new(object, score_term_names[term], rounded(candidate->terms[term]));
    json_object_set_new(object, "sum", rounded(candidate->score));
    return object;
}

json_t *tree_cause(const struct candidate *candidate, const struct findings *findings, bool explain_scores)
{
    const struct cause *cause = candidate->cause;
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o}", "id", cause->id, "title", cause->title, "symptom",
                               cause->symptom, "fix", cause->fix, "confidence", rounded(candidate->confidence), "verified",
                               candidate->proven      ? "yes"
                               : candidate->disproven ? "no"
                                                      : "untested",
                               "explanation", cause->explanation, "remedies", cause_remedies(cause), "evidence",
                               cause_evidence(candidate, findings), "links", cause_links(cause));
    if (explain_scores)
        json_object_set_new(object, "score", score_terms(candidate));
    return object;
}

static json_t *outcome_json(enum probe_status status, const char *reason, double seconds)
{
    return json_pack("{s:s, s:s, s:o}", "status", probe_status_name(status), "reason", reason ? reason : "", "seconds", rounded(seconds));
}

/* The candidates of which this run says `word`. */
static json_t *causes_judged(const struct trial_runs *trials, const struct trial_run *run, const struct candidates *candidates,
                             enum trial_word word)
{
    json_t *list = json_array();
    for (size_t i = 0; i < candidates->count; i++)
        if (trial_run_judge(trials, run, candidates->list[i].cause) == word)
            json_array_append_new(list, json_string(candidates->list[i].cause->id));
    return list;
}

json_t *tree_trials(const struct trial_runs *trials, const struct candidates *candidates)
{
    json_t *list = json_array();
    for (size_t i = 0; i < trials->count; i++) {
        const struct trial_run *run = &trials->runs[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s*, s:o, s:o, s:i, s:b, s:o, s:o}", "probe", run->probe, "change", run->change, "replaces",
                            run->replaces, "before", outcome_json(run->before, run->before_reason, run->before_seconds), "after",
                            outcome_json(run->after, run->after_reason, run->after_seconds), "confirmed", (int)run->confirmed, "works",
                            run->works, "proves", causes_judged(trials, run, candidates, TRIAL_PROVES), "rules_out",
                            causes_judged(trials, run, candidates, TRIAL_DISPROVES)));
    }
    return list;
}

static bool tells_plainly(const struct evidence *evidence)
{
    return evidence->kind == EV_EXCEPTION || evidence->kind == EV_SIGNAL || evidence->kind == EV_DUMP || evidence->kind == EV_OBSERVED ||
           (evidence->kind == EV_EXIT && evidence->number != 0);
}

static bool looks_like_an_error(const struct evidence *evidence)
{
    return evidence->kind == EV_ERROR_LINE;
}

static json_t *list_evidence(const struct findings *findings, bool (*wanted)(const struct evidence *), size_t limit)
{
    json_t *list = json_array();
    for (size_t i = 0; findings && i < findings->evidence_count && json_array_size(list) < limit; i++)
        if (wanted(&findings->evidence[i]))
            json_array_append_new(list, evidence_json(&findings->evidence[i], findings));
    return list;
}

json_t *tree_other_evidence(const struct findings *findings, size_t limit)
{
    json_t *list = list_evidence(findings, tells_plainly, limit);
    if (json_array_size(list))
        return list;
    json_decref(list);
    return list_evidence(findings, looks_like_an_error, limit);
}

struct next_step {
    json_t *list;
    const struct fact_set *facts;
    const struct cause *cause;
    const char *effect;
};

/* Was this area of facts looked at already ("net." by the probe net)? Then the fact is absent, not unasked. */
static bool looked_at(const struct fact_set *facts, const char *fact)
{
    size_t area = strcspn(fact, ".");
    for (size_t i = 0; i < facts->count; i++)
        if (!strncmp(facts->facts[i].name, fact, area) && facts->facts[i].name[area] == '.')
            return true;
    return false;
}

static bool asked(const json_t *list, const char *fact)
{
    size_t i;
    const json_t *step;
    json_array_foreach(list, i, step)
    {
        const char *known = json_string_value(json_object_get(step, "fact"));
        if (known && !strcmp(known, fact))
            return true;
    }
    return false;
}

static void ask_for_fact(void *context, const char *fact)
{
    struct next_step *step = context;
    char what[256], why[512];
    if (json_array_size(step->list) >= NEXT_SHOWN || asked(step->list, fact) || looked_at(step->facts, fact))
        return;
    (void)snprintf(what, sizeof what, "look at the fact %s", fact);
    (void)snprintf(why, sizeof why, "it would %s: %s", step->effect, step->cause->title);
    json_array_append_new(step->list, json_pack("{s:s, s:s, s:s, s:s}", "fact", fact, "cause", step->cause->id, "text", what, "why", why));
}

static bool nccl_debug_seen(const struct findings *findings)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].text && strstr(findings->evidence[i].text, "NCCL WARN"))
            return true;
    return false;
}

json_t *tree_next(const struct candidates *candidates, const struct fact_set *facts, const struct findings *findings)
{
    static const struct fact_set none = {0};
    json_t *list = json_array();
    if (!facts)
        facts = &none;
    for (size_t i = 0; i < candidates->count && i < SUSPECTS; i++) {
        const struct cause *cause = candidates->list[i].cause;
        struct next_step step = {.list = list, .facts = facts, .cause = cause, .effect = "confirm"};
        if (cause->confirm)
            condition_missing(cause->confirm, facts, ask_for_fact, &step);
        step.effect = "rule out";
        if (cause->refute)
            condition_missing(cause->refute, facts, ask_for_fact, &step);
    }
    bool vague = !candidates->count || candidates->list[0].cause->generic;
    if (vague && findings && findings->training_log && !nccl_debug_seen(findings))
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "text", "run again with more to read", "command",
                                              "NCCL_DEBUG=INFO TORCH_DISTRIBUTED_DEBUG=DETAIL", "why",
                                              "the log names the kind of trouble, not its reason"));
    return list;
}

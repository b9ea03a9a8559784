#include "diagnose/diagnose.h"

#include "diagnose/labels.h"
#include "diagnose/score.h"
#include "diagnose/similar.h"
#include "diagnose/tree.h"
#include "diagnose/verdict.h"

#include <math.h>
#include <string.h>

#define LABELS_SHOWN 5
/* What a hint keeps of its confidence: where nothing looks wrong, a guess of what might be is right about one time in ten. */
#define HINT_SHARE 0.3

static json_t *labels_json(struct kb *kb, const struct labels *labels, const char *key)
{
    json_t *list = json_array();
    for (size_t i = 0; i < labels->count && i < LABELS_SHOWN; i++) {
        const char *title = kb_label_title(kb, labels->list[i].id);
        json_array_append_new(list, json_pack("{s:s, s:s?, s:f}", key, labels->list[i].id, "title", title, "confidence",
                                              round(labels->list[i].confidence * 1000.0) / 1000.0));
    }
    return list;
}

/* A card that only names the kind of trouble adds nothing beside one that explains it. */
static bool says_nothing_new(const struct candidates *candidates, size_t i)
{
    const struct candidate *best = &candidates->list[0];
    return i > 0 && candidates->list[i].cause->generic && !best->cause->generic && best->confidence >= CONFIDENCE_CONVINCING;
}

/* What a trial refuted stays in sight: it is what somebody suspected. */
static json_t *causes_json(const struct candidates *candidates, const struct diagnose_input *input)
{
    json_t *list = json_array();
    size_t limit = input->max_causes ? input->max_causes : 5;
    for (size_t i = 0; i < candidates->count && json_array_size(list) < limit; i++)
        if ((candidates->list[i].confidence >= CONFIDENCE_SHOWN && !says_nothing_new(candidates, i)) || candidates->list[i].disproven)
            json_array_append_new(list, tree_cause(&candidates->list[i], input->findings, input->explain_scores));
    return list;
}

/* Everything that went into a report, so that the steps below can fill it one by one. */
struct judgement {
    struct candidates candidates;
    struct opinion opinion;
    struct similar similar;
};

/* A log that complains of nothing and never says that the job ended well may be of one that hangs, crawls or learns nothing: what its text
 * is most like is told all the same, as a faint hint. */
static bool wants_hints(const struct findings *findings, const char *verdict)
{
    return !strcmp(verdict, "no-fault") && findings && findings->training_log && !score_ended_well(findings) &&
           !verdict_without_log(findings);
}

static bool makes_steps(const struct findings *findings)
{
    for (size_t i = 0; findings && i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == EV_PROGRESS)
            return true;
    return false;
}

/* Does no line name an error, and no card come up? Then the trouble, if there is any, is of the silent kind. */
static bool is_silent(const struct findings *findings, const struct candidates *shown)
{
    if (!findings || (shown->count && shown->list[0].confidence >= CONFIDENCE_SHOWN))
        return false;
    for (size_t i = 0; i < findings->evidence_count; i++) {
        enum evidence_kind kind = findings->evidence[i].kind;
        if (kind == EV_EXCEPTION || kind == EV_SIGNAL || kind == EV_ERROR_LINE || kind == EV_DUMP ||
            (kind == EV_EXIT && findings->evidence[i].number != 0))
            return false;
    }
    return true;
}

/* Labels must not sound surer than the verdict: a hint is faint, a text that is no job's log tells of no job, and where nothing convinces no
 * label does. */
static void tone_down(const struct findings *findings, const char *verdict, struct labels *labels)
{
    bool fault = !strcmp(verdict, "fault"), foreign = !findings || !findings->training_log;
    double share = !strcmp(verdict, "no-fault") || (!fault && foreign) ? HINT_SHARE : 1.0;
    for (size_t i = 0; i < labels->count; i++)
        labels->list[i].confidence = fmin(labels->list[i].confidence * share, fault ? 1.0 : CONFIDENCE_CONVINCING);
}

static void fill_labels(const struct judgement *judgement, const struct candidates *shown, const struct findings *findings,
                        const char *verdict, struct labels *symptoms, struct labels *fixes)
{
    if (!strcmp(verdict, "no-fault") || is_silent(findings, shown))
        labels_silent_symptoms(&judgement->opinion, makes_steps(findings), symptoms);
    else
        labels_symptoms(shown, &judgement->opinion, symptoms);
    labels_fixes(shown, &judgement->opinion, fixes);
    tone_down(findings, verdict, symptoms);
    tone_down(findings, verdict, fixes);
}

static json_t *pack_report(const struct diagnose_input *input, const struct judgement *judgement, const struct candidates *shown,
                           const char *verdict, json_t *symptoms, json_t *fixes, json_t *similar)
{
    const struct findings *findings = input->findings;
    bool fault = strcmp(verdict, "no-fault") != 0;
    int32_t rank = fault ? verdict_first_failing_rank(findings, shown) : RANK_UNKNOWN;
    json_t *report = json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "dtkb.report/1", "input",
                               tree_inputs(findings), "verdict", verdict, "first_failing_rank",
                               rank == RANK_UNKNOWN ? json_null() : json_integer(rank), "symptoms", symptoms, "fixes", fixes, "causes",
                               causes_json(shown, input), "evidence", tree_other_evidence(fault ? findings : NULL, 12), "similar", similar,
                               "next", fault ? tree_next(shown, input->facts, findings) : json_array(), "versions", tree_versions(findings),
                               "facts", tree_facts(input->facts), "probes", tree_probes(input->probes));
    if (report && input->trials && input->trials->count)
        json_object_set_new(report, "trials", tree_trials(input->trials, &judgement->candidates));
    return report;
}

static dtkb_status write_report(struct kb *kb, const struct diagnose_input *input, struct judgement *judgement, json_t **out,
                                struct err *err)
{
    const char *verdict = verdict_decide(input->findings, &judgement->candidates, input->probes);
    bool fault = strcmp(verdict, "no-fault") != 0, hints = wants_hints(input->findings, verdict);
    struct candidates none = {0};
    const struct candidates *shown = fault ? &judgement->candidates : &none;
    struct labels symptoms = {0}, fixes = {0};
    json_t *similar = NULL;
    if (fault || hints) {
        fill_labels(judgement, shown, input->findings, verdict, &symptoms, &fixes);
        dtkb_status status =
            similar_json(kb, &judgement->similar, input->findings, input->max_similar ? input->max_similar : 5, &similar, err);
        if (status != DTKB_OK)
            return status;
    }
    *out = pack_report(input, judgement, shown, verdict, labels_json(kb, &symptoms, "id"), labels_json(kb, &fixes, "pattern"),
                       similar ? similar : json_array());
    return *out ? DTKB_OK : err_set(err, DTKB_E_INTERNAL, "the report could not be put together");
}

dtkb_status diagnose(struct kb *kb, const struct diagnose_input *input, json_t **report, struct err *err)
{
    struct judgement judgement = {0};
    struct score_input evidence = {input->findings, input->facts, input->probes, input->trials, &judgement.opinion};
    dtkb_status status = opinion_form(kb, input->findings, &judgement.opinion, err);
    if (status == DTKB_OK)
        status = score_all(kb, &evidence, &judgement.candidates, err);
    if (status == DTKB_OK && input->findings) {
        const struct candidates *candidates = &judgement.candidates;
        bool sure = candidates->count && candidates->list[0].confidence >= CONFIDENCE_CONVINCING;
        status = similar_find(kb, input->findings, sure ? candidates->list[0].cause->symptom : NULL, &judgement.similar, err);
    }
    if (status == DTKB_OK)
        status = write_report(kb, input, &judgement, report, err);
    similar_free(&judgement.similar);
    candidates_free(&judgement.candidates);
    return status;
}

#include "diagnose/score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "diagnose/condition.h"

const char *const score_term_names[TERM_COUNT] = {
    [TERM_SIGNATURES] = "signatures", [TERM_SUPPORT] = "support", [TERM_AGAINST] = "against", [TERM_GENERIC] = "generic",
    [TERM_CASCADE] = "cascade",       [TERM_ORDER] = "order",     [TERM_PRIOR] = "prior",     [TERM_WORDS] = "words",
    [TERM_VERSION] = "version",       [TERM_FACTS] = "facts",     [TERM_TRIAL] = "trial",     [TERM_WENT_ON] = "went-on",
    [TERM_ALIVE] = "alive",           [TERM_FOREIGN] = "foreign",
};

static double strength_probability(enum sig_strength strength)
{
    static const double probability[] = {[SIG_WEAK] = 0.20, [SIG_MODERATE] = 0.50, [SIG_STRONG] = 0.80, [SIG_PROOF] = 0.95};
    return probability[strength];
}

static struct candidate *candidate_of(struct candidates *candidates, const struct cause *cause)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->list[i].cause->index == cause->index)
            return &candidates->list[i];
    if (candidates->count == candidates->capacity) {
        size_t capacity = candidates->capacity ? candidates->capacity * 2 : 16;
        struct candidate *list = realloc(candidates->list, capacity * sizeof *list);
        if (!list)
            return NULL;
        candidates->list = list;
        candidates->capacity = capacity;
    }
    struct candidate *candidate = &candidates->list[candidates->count++];
    *candidate = (struct candidate){.cause = cause, .first = UINT64_MAX, .miss = 1.0};
    return candidate;
}

/* Notes a signature; false when it was counted before (another rank, a later line). */
static bool count_signature(struct candidate *candidate, uint32_t signature, bool *failed)
{
    for (size_t i = 0; i < candidate->seen_count; i++)
        if (candidate->seen[i] == signature)
            return false;
    if (candidate->seen_count == candidate->seen_capacity) {
        size_t capacity = candidate->seen_capacity ? candidate->seen_capacity * 2 : 8;
        uint32_t *seen = realloc(candidate->seen, capacity * sizeof *seen);
        if (!seen) {
            *failed = true;
            return false;
        }
        candidate->seen = seen;
        candidate->seen_capacity = capacity;
    }
    candidate->seen[candidate->seen_count++] = signature;
    return true;
}

static bool keep_evidence(struct candidate *candidate, const struct evidence *evidence)
{
    if (candidate->evidence_count == candidate->evidence_capacity) {
        size_t capacity = candidate->evidence_capacity ? candidate->evidence_capacity * 2 : 8;
        const struct evidence **list = realloc(candidate->evidence, capacity * sizeof *list);
        if (!list)
            return false;
        candidate->evidence = list;
        candidate->evidence_capacity = capacity;
    }
    candidate->evidence[candidate->evidence_count++] = evidence;
    return true;
}

/* `follows`: its line is of what follows from another rank's trouble. */
static bool add_evidence(struct candidate *candidate, const struct evidence *evidence, const struct signature *signature, bool follows)
{
    bool failed = false, fresh = count_signature(candidate, evidence->signature, &failed);
    if (failed || !keep_evidence(candidate, evidence))
        return false;
    if (evidence->sequence > candidate->last)
        candidate->last = evidence->sequence;
    if (signature->effect == SIG_AGAINST) {
        candidate->against += fresh;
        return true;
    }
    if (signature->effect == SIG_SUPPORT) {
        candidate->support += fresh;
        return true;
    }
    if (fresh)
        candidate->miss *= 1.0 - strength_probability(signature->strength);
    /* The weak signs of a card that only names the kind of trouble take any exception for its beginning. */
    bool takes_any = candidate->cause->generic && signature->strength == SIG_WEAK;
    bool initiating = evidence->role == ROLE_INITIATING && !(takes_any && follows);
    if ((initiating && !candidate->initiating) || (initiating == candidate->initiating && evidence->sequence < candidate->first))
        candidate->first = evidence->sequence;
    candidate->initiating = candidate->initiating || initiating;
    candidate->proof = candidate->proof || signature->strength == SIG_PROOF;
    candidate->measured = candidate->measured || evidence->observed;
    return true;
}

static dtkb_status gather_from_log(struct kb *kb, const struct findings *findings, struct candidates *out, struct err *err)
{
    const struct signature *signatures;
    size_t count;
    dtkb_status status = kb_signatures(kb, &signatures, &count, err);
    for (size_t i = 0; status == DTKB_OK && i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        const struct cause *cause;
        if (evidence->signature >= count)
            continue;
        status = kb_cause_brief(kb, signatures[evidence->signature].cause, &cause, err);
        if (status != DTKB_OK)
            break;
        struct candidate *candidate = candidate_of(out, cause);
        if (!candidate || !add_evidence(candidate, evidence, &signatures[evidence->signature], findings_line_follows(findings, i)))
            status = err_nomem(err);
    }
    /* `support` and `against` alone make no candidate. */
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (out->list[i].miss < 1.0) {
            out->list[kept++] = out->list[i];
        } else {
            free(out->list[i].evidence);
            free(out->list[i].seen);
        }
    }
    out->count = kept;
    return status;
}

/* The facts' word on a candidate; its body is read here for the first time. */
static dtkb_status judge_by_facts(struct kb *kb, struct candidate *candidate, const struct fact_set *facts, struct err *err)
{
    dtkb_status status = kb_cause(kb, candidate->cause->index, &candidate->cause, err);
    if (status != DTKB_OK || !facts)
        return status;
    const struct cause *cause = candidate->cause;
    if (cause->confirm && condition_test(cause->confirm, facts, &candidate->confirmed_by) == TRUTH_YES)
        candidate->terms[TERM_FACTS] += cause->generic ? SCORE_CONFIRMED / 2 : SCORE_CONFIRMED;
    if (cause->refute && condition_test(cause->refute, facts, &candidate->refuted_by) == TRUTH_YES)
        candidate->terms[TERM_FACTS] -= SCORE_REFUTED;
    return DTKB_OK;
}

/* The facts that say how a probe's own attempt went: "cuda.init.status", "gpu.driver.present". */
static bool is_outcome(const struct fact *fact)
{
    const char *part = strrchr(fact->name, '.');
    return part && (!strcmp(part, ".status") || !strcmp(part, ".present"));
}

/* Did the plugin mark what its fault consists of? */
static bool marks_faults(const struct fact_set *facts, const char *plugin)
{
    for (size_t i = 0; i < facts->count; i++)
        if (facts->facts[i].wrong && !strcmp(facts->facts[i].plugin, plugin))
            return true;
    return false;
}

/* Does this fact alone accuse anybody? Only when its probe found a fault (and, where the probe marks such facts, in this one), or could not
 * do its work and this fact says so: a machine without a GPU, or with a small /dev/shm, is no fault as long as nothing fails. */
static bool is_accusing(const struct fact *fact, const struct fact_set *facts, const struct probe_results *probes)
{
    if (fact && !fact->wrong && marks_faults(facts, fact->plugin))
        return false;
    for (size_t i = 0; fact && probes && i < probes->count; i++) {
        const struct probe_result *result = &probes->results[i];
        if (!strcmp(result->plugin, fact->plugin) &&
            (result->status == PROBE_FAULT || (result->status == PROBE_UNAVAILABLE && is_outcome(fact))))
            return true;
    }
    return false;
}

/* A candidate that no line of the log names; such stand in the order of the cards. */
static dtkb_status add_unlogged(struct candidates *out, const struct cause *cause, struct err *err)
{
    struct candidate *candidate = candidate_of(out, cause);
    if (!candidate)
        return err_nomem(err);
    candidate->initiating = true;
    candidate->first = cause->index;
    return DTKB_OK;
}

/* Without a log, the facts of probes that found something bring up the causes they confirm. */
static dtkb_status gather_from_facts(struct kb *kb, const struct score_input *input, struct candidates *out, struct err *err)
{
    size_t count = kb_cause_count(kb);
    for (uint32_t i = 0; i < count; i++) {
        const struct cause *cause;
        const struct fact *fact = NULL;
        dtkb_status status = kb_cause(kb, i, &cause, err);
        if (status != DTKB_OK)
            return status;
        if (!cause->confirm || condition_test(cause->confirm, input->facts, &fact) != TRUTH_YES ||
            !is_accusing(fact, input->facts, input->probes))
            continue;
        status = add_unlogged(out, cause, err);
        if (status != DTKB_OK)
            return status;
    }
    return DTKB_OK;
}

static void judge_by_trials(struct candidate *candidate, const struct trial_runs *trials)
{
    enum trial_word word = trial_judge(trials, candidate->cause);
    candidate->proven = word == TRIAL_PROVES;
    candidate->disproven = word == TRIAL_DISPROVES;
    candidate->terms[TERM_TRIAL] = candidate->proven ? SCORE_PROVEN : candidate->disproven ? -SCORE_DISPROVEN : 0.0;
}

/* Where a change works that no candidate names, the cards come up that name it before any other. Not where it replaced a value of the job's
 * own: then that value is what was wrong. */
static dtkb_status gather_from_trials(struct kb *kb, const struct trial_runs *trials, struct candidates *out, struct err *err)
{
    const struct trial_run *run = NULL;
    for (size_t i = 0; trials && i < trials->count; i++)
        if (trials->runs[i].works && !trials->runs[i].replaces)
            run = &trials->runs[i];
    for (size_t i = 0; run && i < out->count; i++) {
        const struct cause *cause;
        dtkb_status status = kb_cause(kb, out->list[i].cause->index, &cause, err);
        if (status != DTKB_OK)
            return status;
        if (trial_judge(trials, cause) == TRIAL_PROVES)
            return DTKB_OK;
    }
    for (uint32_t i = 0; run && i < kb_cause_count(kb); i++) {
        const struct cause *cause;
        dtkb_status status = kb_cause(kb, i, &cause, err);
        if (status != DTKB_OK)
            return status;
        if (cause->generic || !cause->trial_count || strcmp(cause->trials[0].probe, run->probe) != 0 ||
            strcmp(cause->trials[0].change, run->named) != 0)
            continue;
        status = add_unlogged(out, cause, err);
        if (status != DTKB_OK)
            return status;
    }
    return DTKB_OK;
}

static double version_term(const struct cause *cause, const struct findings *findings)
{
    bool fits = false;
    for (size_t i = 0; i < cause->applies_count; i++) {
        const struct version_range *range = &cause->applies[i];
        for (size_t j = 0; findings && j < findings->version_count; j++) {
            const struct detected_version *found = &findings->versions[j];
            if (strcmp(found->component, range->component) != 0)
                continue;
            if ((range->from && version_compare(found->version, range->from) < 0) ||
                (range->below && version_compare(found->version, range->below) >= 0))
                return -SCORE_VERSION_MISFIT;
            fits = true;
        }
    }
    return fits ? SCORE_VERSION_FITS : 0.0;
}

static double prior_term(struct kb *kb, const char *symptom)
{
    double term = SCORE_PRIOR * log(kb_symptom_prior(kb, symptom) * 30.0);
    return fmax(-0.5, fmin(0.5, term));
}

/* Where training was last seen to go on, 0 when it never was. */
static uint64_t last_progress(const struct findings *findings)
{
    uint64_t last = 0;
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == EV_PROGRESS && findings->evidence[i].sequence > last)
            last = findings->evidence[i].sequence;
    return last;
}

bool score_ended_well(const struct findings *findings)
{
    bool told = false;
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == EV_EXIT) {
            if (findings->evidence[i].number != 0)
                return false;
            told = true;
        }
    return told && findings->clean_end;
}

/* An exception, a signal, an exit status; or a probe whose work failed before our eyes. */
static bool anything_died(const struct findings *findings, const struct probe_results *probes)
{
    for (size_t i = 0; probes && i < probes->count; i++) {
        enum probe_status status = probes->results[i].status;
        if (status == PROBE_FAULT || status == PROBE_CRASHED || status == PROBE_TIMED_OUT || status == PROBE_STUCK)
            return true;
    }
    for (size_t i = 0; i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (evidence->kind == EV_EXCEPTION || evidence->kind == EV_SIGNAL || evidence->kind == EV_DUMP ||
            (evidence->kind == EV_EXIT && evidence->number))
            return true;
    }
    return false;
}

static bool speaks_at(const struct candidate *candidate, uint64_t sequence)
{
    for (size_t i = 0; i < candidate->evidence_count; i++)
        if (candidate->evidence[i]->sequence == sequence)
            return true;
    return false;
}

/* Something else began the trouble, on another line: an exception or signal, or what a card that explains it was found by. A card that only
 * names the kind of trouble, or calls the same line an exception, does not count. */
static bool began_elsewhere(const struct findings *findings, const struct candidates *candidates, const struct candidate *candidate)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *other = &candidates->list[i];
        if (other->initiating && !other->cause->generic && !speaks_at(candidate, other->first))
            return true;
    }
    for (size_t i = 0; findings && i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        bool death = evidence->kind == EV_EXCEPTION || evidence->kind == EV_SIGNAL;
        if (death && evidence->role == ROLE_INITIATING && !speaks_at(candidate, evidence->sequence))
            return true;
    }
    return false;
}

static void fill_terms(struct kb *kb, const struct findings *findings, struct candidate *candidate, bool elsewhere, bool died)
{
    double p = fmin(1.0 - candidate->miss, 0.985);
    double *terms = candidate->terms;
    terms[TERM_SIGNATURES] = p > 0 ? log(p / (1.0 - p)) : SCORE_FACTS_ALONE;
    terms[TERM_SUPPORT] = SCORE_SUPPORT * (candidate->support < 3 ? candidate->support : 3);
    terms[TERM_AGAINST] = -SCORE_AGAINST * candidate->against;
    if (!candidate->initiating)
        terms[TERM_CASCADE] = elsewhere ? -SCORE_CASCADE_BESIDE : -SCORE_CASCADE_ALONE;
    terms[TERM_PRIOR] = prior_term(kb, candidate->cause->symptom);
    terms[TERM_VERSION] = version_term(candidate->cause, findings);
    if (!findings)
        return;
    if (score_ended_well(findings))
        terms[TERM_WENT_ON] = -SCORE_CLEAN_END;
    else if (candidate->evidence_count && !candidate->measured && last_progress(findings) > candidate->last)
        terms[TERM_WENT_ON] = -SCORE_WENT_ON;
    bool told_only = !candidate->proof && !candidate->measured, foreign = told_only && !findings->training_log;
    if (told_only && !died && !(foreign && findings->lines <= PASTED_LINES))
        terms[TERM_ALIVE] = -SCORE_ALIVE;
    if (foreign) {
        terms[TERM_SIGNATURES] = fmin(terms[TERM_SIGNATURES], log(SCORE_FOREIGN_MOST / (1.0 - SCORE_FOREIGN_MOST)));
        terms[TERM_FOREIGN] = -SCORE_FOREIGN;
    }
}

static bool any_confirmed(const struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->list[i].confirmed_by || candidates->list[i].proven)
            return true;
    return false;
}

/* A fact of the machine tells cards apart better than words do: where one confirms, words are not asked. */
static void fill_words_terms(const struct score_input *input, struct candidates *candidates)
{
    const struct guesses *guesses = &input->opinion->symptoms;
    if (!input->findings || !input->findings->training_log || !guesses->count || any_confirmed(candidates))
        return;
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate *candidate = &candidates->list[i];
        double share = guesses_share(guesses, candidate->cause->symptom) / guesses->list[0].share;
        if (!candidate->proof)
            candidate->terms[TERM_WORDS] = fmax(-SCORE_WORDS_MAX, SCORE_WORDS * log(share + 1e-9));
    }
}

/* Does a card that explains speak with more than a hint, or with a fact of the machine? */
static bool explains(const struct candidate *candidate)
{
    return !candidate->cause->generic && (1.0 - candidate->miss >= 0.45 || candidate->confirmed_by || candidate->proven);
}

static void fill_generic_terms(struct candidates *candidates)
{
    bool explained = false;
    for (size_t i = 0; i < candidates->count; i++)
        explained = explained || explains(&candidates->list[i]);
    for (size_t i = 0; i < candidates->count; i++)
        if (candidates->list[i].cause->generic)
            candidates->list[i].terms[TERM_GENERIC] = explained ? -SCORE_GENERIC : -SCORE_GENERIC_ALONE;
}

static int by_first(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    if (l->initiating != r->initiating)
        return l->initiating ? -1 : 1;
    if (l->first != r->first)
        return l->first < r->first ? -1 : 1;
    return l->cause->index < r->cause->index ? -1 : l->cause->index > r->cause->index;
}

/* Did others lose their peer, or a launcher its worker, after the first candidate spoke? */
static bool cascade_follows(const struct findings *findings, uint64_t first)
{
    for (size_t i = 0; findings && i < findings->evidence_count; i++)
        if (findings->evidence[i].role == ROLE_CASCADE && findings->evidence[i].sequence > first)
            return true;
    return false;
}

static void fill_order_terms(const struct findings *findings, struct candidates *candidates)
{
    if (candidates->count)
        qsort(candidates->list, candidates->count, sizeof *candidates->list, by_first);
    unsigned step = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate *candidate = &candidates->list[i];
        if (!candidate->initiating || !candidate->evidence_count)
            continue;
        if (i && candidate->first != candidates->list[i - 1].first)
            step++;
        candidate->terms[TERM_ORDER] = step == 0 ? SCORE_FIRST + (cascade_follows(findings, candidate->first) ? SCORE_FOLLOWED : 0.0)
                                                 : -SCORE_LATER * (step < 3 ? step : 3);
    }
}

static int by_score(const void *left, const void *right)
{
    const struct candidate *l = left, *r = right;
    if (l->score != r->score)
        return l->score > r->score ? -1 : 1;
    return l->cause->index < r->cause->index ? -1 : l->cause->index > r->cause->index;
}

static void sum_up(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate *candidate = &candidates->list[i];
        candidate->score = 0;
        for (int term = 0; term < TERM_COUNT; term++)
            candidate->score += candidate->terms[term];
    }
    if (candidates->count)
        qsort(candidates->list, candidates->count, sizeof *candidates->list, by_score);
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate *candidate = &candidates->list[i];
        bool foreign = candidate->terms[TERM_FOREIGN] != 0.0; /* whom it outdoes in a text that is no job's log means nothing */
        double lead = foreign ? 0.0 : 4.0;                    /* without a rival */
        for (size_t j = 0; !foreign && j < candidates->count; j++)
            if (strcmp(candidates->list[j].cause->symptom, candidate->cause->symptom) != 0) {
                lead = candidate->score - candidates->list[j].score;
                break;
            }
        double x = CONFIDENCE_OFFSET + CONFIDENCE_SLOPE * candidate->score + CONFIDENCE_LEAD * fmax(0.0, fmin(4.0, lead));
        candidate->confidence = 1.0 / (1.0 + exp(-x));
    }
}

dtkb_status score_all(struct kb *kb, const struct score_input *input, struct candidates *out, struct err *err)
{
    const struct findings *findings = input->findings;
    bool died = findings && anything_died(findings, input->probes);
    dtkb_status status = DTKB_OK;
    if (findings)
        status = gather_from_log(kb, findings, out, err);
    if (status == DTKB_OK && input->facts && !(findings && findings->evidence_count))
        status = gather_from_facts(kb, input, out, err);
    if (status == DTKB_OK)
        status = gather_from_trials(kb, input->trials, out, err);
    for (size_t i = 0; status == DTKB_OK && i < out->count; i++) {
        status = judge_by_facts(kb, &out->list[i], input->facts, err);
        judge_by_trials(&out->list[i], input->trials);
        if (status == DTKB_OK)
            fill_terms(kb, findings, &out->list[i], began_elsewhere(findings, out, &out->list[i]), died);
    }
    if (status != DTKB_OK)
        return status;
    fill_words_terms(input, out);
    fill_generic_terms(out);
    fill_order_terms(findings, out);
    sum_up(out);
    return DTKB_OK;
}

void candidates_free(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++) {
        free(candidates->list[i].evidence);
        free(candidates->list[i].seen);
    }
    free(candidates->list);
    *candidates = (struct candidates){0};
}

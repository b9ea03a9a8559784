#include "diagnose/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an `also` label gets of its card's confidence, by its place: the card's author put the likelier one first. */
static const double also_share[] = {0.30, 0.20, 0.12};
#define ALSO_SHARES (sizeof also_share / sizeof *also_share)

/* Similar issues speak in full where no cause does, and only break ties where one is sure: the vote's weight falls with what is known. */
#define VOTE_ALONE 0.55
#define VOTE_BESIDE 0.15

static void raise_label(struct labels *labels, const char *id, double confidence)
{
    for (size_t i = 0; i < labels->count; i++)
        if (!strcmp(labels->list[i].id, id)) {
            labels->list[i].confidence = 1.0 - (1.0 - labels->list[i].confidence) * (1.0 - confidence);
            return;
        }
    if (labels->count < sizeof labels->list / sizeof *labels->list)
        labels->list[labels->count++] = (struct label){.id = id, .confidence = confidence};
}

static int by_confidence(const void *left, const void *right)
{
    const struct label *l = left, *r = right;
    if (l->confidence != r->confidence)
        return l->confidence > r->confidence ? -1 : 1;
    return strcmp(l->id, r->id);
}

static double best_confidence(const struct candidates *candidates)
{
    return candidates->count ? candidates->list[0].confidence : 0;
}

static void sort_labels(struct labels *labels, double ceiling)
{
    qsort(labels->list, labels->count, sizeof *labels->list, by_confidence);
    for (size_t i = 0; i < labels->count; i++)
        labels->list[i].confidence = fmin(labels->list[i].confidence, ceiling);
}

void labels_symptoms(const struct candidates *candidates, const struct similar *similar, struct labels *out)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->list[i];
        /* Later candidates are rivals, not more of the same: each place counts for less. */
        double confidence = candidate->confidence / (double)(i + 1);
        if (candidate->confidence < CONFIDENCE_SHOWN)
            break;
        raise_label(out, candidate->cause->symptom, confidence);
        for (size_t a = 0; a < candidate->cause->also_symptom_count && a < ALSO_SHARES; a++)
            raise_label(out, candidate->cause->also_symptoms[a], confidence * also_share[a]);
    }
    double known = best_confidence(candidates), weight = known >= CONFIDENCE_SHOWN ? VOTE_BESIDE * (1.0 - known) : VOTE_ALONE;
    for (size_t i = 0; i < similar->symptom_count; i++)
        raise_label(out, similar->symptoms[i].id, similar->symptoms[i].weight * weight);
    sort_labels(out, 0.99);
}

/* What the study calls unexpected performance, and time-outs that nobody reported yet: they come without an error line. A job that makes steps
 * has met and is prepared. */
static const struct {
    const char *id;
    bool before_steps;
} silent_symptoms[] = {
    {"training-evaluation/hang", false},
    {"training-evaluation/low-efficiency", false},
    {"training-evaluation/non-convergence", false},
    {"training-evaluation/unexpected-intermediate-result", false},
    {"training-evaluation/unexpected-parallelization-device", false},
    {"training-evaluation/unexpected-performance-others", false},
    {"communication-setup/hang-timeout", true},
    {"data-model-preparation/hang-timeout", true},
    {"communication-setup/unexpected-protocol", false},
    {"training-evaluation/memory-issue", false},
};
#define UNLIKELY 0.5

void labels_silent_symptoms(struct kb *kb, const struct similar *similar, bool progress, struct labels *out)
{
    for (size_t i = 0; i < sizeof silent_symptoms / sizeof *silent_symptoms; i++) {
        const char *id = silent_symptoms[i].id;
        double likely = progress && silent_symptoms[i].before_steps ? UNLIKELY : 1.0;
        raise_label(out, id, likely * kb_symptom_prior(kb, id));
        for (size_t v = 0; v < similar->symptom_count; v++)
            if (!strcmp(similar->symptoms[v].id, id))
                raise_label(out, id, likely * similar->symptoms[v].weight * VOTE_ALONE);
    }
    sort_labels(out, 0.99);
}

void labels_fixes(struct kb *kb, const struct candidates *candidates, const struct similar *similar, const char *symptom,
                  struct labels *out)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->list[i];
        double confidence = candidate->confidence / (double)(i + 1);
        if (candidate->confidence < CONFIDENCE_SHOWN)
            break;
        raise_label(out, candidate->cause->fix, confidence * 0.8);
        for (size_t a = 0; a < candidate->cause->also_fix_count && a < ALSO_SHARES; a++)
            raise_label(out, candidate->cause->also_fixes[a], confidence * also_share[a]);
    }
    double known = best_confidence(candidates), weight = known >= CONFIDENCE_SHOWN ? VOTE_BESIDE : VOTE_ALONE;
    for (size_t i = 0; i < similar->fix_count; i++)
        raise_label(out, similar->fixes[i].id, similar->fixes[i].weight * weight);
    /* What usually cures this symptom in the study, as a last resort. */
    for (size_t i = 0; symptom && i < out->count; i++)
        out->list[i].confidence = 1.0 - (1.0 - out->list[i].confidence) * (1.0 - 0.1 * kb_fix_prior(kb, symptom, out->list[i].id));
    sort_labels(out, 0.95);
}

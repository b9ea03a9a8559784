#include "diagnose/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an `also` label gets of its card's confidence, by its place: the card's author put the likelier one first. */
#define ALSO_SHARES 3
static const double also_symptom_share[ALSO_SHARES] = {0.30, 0.20, 0.12}, also_fix_share[ALSO_SHARES] = {0.40, 0.30, 0.20};

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

#define CEILING 0.99 /* nothing is certain */

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

/* What a label is believed at the least that no card speaks for, before its words are asked. */
#define UNTOLD 0.04
/* A card is sure of what it read, less so of how somebody will file or cure it: what it says of labels is worth a power below one. */
#define CARDS_POWER 0.4

/* What the label of a card that convinces keeps of its confidence: how likely the words find it against the label they like best, to a
 * power that says how much they are heard. A card of 0.85 and more was right about the symptom in 0.94 of 720 reports that no card was
 * written from where that ratio was above 0.8, in 0.58 where it was from 0.3 to 0.8, in 0.14 below. How a trouble is cured a card knows less
 * well: of 573 later reports the first fix was right in 305 with the words heard so, in 289 where they were heard as on symptoms. */
#define WORDS_ON_SYMPTOMS 0.5
#define WORDS_ON_FIXES 1.5

static double borne_out(const struct guesses *guesses, const char *label, double power)
{
    return pow(guesses_share(guesses, label) / guesses->list[0].share, power);
}

/* Cards and words together: what each label gets is its cards' confidence, tempered, times its share by the words, all of it summing to
 * what there is to give. The label of a card that convinces stands on its own, and the words order what it leaves. */
static void join_words(const struct guesses *guesses, const struct candidates *candidates, double power, struct labels *labels)
{
    bool sure = best_confidence(candidates) >= CONFIDENCE_CONVINCING;
    if (!guesses->count)
        return;
    sort_labels(labels, CEILING);
    size_t kept = sure && labels->count ? 1 : 0;
    if (kept)
        labels->list[0].confidence *= borne_out(guesses, labels->list[0].id, power);
    double left = kept ? 1.0 - labels->list[0].confidence : 1.0, sum = 0;
    for (size_t i = 0; i < guesses->count; i++)
        raise_label(labels, guesses->list[i].label, 0.0);
    for (size_t i = kept; i < labels->count; i++) {
        struct label *label = &labels->list[i];
        label->confidence = pow(fmax(label->confidence, UNTOLD), CARDS_POWER) * guesses_share(guesses, label->id);
        sum += label->confidence;
    }
    for (size_t i = kept; sum > 0 && i < labels->count; i++)
        labels->list[i].confidence *= left / sum;
}

void labels_symptoms(const struct candidates *candidates, const struct opinion *opinion, struct labels *out)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->list[i];
        /* Later candidates are rivals, not more of the same: each place counts for less. */
        double confidence = candidate->confidence / (double)(i + 1);
        if (candidate->confidence < CONFIDENCE_SHOWN)
            break;
        raise_label(out, candidate->cause->symptom, confidence);
        for (size_t a = 0; a < candidate->cause->also_symptom_count && a < ALSO_SHARES; a++)
            raise_label(out, candidate->cause->also_symptoms[a], confidence * also_symptom_share[a]);
    }
    join_words(&opinion->symptoms, candidates, WORDS_ON_SYMPTOMS, out);
    sort_labels(out, CEILING);
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
#define SILENT_ODDS 3.0 /* of such a kind against one that would have printed an error */
#define UNLIKELY 0.5

void labels_silent_symptoms(const struct opinion *opinion, bool progress, struct labels *out)
{
    double sum = 0;
    for (size_t i = 0; i < opinion->symptoms.count; i++)
        raise_label(out, opinion->symptoms.list[i].label, opinion->symptoms.list[i].share);
    for (size_t i = 0; i < sizeof silent_symptoms / sizeof *silent_symptoms; i++)
        for (size_t j = 0; j < out->count; j++)
            if (!strcmp(out->list[j].id, silent_symptoms[i].id))
                out->list[j].confidence *= SILENT_ODDS * (progress && silent_symptoms[i].before_steps ? UNLIKELY : 1.0);
    for (size_t i = 0; i < out->count; i++)
        sum += out->list[i].confidence;
    for (size_t i = 0; sum > 0 && i < out->count; i++)
        out->list[i].confidence /= sum;
    sort_labels(out, CEILING);
}

/* The first fix of a card was among those that cured in 204 of 357 reports where the card was right about the symptom. */
#define FIRST_FIX 0.57

void labels_fixes(const struct candidates *candidates, const struct opinion *opinion, struct labels *out)
{
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->list[i];
        double confidence = candidate->confidence / (double)(i + 1);
        if (candidate->confidence < CONFIDENCE_SHOWN)
            break;
        raise_label(out, candidate->cause->fix, confidence * FIRST_FIX);
        for (size_t a = 0; a < candidate->cause->also_fix_count && a < ALSO_SHARES; a++)
            raise_label(out, candidate->cause->also_fixes[a], confidence * also_fix_share[a]);
    }
    join_words(&opinion->fixes, candidates, WORDS_ON_FIXES, out);
    sort_labels(out, 0.95);
}

/* Symptoms and fixes of a report: the causes' labels, filled up by the vote of similar issues and the study's frequencies. */
#ifndef DTKB_DIAGNOSE_LABELS_H
#define DTKB_DIAGNOSE_LABELS_H

#include <jansson.h>

#include "diagnose/score.h"
#include "diagnose/similar.h"

struct label {
    const char *id;
    double confidence;
};
struct labels {
    struct label list[24];
    size_t count;
};

/* Best first. Causes must be sorted; only those shown count. */
void labels_symptoms(const struct candidates *candidates, const struct similar *similar, struct labels *out);
/* Of a log that complains of nothing: only kinds of trouble that show no error can be meant. */
void labels_silent_symptoms(struct kb *kb, const struct similar *similar, bool progress, struct labels *out);
void labels_fixes(struct kb *kb, const struct candidates *candidates, const struct similar *similar, const char *symptom,
                  struct labels *out);

#endif

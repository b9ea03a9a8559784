/* Symptoms and fixes of a report: the causes' labels, ordered by the log's words and the study's frequencies. */
#ifndef DTKB_DIAGNOSE_LABELS_H
#define DTKB_DIAGNOSE_LABELS_H

#include <jansson.h>

#include "diagnose/score.h"
#include "diagnose/opinion.h"

struct label {
    const char *id;
    double confidence;
};
struct labels {
    struct label list[KB_GUESSES_MAX];
    size_t count;
};

/* Best first. Causes must be sorted; only those shown count. */
void labels_symptoms(const struct candidates *candidates, const struct opinion *opinion, struct labels *out);
/* Of a log that complains of nothing: kinds of trouble that show no error are meant most often. `progress`: steps were made. */
void labels_silent_symptoms(const struct opinion *opinion, bool progress, struct labels *out);
void labels_fixes(const struct candidates *candidates, const struct opinion *opinion, struct labels *out);

#endif

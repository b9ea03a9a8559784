/* Similar issues: what the log's error text finds among the study's issues and the reports. */
#ifndef DTKB_DIAGNOSE_SIMILAR_H
#define DTKB_DIAGNOSE_SIMILAR_H

#include <jansson.h>

#include "kb/kb.h"
#include "scan/findings.h"

struct similar {
    struct kb_hits hits; /* best first */
};

/* Searches with the error lines of the findings (nothing found: a count of 0). `symptom` (may be NULL) is the symptom already
 * convincing: its issues are searched first. */
dtkb_status similar_find(struct kb *kb, const struct findings *findings, const char *symptom, struct similar *out, struct err *err);
void similar_free(struct similar *similar);

/* The hits as the report shows them: id, url, title, symptom, fixes, score, versions against those detected. At most `limit`. */
dtkb_status similar_json(struct kb *kb, const struct similar *similar, const struct findings *findings, size_t limit, json_t **out,
                         struct err *err);

#endif

/* Judging: findings + facts + knowledge -> the report as a JSON tree (engine/report.schema.json). The scoring model is documented in
 * score.h. */
#ifndef DTKB_DIAGNOSE_DIAGNOSE_H
#define DTKB_DIAGNOSE_DIAGNOSE_H

#include <jansson.h>

#include "base/err.h"
#include "base/fact.h"
#include "kb/kb.h"
#include "diagnose/trial.h"
#include "probe/probe.h"
#include "scan/findings.h"

struct diagnose_input {
    const struct findings *findings;    /* may be NULL: the machine alone */
    const struct fact_set *facts;       /* may be NULL */
    const struct probe_results *probes; /* may be NULL */
    const struct trial_runs *trials;    /* may be NULL */
    size_t max_causes, max_similar;     /* 0: 5 each */
    bool explain_scores;
};

dtkb_status diagnose(struct kb *kb, const struct diagnose_input *input, json_t **report, struct err *err);

#endif

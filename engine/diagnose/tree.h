/* Parts of the report as JSON: evidence, causes, inputs, facts, probes, what to look at next. */
#ifndef DTKB_DIAGNOSE_TREE_H
#define DTKB_DIAGNOSE_TREE_H

#include <jansson.h>

#include "diagnose/diagnose.h"
#include "diagnose/score.h"

json_t *tree_inputs(const struct findings *findings);
json_t *tree_versions(const struct findings *findings);
json_t *tree_facts(const struct fact_set *facts);
json_t *tree_probes(const struct probe_results *probes);
json_t *tree_cause(const struct candidate *candidate, const struct findings *findings, bool explain_scores);
json_t *tree_trials(const struct trial_runs *trials, const struct candidates *candidates);
/* Evidence that belongs to no cause shown: exceptions, signals, exit statuses; where there is none, lines that look like errors; at most
 * `limit`. */
json_t *tree_other_evidence(const struct findings *findings, size_t limit);
/* The cheapest probe or log line that would separate the best candidates. */
json_t *tree_next(const struct candidates *candidates, const struct fact_set *facts, const struct findings *findings);

#endif

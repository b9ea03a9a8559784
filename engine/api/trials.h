/* Carrying out the causes' trials. */
#ifndef DTKB_API_TRIALS_H
#define DTKB_API_TRIALS_H

#include "api/diagnosis.h"

/* Tries to make a failing probe healthy by one change at a time: first what the causes of `report` name, then, for probes that failed in
 * this diagnosis, what any other cause names, the commonest first. The first change that works is confirmed, and so is that the fault is
 * still there without it; then it ends. Bounded in number and by the options' budget. The machine is never changed: a change is a variable
 * of the probe's own process. */
dtkb_status trials_run(struct dtkb_diagnosis *diagnosis, const json_t *report, struct err *err);

/* The changes that a card's change stands for: itself, or one per fact that its place holder matches (kb/README.md). At most `limit`. */
size_t trial_expand(const char *change, const struct fact_set *facts, struct arena *arena, const char **out, size_t limit);

/* The name of the fact in a change's place holder, NULL where there is none. */
const char *trial_place_holder(const char *change, struct arena *arena);

#endif

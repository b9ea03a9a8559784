/* Carrying out the causes' trials. */
#ifndef DTKB_API_TRIALS_H
#define DTKB_API_TRIALS_H

#include "api/diagnosis.h"

/* For the best causes of `report` that name trials: runs the probe as it is, then with each change, one at a time, until one works;
 * confirms that one twice. Bounded in number and by the options' budget. The machine is never changed: a change is a variable of the
 * probe's own process. */
dtkb_status trials_run(struct dtkb_diagnosis *diagnosis, const json_t *report, struct err *err);

/* The values a change stands for: itself, or one per fact that its place holder {name.of.*.fact} matches (the part that the * stands for;
 * with
 * {=name} the fact's value). At most `limit`. */
size_t trial_expand(const char *change, const struct fact_set *facts, struct arena *arena, const char **out, size_t limit);

#endif

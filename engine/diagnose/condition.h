/* Conditions over machine facts: what a card says would confirm or refute it. */
#ifndef DTKB_DIAGNOSE_CONDITION_H
#define DTKB_DIAGNOSE_CONDITION_H

#include "base/fact.h"
#include "kb/kb.h"

/* Kleene's three values: a fact nobody looked at leaves a condition unknown, never false. */
enum truth { TRUTH_NO, TRUTH_UNKNOWN, TRUTH_YES };

/* Evaluates a condition. `decisive` (may be NULL) receives the fact that made it true, or NULL. */
enum truth condition_test(const struct condition *condition, const struct fact_set *facts, const struct fact **decisive);

/* Calls `visit` for the name of each fact the condition asks for and that `facts` lacks. */
void condition_missing(const struct condition *condition, const struct fact_set *facts, void (*visit)(void *context, const char *fact),
                       void *context);

#endif

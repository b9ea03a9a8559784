/* Writing down which words texts of a known kind are made of, for classify.h. */
#ifndef DTKB_KB_LEARNER_H
#define DTKB_KB_LEARNER_H

#include <sqlite3.h>
#include <stdbool.h>

#include "kb/kb.h"

struct learner;

/* Tables of their own in the database that is being written. */
dtkb_status learner_new(sqlite3 *db, struct learner **out, struct err *err);
/* A text of that symptom, and of that fix pattern (either may be NULL). */
dtkb_status learner_add(struct learner *learner, const char *text, const char *symptom, const char *fix, struct err *err);
void learner_free(struct learner *learner);

#endif

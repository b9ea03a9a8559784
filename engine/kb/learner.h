/* Writing down which words texts of a known kind are made of, for classify.h. */
#ifndef DTKB_KB_LEARNER_H
#define DTKB_KB_LEARNER_H

#include <sqlite3.h>
#include <stdbool.h>

#include "kb/kb.h"

struct learner;

/* Tables of their own in the database that is being written. */
dtkb_status learner_new(sqlite3 *db, struct learner **out, struct err *err);
/* A text and every symptom and fix pattern that is right for it: one that could be filed under two kinds teaches both. */
struct lesson {
    const char *text;
    const char *symptom, *const *also_symptoms, *const *fixes;
    size_t also_symptom_count, fix_count;
};
dtkb_status learner_add(struct learner *learner, const struct lesson *lesson, struct err *err);
void learner_free(struct learner *learner);

#endif

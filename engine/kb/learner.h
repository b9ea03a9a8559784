/* Writing down which words texts of a known kind are made of, for classify.h. */
#ifndef DTKB_KB_LEARNER_H
#define DTKB_KB_LEARNER_H

#include <sqlite3.h>

#include "kb/kb.h"

#define LABELS_MAX (2 * KB_GUESSES_MAX) /* of both tasks together; the tables number them from 1 */

struct learner;

/* NULL when memory is short. */
struct learner *learner_new(sqlite3 *db);
/* A text and every symptom and fix pattern that is right for it: one that could be filed under two kinds teaches both. */
struct lesson {
    const char *text;
    const char *symptom, *const *also_symptoms, *const *fixes;
    size_t also_symptom_count, fix_count;
};
dtkb_status learner_add(struct learner *learner, const struct lesson *lesson, struct err *err);
/* Writes what all lessons taught into the database's empty tables `learned` and `word`. */
dtkb_status learner_write(struct learner *learner, struct err *err);
void learner_free(struct learner *learner);

#endif

#include "kb/learner.h"

#include <math.h>
#include <stdlib.h>

#include "kb/words.h"

struct learner {
    sqlite3 *db;
    sqlite3_stmt *find, *add_label, *add_word;
};

dtkb_status learner_new(sqlite3 *db, struct learner **out, struct err *err)
{
    struct learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return err_nomem(err);
    learner->db = db;
    if (sqlite3_prepare_v2(db, "SELECT n FROM learned WHERE task = ?1 AND label = ?2", -1, &learner->find, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db,
                           "INSERT INTO learned (task, label, weight) VALUES (?1, ?2, ?3)"
                           " ON CONFLICT DO UPDATE SET weight = weight + excluded.weight",
                           -1, &learner->add_label, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "INSERT INTO word VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET weight = weight + excluded.weight", -1,
                           &learner->add_word, NULL) != SQLITE_OK) {
        learner_free(learner);
        return err_set(err, DTKB_E_IO, "the knowledge base cannot be written: %s", sqlite3_errmsg(db));
    }
    *out = learner;
    return DTKB_OK;
}

void learner_free(struct learner *learner)
{
    if (!learner)
        return;
    sqlite3_finalize(learner->find);
    sqlite3_finalize(learner->add_label);
    sqlite3_finalize(learner->add_word);
    free(learner);
}

static bool done(sqlite3_stmt *statement)
{
    bool ok = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return ok;
}

static bool add_label(struct learner *learner, enum label_task task, const char *label, sqlite3_int64 weight, sqlite3_int64 *number)
{
    sqlite3_bind_int(learner->add_label, 1, (int)task);
    sqlite3_bind_text(learner->add_label, 2, label, -1, SQLITE_STATIC);
    sqlite3_bind_int64(learner->add_label, 3, weight);
    sqlite3_bind_int(learner->find, 1, (int)task);
    sqlite3_bind_text(learner->find, 2, label, -1, SQLITE_STATIC);
    bool ok = done(learner->add_label) && sqlite3_step(learner->find) == SQLITE_ROW;
    *number = ok ? sqlite3_column_int64(learner->find, 0) : 0;
    sqlite3_reset(learner->find);
    return ok;
}

/* Weights are kept as thousandths: whole numbers add up to the same everywhere. */
static sqlite3_int64 thousandths(double weight)
{
    return (sqlite3_int64)llround(weight * 1000.0);
}

static bool add_words(struct learner *learner, const struct words *words, enum label_task task, const char *label)
{
    sqlite3_int64 number, total = 0;
    for (size_t i = 0; i < words->count; i++)
        total += thousandths(words->list[i].weight);
    bool ok = add_label(learner, task, label, total, &number);
    for (size_t i = 0; ok && i < words->count; i++) {
        sqlite3_bind_text(learner->add_word, 1, words->list[i].text, -1, SQLITE_STATIC);
        sqlite3_bind_int64(learner->add_word, 2, number);
        sqlite3_bind_int64(learner->add_word, 3, thousandths(words->list[i].weight));
        ok = done(learner->add_word);
    }
    return ok;
}

static bool add_labels(struct learner *learner, const struct words *words, enum label_task task, const char *const *labels, size_t count)
{
    bool ok = true;
    for (size_t i = 0; ok && words->count && i < count; i++)
        ok = add_words(learner, words, task, labels[i]);
    return ok;
}

dtkb_status learner_add(struct learner *learner, const struct lesson *lesson, struct err *err)
{
    struct words words;
    dtkb_status status = words_of(lesson->text, &words, err);
    if (status != DTKB_OK)
        return status;
    if (!add_labels(learner, &words, TASK_SYMPTOM, &lesson->symptom, lesson->symptom != NULL) ||
        !add_labels(learner, &words, TASK_SYMPTOM, lesson->also_symptoms, lesson->also_symptom_count) ||
        !add_labels(learner, &words, TASK_FIX, lesson->fixes, lesson->fix_count))
        status = err_set(err, DTKB_E_IO, "the knowledge base cannot be written: %s", sqlite3_errmsg(learner->db));
    words_free(&words);
    return status;
}

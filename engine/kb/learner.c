#include "kb/learner.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "kb/postings.h"
#include "kb/words.h"

struct known_label {
    enum label_task task;
    const char *id;
    uint64_t weight; /* of all words under it */
};
/* What a word weighs under one label. */
struct share {
    size_t label;
    uint32_t weight;
    struct share *next; /* by label */
};
struct known_word {
    const char *text;
    struct share *shares;
};
struct learner {
    sqlite3 *db;
    struct known_label labels[LABELS_MAX]; /* numbered from 1 in the tables */
    size_t label_count;
    void *words; /* a tree (search.h) of struct known_word */
    struct arena arena;
};

struct learner *learner_new(sqlite3 *db)
{
    struct learner *learner = calloc(1, sizeof *learner);
    if (learner)
        learner->db = db;
    return learner;
}

static void leave_to_arena(void *word)
{
    (void)word;
}

void learner_free(struct learner *learner)
{
    if (!learner)
        return;
    tdestroy(learner->words, leave_to_arena);
    arena_free(&learner->arena);
    free(learner);
}

/* ---- labels ---- */

/* The labels of one lesson, as indices. */
struct answers {
    size_t labels[LABELS_MAX];
    size_t count;
};

static dtkb_status add_answer(struct learner *learner, enum label_task task, const char *id, struct answers *out, struct err *err)
{
    size_t of_task = 0, at = 0;
    for (; at < learner->label_count; at++) {
        of_task += learner->labels[at].task == task;
        if (learner->labels[at].task == task && strcmp(learner->labels[at].id, id) == 0)
            break;
    }
    if (at == learner->label_count) {
        if (of_task == KB_GUESSES_MAX)
            return err_set(err, DTKB_E_FORMAT, "more than %d different %s in one knowledge base or pack, %s among them", KB_GUESSES_MAX,
                           task == TASK_SYMPTOM ? "symptoms" : "fix patterns", id);
        const char *copy = arena_strdup(&learner->arena, id);
        if (!copy)
            return err_nomem(err);
        learner->labels[learner->label_count++] = (struct known_label){.task = task, .id = copy};
    }
    for (size_t i = 0; i < out->count; i++)
        if (out->labels[i] == at)
            return DTKB_OK;
    out->labels[out->count++] = at;
    return DTKB_OK;
}

static dtkb_status find_answers(struct learner *learner, const struct lesson *lesson, struct answers *out, struct err *err)
{
    dtkb_status status = DTKB_OK;
    out->count = 0;
    if (lesson->symptom)
        status = add_answer(learner, TASK_SYMPTOM, lesson->symptom, out, err);
    for (size_t i = 0; status == DTKB_OK && i < lesson->also_symptom_count; i++)
        status = add_answer(learner, TASK_SYMPTOM, lesson->also_symptoms[i], out, err);
    for (size_t i = 0; status == DTKB_OK && i < lesson->fix_count; i++)
        status = add_answer(learner, TASK_FIX, lesson->fixes[i], out, err);
    return status;
}

/* ---- words ---- */

static int by_text(const void *left, const void *right)
{
    return strcmp(((const struct known_word *)left)->text, ((const struct known_word *)right)->text);
}

/* The word as it is known, a new one if no lesson had it; NULL when memory is short. */
static struct known_word *word_for(struct learner *learner, const char *text)
{
    struct known_word key = {.text = text};
    struct known_word *const *node = tfind(&key, &learner->words, by_text);
    if (node)
        return *node;
    struct known_word *known = arena_alloc(&learner->arena, sizeof *known);
    const char *copy = arena_strdup(&learner->arena, text);
    if (!known || !copy)
        return NULL;
    known->text = copy;
    return tsearch(known, &learner->words, by_text) ? known : NULL;
}

static bool add_share(struct learner *learner, struct known_word *word, size_t label, uint32_t weight)
{
    struct share **at = &word->shares;
    while (*at && (*at)->label < label)
        at = &(*at)->next;
    if (!*at || (*at)->label != label) {
        struct share *share = arena_alloc(&learner->arena, sizeof *share);
        if (!share)
            return false;
        *share = (struct share){.label = label, .next = *at};
        *at = share;
    }
    (*at)->weight += weight;
    return true;
}

dtkb_status learner_add(struct learner *learner, const struct lesson *lesson, struct err *err)
{
    struct words words;
    struct answers answers;
    dtkb_status status = find_answers(learner, lesson, &answers, err);
    if (status == DTKB_OK)
        status = words_of(lesson->text, &words, err);
    if (status != DTKB_OK)
        return status;
    bool ok = true;
    for (size_t i = 0; ok && i < words.count; i++) {
        struct known_word *word = word_for(learner, words.list[i].text);
        /* Thousandths: whole numbers add up to the same everywhere. */
        uint32_t weight = (uint32_t)lround(words.list[i].weight * 1000.0);
        ok = word != NULL;
        for (size_t a = 0; ok && a < answers.count; a++)
            ok = add_share(learner, word, answers.labels[a], weight);
    }
    words_free(&words);
    return ok ? DTKB_OK : err_nomem(err);
}

/* ---- writing ---- */

struct writer {
    struct learner *learner;
    sqlite3_stmt *insert;
    struct buf list;
    bool failed;
};

static void write_word(struct writer *writer, const struct known_word *word)
{
    struct postings_entry entries[LABELS_MAX];
    size_t count = 0;
    for (const struct share *share = word->shares; share; share = share->next) {
        if (!share->weight) /* a word in thousands */
            continue;
        entries[count++] = (struct postings_entry){.doc = (uint32_t)share->label + 1, .weight = share->weight};
        writer->learner->labels[share->label].weight += share->weight;
    }
    buf_clear(&writer->list);
    postings_write(&writer->list, entries, count);
    sqlite3_bind_text(writer->insert, 1, word->text, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(writer->insert, 2, buf_text(&writer->list), writer->list.length, SQLITE_STATIC);
    writer->failed = writer->list.failed || (count && sqlite3_step(writer->insert) != SQLITE_DONE);
    sqlite3_reset(writer->insert);
}

/* Words in the order of their texts, each once. */
static void visit(const void *node, VISIT which, void *context)
{
    const struct known_word *word = *(const struct known_word *const *)node;
    struct writer *writer = context;
    if ((which == postorder || which == leaf) && !writer->failed)
        write_word(writer, word);
}

static bool write_labels(const struct learner *learner, sqlite3_stmt *insert)
{
    bool ok = true;
    for (size_t i = 0; ok && i < learner->label_count; i++) {
        const struct known_label *label = &learner->labels[i];
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)i + 1);
        sqlite3_bind_int(insert, 2, (int)label->task);
        sqlite3_bind_text(insert, 3, label->id, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 4, (sqlite3_int64)label->weight);
        ok = sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK;
    }
    return ok;
}

dtkb_status learner_write(struct learner *learner, struct err *err)
{
    struct writer writer = {.learner = learner};
    sqlite3_stmt *insert_label = NULL;
    bool ok = sqlite3_prepare_v2(learner->db, "INSERT INTO word (word, labels) VALUES (?1, ?2)", -1, &writer.insert, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(learner->db, "INSERT INTO learned (n, task, label, weight) VALUES (?1, ?2, ?3, ?4)", -1, &insert_label,
                                 NULL) == SQLITE_OK;
    if (ok)
        twalk_r(learner->words, visit, &writer);
    ok = ok && !writer.failed && write_labels(learner, insert_label);
    dtkb_status status = DTKB_OK;
    if (!ok && writer.list.failed)
        status = err_nomem(err);
    else if (!ok)
        status = err_set(err, DTKB_E_IO, "the knowledge base cannot be written: %s", sqlite3_errmsg(learner->db));
    sqlite3_finalize(writer.insert);
    sqlite3_finalize(insert_label);
    buf_free(&writer.list);
    return status;
}

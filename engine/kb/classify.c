#include "kb/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kb/kb_private.h"
#include "kb/learner.h"
#include "kb/postings.h"
#include "kb/words.h"

struct candidate_label {
    const char *label;
    double weight; /* N(., c) */
    double here;   /* N(w, c) of the word at hand */
    double score;
};

/* What all layers together hold for one task. */
struct learned {
    struct candidate_label labels[KB_GUESSES_MAX];
    size_t count;
    double total, vocabulary; /* N(., .) and V */
};

static struct candidate_label *find(struct learned *learned, const char *label)
{
    for (size_t i = 0; label && i < learned->count; i++)
        if (strcmp(learned->labels[i].label, label) == 0)
            return &learned->labels[i];
    return NULL;
}

/* A layer's numbers of labels, and the statement that reads its words. */
struct source {
    const struct layer *layer;
    sqlite3_stmt *word;
    struct candidate_label *numbered[LABELS_MAX + 1]; /* NULL: of the other task */
};

static struct candidate_label *find_or_add(struct kb *kb, struct learned *learned, const char *name)
{
    struct candidate_label *label = find(learned, name);
    const char *copy = label || !name || learned->count == KB_GUESSES_MAX ? NULL : arena_strdup(&kb->arena, name);
    if (!copy)
        return label;
    label = &learned->labels[learned->count++];
    label->label = copy;
    return label;
}

static dtkb_status read_labels(struct kb *kb, struct source *source, enum label_task task, struct learned *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    dtkb_status status = layer_prepare(source->layer, "SELECT n, label, weight FROM learned WHERE task = ?1 ORDER BY n", &row, err);
    if (status == DTKB_OK)
        sqlite3_bind_int(row, 1, (int)task);
    while (status == DTKB_OK && layer_step(source->layer, row, &status, err)) {
        sqlite3_int64 number = sqlite3_column_int64(row, 0), weight = sqlite3_column_int64(row, 2);
        struct candidate_label *label = find_or_add(kb, out, (const char *)sqlite3_column_text(row, 1));
        if (!label || weight < 0 || number < 1 || number > LABELS_MAX) {
            status = layer_damaged(source->layer, "learned labels", err);
        } else {
            label->weight += (double)weight / 1000.0;
            source->numbered[number] = label;
        }
    }
    sqlite3_finalize(row);
    return status;
}

static dtkb_status read_vocabulary(const struct layer *layer, struct learned *out, struct err *err)
{
    sqlite3_stmt *row = NULL;
    dtkb_status status = layer_prepare(layer, "SELECT value FROM meta WHERE key = 'words'", &row, err);
    if (status == DTKB_OK && layer_step(layer, row, &status, err))
        out->vocabulary += fmax(1.0, (double)sqlite3_column_int64(row, 0));
    sqlite3_finalize(row);
    return status;
}

/* Adds what one layer holds of the word to `here` of its labels. */
static dtkb_status read_word(const struct source *source, const char *word, struct err *err)
{
    dtkb_status status = DTKB_OK;
    sqlite3_bind_text(source->word, 1, word, -1, SQLITE_STATIC);
    if (layer_step(source->layer, source->word, &status, err)) {
        struct postings list;
        const void *bytes = sqlite3_column_blob(source->word, 0);
        postings_begin(&list, bytes ? bytes : "", (size_t)sqlite3_column_bytes(source->word, 0), LABELS_MAX);
        for (; list.doc != POSTINGS_END; postings_next(&list))
            if (source->numbered[list.doc])
                source->numbered[list.doc]->here += (double)list.weight / 1000.0;
        if (list.damaged)
            status = layer_damaged(source->layer, "learned words", err);
    }
    sqlite3_reset(source->word);
    return status;
}

/* One word's part of every score; false for a word that nobody wrote. */
static bool weigh(struct learned *learned, double x)
{
    double everywhere = 0;
    for (size_t i = 0; i < learned->count; i++)
        everywhere += learned->labels[i].here;
    for (size_t i = 0; everywhere > 0 && i < learned->count; i++) {
        struct candidate_label *label = &learned->labels[i];
        double others = fmax(0.0, everywhere - label->here) + CLASSIFY_SMOOTHING;
        double all = learned->total - label->weight + CLASSIFY_SMOOTHING * learned->vocabulary;
        label->score -= x * log(others / all);
        label->here = 0;
    }
    return everywhere > 0;
}

/* Words that nobody wrote count for nothing: `known` is what is left of the text's length. */
static dtkb_status score_words(const struct source *sources, size_t count, const struct words *words, struct learned *learned,
                               double *known, struct err *err)
{
    dtkb_status status = DTKB_OK;
    double squares = 0;
    for (size_t w = 0; status == DTKB_OK && w < words->count; w++) {
        for (size_t i = 0; status == DTKB_OK && i < count; i++)
            status = read_word(&sources[i], words->list[w].text, err);
        if (status == DTKB_OK && weigh(learned, words->list[w].weight))
            squares += words->list[w].weight * words->list[w].weight;
    }
    *known = sqrt(squares);
    return status;
}

static dtkb_status open_source(struct kb *kb, const struct layer *layer, enum label_task task, struct learned *learned, struct source *out,
                               struct err *err)
{
    out->layer = layer;
    dtkb_status status = read_labels(kb, out, task, learned, err);
    if (status == DTKB_OK)
        status = read_vocabulary(layer, learned, err);
    if (status == DTKB_OK)
        status = layer_prepare(layer, "SELECT labels FROM word WHERE word = ?1", &out->word, err);
    return status;
}

static dtkb_status score_layers(struct kb *kb, const struct words *words, enum label_task task, struct learned *learned, double *known,
                                struct err *err)
{
    struct source *sources = calloc(kb->layer_count, sizeof *sources);
    dtkb_status status = sources ? DTKB_OK : err_nomem(err);
    for (size_t i = 0; status == DTKB_OK && i < kb->layer_count; i++)
        status = open_source(kb, &kb->layers[i], task, learned, &sources[i], err);
    for (size_t i = 0; i < learned->count; i++)
        learned->total += learned->labels[i].weight;
    if (status == DTKB_OK)
        status = score_words(sources, kb->layer_count, words, learned, known, err);
    for (size_t i = 0; sources && i < kb->layer_count; i++)
        sqlite3_finalize(sources[i].word);
    free(sources);
    return status;
}

static int by_share(const void *left, const void *right)
{
    const struct guess *l = left, *r = right;
    if (l->share != r->share)
        return l->share > r->share ? -1 : 1;
    return strcmp(l->label, r->label);
}

static void share_out(const struct learned *learned, double known, struct guesses *out)
{
    double best = -INFINITY, sum = 0;
    for (size_t i = 0; i < learned->count; i++)
        best = fmax(best, learned->labels[i].score);
    for (size_t i = 0; known > 0 && i < learned->count; i++) {
        double share = exp(CLASSIFY_SHARPNESS * (learned->labels[i].score - best) / known);
        out->list[out->count++] = (struct guess){.label = learned->labels[i].label, .share = share};
        sum += share;
    }
    for (size_t i = 0; i < out->count; i++)
        out->list[i].share /= sum;
    qsort(out->list, out->count, sizeof *out->list, by_share);
}

dtkb_status kb_classify(struct kb *kb, const char *text, enum label_task task, struct guesses *out, struct err *err)
{
    struct words words;
    struct learned *learned = calloc(1, sizeof *learned);
    double known = 0;
    out->count = 0;
    dtkb_status status = words_of(text, &words, err);
    if (status == DTKB_OK && !learned)
        status = err_nomem(err);
    if (status == DTKB_OK)
        status = score_layers(kb, &words, task, learned, &known, err);
    if (status == DTKB_OK)
        share_out(learned, known, out);
    words_free(&words);
    free(learned);
    return status;
}

double guesses_share(const struct guesses *guesses, const char *label)
{
    for (size_t i = 0; i < guesses->count; i++)
        if (strcmp(guesses->list[i].label, label) == 0)
            return guesses->list[i].share;
    return 0;
}

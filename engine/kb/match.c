/* Ranking one layer: the lists of the words are walked side by side, and words so common that they could not lift an issue into the best
 * ones are only looked up for issues that a rarer word found (the MaxScore method). Filters, phrases and wanted words narrow the walk
 * first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kb/indexer.h"
#include "kb/kb_private.h"
#include "kb/postings.h"
#include "kb/search.h"

/* What FTS5 takes for words that half of all issues or more have. */
#define COMMON_RARITY 1e-6

/* Slack for sums of bounds that were added in another order. */
#define ROUNDING 1e-9

struct list {
    void *bytes;
    size_t length;
    uint64_t issues;
    double bound;
};
/* A word that scores. */
struct cursor {
    struct postings at;
    double weight, most; /* rarity times share; the most it can add */
};
/* What an issue must fulfil or must not: a list of the index, or the result of an FTS5 expression. */
struct sieve {
    struct postings at;
    uint32_t *docs; /* ascending; NULL: `at` */
    size_t count, next;
    uint64_t size; /* how many issues pass */
};
struct walk {
    const struct search *search;
    struct layer *layer;
    struct list lists[QUERY_TERMS_MAX + 8];
    size_t list_count;
    struct cursor cursors[QUERY_TERMS_MAX];
    size_t cursor_count;
    double sums[QUERY_TERMS_MAX]; /* most that cursors 0..i can add together */
    struct sieve wanted[QUERY_TERMS_MAX + QUERY_CLAUSES_MAX + 8], unwanted[QUERY_CLAUSES_MAX];
    size_t wanted_count, unwanted_count;
    bool nothing; /* something wanted is in no issue */
};

/* ---- the best ---- */

/* Is `left` the worse hit? Of equal ones the later document is. */
static bool worse(const struct search_hit *left, const struct search_hit *right)
{
    if (left->score < right->score || left->score > right->score)
        return left->score < right->score;
    return left->layer != right->layer ? left->layer > right->layer : left->doc > right->doc;
}

bool best_would_take(const struct best *best, double score)
{
    return best->count < best->limit || score > best->hits[0].score;
}

static void sift_down(struct search_hit *hits, size_t count, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        if (left < count && worse(&hits[left], &hits[least]))
            least = left;
        if (left + 1 < count && worse(&hits[left + 1], &hits[least]))
            least = left + 1;
        if (least == at)
            return;
        struct search_hit swap = hits[at];
        hits[at] = hits[least];
        hits[least] = swap;
        at = least;
    }
}

void best_add(struct best *best, struct search_hit hit)
{
    if (best->count == best->limit) {
        best->hits[0] = hit;
        sift_down(best->hits, best->count, 0);
        return;
    }
    size_t at = best->count++;
    best->hits[at] = hit;
    while (at && worse(&best->hits[at], &best->hits[(at - 1) / 2])) {
        struct search_hit swap = best->hits[at];
        best->hits[at] = best->hits[(at - 1) / 2];
        best->hits[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

void best_sort(struct best *best)
{
    for (size_t left = best->count; left > 1; left--) {
        struct search_hit swap = best->hits[0];
        best->hits[0] = best->hits[left - 1];
        best->hits[left - 1] = swap;
        sift_down(best->hits, left - 1, 0);
    }
}

/* ---- lists ---- */

static sqlite3_stmt *term_finder(struct layer *layer, dtkb_status *status, struct err *err)
{
    if (!layer->find_term)
        *status = layer_prepare(layer, "SELECT issues, bound, list FROM term WHERE word = ?1", &layer->find_term, err);
    return *status == DTKB_OK ? layer->find_term : NULL;
}

dtkb_status match_count(struct layer *layer, const void *word, size_t length, uint64_t *issues, struct err *err)
{
    dtkb_status status = layer_need_index(layer, err);
    sqlite3_stmt *statement = status == DTKB_OK ? term_finder(layer, &status, err) : NULL;
    *issues = 0;
    if (!statement)
        return status;
    sqlite3_bind_blob64(statement, 1, word, length, SQLITE_STATIC);
    if (layer_step(layer, statement, &status, err)) {
        sqlite3_int64 count = sqlite3_column_int64(statement, 0);
        *issues = count > 0 && count <= layer->documents ? (uint64_t)count : layer->documents;
    }
    sqlite3_reset(statement);
    return status;
}

/* Reads the list of a word; *out is NULL when no issue has it. */
static dtkb_status load(struct walk *walk, const void *word, size_t length, const struct list **out, struct err *err)
{
    struct layer *layer = walk->layer;
    dtkb_status status = DTKB_OK;
    sqlite3_stmt *statement = term_finder(layer, &status, err);
    *out = NULL;
    if (!statement)
        return status;
    sqlite3_bind_blob64(statement, 1, word, length, SQLITE_STATIC);
    if (layer_step(layer, statement, &status, err)) {
        struct list *list = &walk->lists[walk->list_count];
        const void *bytes = sqlite3_column_blob(statement, 2);
        sqlite3_int64 issues = sqlite3_column_int64(statement, 0);
        list->length = (size_t)sqlite3_column_bytes(statement, 2);
        list->bound = sqlite3_column_double(statement, 1);
        list->issues = issues > 0 && issues <= layer->documents ? (uint64_t)issues : layer->documents;
        if (!bytes || !(list->bound >= 0) || list->bound > 1e6)
            status = layer_damaged(layer, "a word of the search index", err);
        else if (!(list->bytes = malloc(list->length)))
            status = err_nomem(err);
        else {
            memcpy(list->bytes, bytes, list->length);
            walk->list_count++;
            *out = list;
        }
    }
    sqlite3_reset(statement);
    return status;
}

static void want_list(struct walk *walk, const struct list *list)
{
    struct sieve *sieve = &walk->wanted[walk->wanted_count++];
    *sieve = (struct sieve){.size = list->issues};
    postings_begin(&sieve->at, list->bytes, list->length, walk->layer->documents);
}

/* ---- sieves ---- */

static dtkb_status run_expression(struct walk *walk, const struct query_clause *clause, struct err *err)
{
    struct sieve *sieve = clause->without ? &walk->unwanted[walk->unwanted_count++] : &walk->wanted[walk->wanted_count++];
    size_t capacity = 16;
    *sieve = (struct sieve){.docs = malloc(capacity * sizeof(uint32_t))};
    sqlite3_stmt *statement = NULL;
    dtkb_status status = sieve->docs ? DTKB_OK : err_nomem(err);
    if (status == DTKB_OK)
        status = layer_prepare(walk->layer, "SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid", &statement, err);
    if (status == DTKB_OK)
        sqlite3_bind_text(statement, 1, clause->expression, -1, SQLITE_STATIC);
    sqlite3_int64 last = 0;
    while (status == DTKB_OK && layer_step(walk->layer, statement, &status, err)) {
        sqlite3_int64 doc = sqlite3_column_int64(statement, 0);
        if (doc <= last || doc > walk->layer->documents) {
            status = layer_damaged(walk->layer, "the phrase index", err);
            break;
        }
        last = doc;
        if (sieve->count == capacity) {
            capacity *= 2;
            uint32_t *grown = realloc(sieve->docs, capacity * sizeof(uint32_t));
            if (!grown) {
                status = err_nomem(err);
                break;
            }
            sieve->docs = grown;
        }
        sieve->docs[sieve->count++] = (uint32_t)doc;
    }
    sqlite3_finalize(statement);
    sieve->size = sieve->count;
    if (!clause->without && !sieve->count)
        walk->nothing = true;
    return status;
}

/* The first document from `doc` on that passes. */
static uint32_t pass(struct sieve *sieve, uint32_t doc)
{
    if (!sieve->docs) {
        postings_seek(&sieve->at, doc);
        return sieve->at.doc;
    }
    size_t low = sieve->next, high = sieve->count;
    for (size_t step = 1; low + step < high && sieve->docs[low + step] < doc; step *= 2)
        low += step;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sieve->docs[middle] < doc)
            low = middle + 1;
        else
            high = middle;
    }
    sieve->next = low;
    return low < sieve->count ? sieve->docs[low] : POSTINGS_END;
}

static int by_size(const void *left, const void *right)
{
    const struct sieve *a = left, *b = right;
    return (a->size > b->size) - (a->size < b->size);
}

/* The first document from `doc` on that passes all wanted sieves. */
static uint32_t next_wanted(struct walk *walk, uint32_t doc)
{
    for (size_t agreed = 0; agreed < walk->wanted_count;) {
        uint32_t found = pass(&walk->wanted[agreed], doc);
        if (found == POSTINGS_END)
            return POSTINGS_END;
        if (found == doc) {
            agreed++;
        } else {
            doc = found;
            agreed = 0;
        }
    }
    return doc;
}

static bool is_unwanted(struct walk *walk, uint32_t doc)
{
    for (size_t i = 0; i < walk->unwanted_count; i++)
        if (pass(&walk->unwanted[i], doc) == doc)
            return true;
    return false;
}

/* ---- setting up ---- */

/* When all words are wanted, is this term? The whole word is; where no issue has it, its parts are. */
static bool is_wanted(const struct search *search, size_t term)
{
    const struct query_term *terms = search->query->terms;
    if (!search->all_words || terms[term].optional)
        return false;
    if (!terms[term].part)
        return search->issues_with[term] > 0 || term + 1 == search->query->term_count || terms[term + 1].word != terms[term].word;
    for (size_t i = 0; i < term; i++)
        if (terms[i].word == terms[term].word && !terms[i].part)
            return search->issues_with[i] == 0;
    return false;
}

static double rarity(const struct search *search, size_t term)
{
    double with = (double)search->issues_with[term];
    double idf = log((search->documents - with + 0.5) / (with + 0.5));
    return idf > COMMON_RARITY ? idf : COMMON_RARITY;
}

double match_whole(const struct search *search)
{
    double sum = 0;
    for (size_t i = 0; i < search->query->term_count; i++)
        sum += rarity(search, i) * search->query->terms[i].share;
    return sum * bm25_part(column_weights[COLUMN_ERROR], 1, 1);
}

/* A word that every second issue has moves nothing, and its list is the longest to read: it is left out beside rarer ones. */
static bool has_rare_word(const struct search *search)
{
    for (size_t i = 0; i < search->query->term_count; i++)
        if (search->issues_with[i] && rarity(search, i) > COMMON_RARITY)
            return true;
    return false;
}

static int by_most(const void *left, const void *right)
{
    const struct cursor *a = left, *b = right;
    return (a->most > b->most) - (a->most < b->most);
}

static dtkb_status set_up_terms(struct walk *walk, struct err *err)
{
    const struct search *search = walk->search;
    bool rare_words = has_rare_word(search);
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < search->query->term_count && status == DTKB_OK; i++) {
        const struct query_term *term = &search->query->terms[i];
        const struct list *list = NULL;
        bool wanted = is_wanted(search, i);
        if (search->issues_with[i] && (wanted || !rare_words || rarity(search, i) > COMMON_RARITY))
            status = load(walk, term->token, term->length, &list, err);
        if (status == DTKB_OK && wanted) {
            if (list)
                want_list(walk, list);
            else
                walk->nothing = true;
        }
        if (!list)
            continue;
        struct cursor *cursor = &walk->cursors[walk->cursor_count++];
        cursor->weight = rarity(search, i) * term->share;
        cursor->most = cursor->weight * list->bound * (1 + ROUNDING);
        postings_begin(&cursor->at, list->bytes, list->length, walk->layer->documents);
    }
    qsort(walk->cursors, walk->cursor_count, sizeof *walk->cursors, by_most);
    double sum = 0;
    for (size_t i = 0; i < walk->cursor_count; i++)
        walk->sums[i] = sum += walk->cursors[i].most;
    return status;
}

static dtkb_status set_up(struct walk *walk, struct err *err)
{
    const struct search *search = walk->search;
    dtkb_status status = set_up_terms(walk, err);
    for (size_t i = 0; i < search->mark_count && status == DTKB_OK; i++) {
        const struct list *list = NULL;
        status = load(walk, search->marks[i], strlen(search->marks[i]), &list, err);
        if (list)
            want_list(walk, list);
        else
            walk->nothing = true;
    }
    for (size_t i = 0; i < search->query->clause_count && status == DTKB_OK; i++) {
        const struct query_clause *clause = &search->query->clauses[i];
        if (search->all_words || clause->without)
            status = run_expression(walk, clause, err);
    }
    qsort(walk->wanted, walk->wanted_count, sizeof *walk->wanted, by_size);
    return status;
}

static void tear_down(struct walk *walk)
{
    for (size_t i = 0; i < walk->list_count; i++)
        free(walk->lists[i].bytes);
    for (size_t i = 0; i < walk->wanted_count; i++)
        free(walk->wanted[i].docs);
    for (size_t i = 0; i < walk->unwanted_count; i++)
        free(walk->unwanted[i].docs);
}

/* ---- walking ---- */

static double score_at(const struct walk *walk, const struct cursor *cursor)
{
    return cursor->weight * bm25_part(cursor->at.weight, layer_length(walk->layer, cursor->at.doc), walk->layer->average_length);
}

static bool is_overridden(const struct walk *walk, uint32_t doc)
{
    struct kb *kb = walk->search->kb;
    if (walk->layer == &kb->layers[kb->layer_count - 1])
        return false;
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(walk->layer, "SELECT id FROM issue WHERE n = ?1", &statement, NULL);
    bool result = false;
    if (status == DTKB_OK) {
        sqlite3_bind_int64(statement, 1, doc);
        if (layer_step(walk->layer, statement, &status, NULL)) {
            const char *id = (const char *)sqlite3_column_text(statement, 0);
            result = id && kb_issue_overridden(kb, walk->layer, id);
        }
    }
    sqlite3_finalize(statement);
    return result;
}

static void offer(struct walk *walk, struct best *best, uint32_t doc, double score)
{
    if (best_would_take(best, score) && !is_unwanted(walk, doc) && !is_overridden(walk, doc))
        best_add(best, (struct search_hit){score, doc, walk->layer});
}

/* Sieves first: every issue that passes them is scored. */
static void walk_wanted(struct walk *walk, struct best *best)
{
    for (uint32_t doc = next_wanted(walk, 1); doc != POSTINGS_END; doc = next_wanted(walk, doc + 1)) {
        double score = 0;
        for (size_t i = walk->cursor_count; i-- > 0;) {
            struct cursor *cursor = &walk->cursors[i];
            if (!best_would_take(best, score + walk->sums[i]))
                break;
            postings_seek(&cursor->at, doc);
            if (cursor->at.doc == doc)
                score += score_at(walk, cursor);
        }
        /* Any words: an issue that has none of them is no hit, whatever filters it passes. */
        if (score > 0 || !walk->search->query->term_count)
            offer(walk, best, doc, score);
    }
}

static uint32_t next_doc(const struct walk *walk, size_t first)
{
    uint32_t doc = POSTINGS_END;
    for (size_t i = first; i < walk->cursor_count; i++)
        if (walk->cursors[i].at.doc < doc)
            doc = walk->cursors[i].at.doc;
    return doc;
}

static void walk_any(struct walk *walk, struct best *best)
{
    size_t first = 0; /* cursors before this one cannot lift an issue into the best by themselves */
    for (uint32_t doc; (doc = next_doc(walk, first)) != POSTINGS_END;) {
        double score = 0;
        for (size_t i = first; i < walk->cursor_count; i++) {
            struct cursor *cursor = &walk->cursors[i];
            if (cursor->at.doc == doc) {
                score += score_at(walk, cursor);
                postings_next(&cursor->at);
            }
        }
        for (size_t i = first; i-- > 0 && best_would_take(best, score + walk->sums[i]);) {
            struct cursor *cursor = &walk->cursors[i];
            postings_seek(&cursor->at, doc);
            if (cursor->at.doc == doc)
                score += score_at(walk, cursor);
        }
        offer(walk, best, doc, score);
        while (first < walk->cursor_count && !best_would_take(best, walk->sums[first]))
            first++;
    }
}

static bool is_damaged(const struct walk *walk)
{
    bool damaged = false;
    for (size_t i = 0; i < walk->cursor_count; i++)
        damaged = damaged || walk->cursors[i].at.damaged;
    for (size_t i = 0; i < walk->wanted_count; i++)
        damaged = damaged || walk->wanted[i].at.damaged;
    return damaged;
}

dtkb_status match_layer(const struct search *search, struct layer *layer, struct best *best, struct err *err)
{
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return err_nomem(err);
    walk->search = search;
    walk->layer = layer;
    dtkb_status status = set_up(walk, err);
    if (status == DTKB_OK && !walk->nothing) {
        if (walk->wanted_count)
            walk_wanted(walk, best);
        else
            walk_any(walk, best);
        if (is_damaged(walk))
            status = layer_damaged(layer, "a list of the search index", err);
    }
    tear_down(walk);
    free(walk);
    return status;
}

/* The query language of kb_search().
 *
 *     libcudart cannot open        issues with all these words; with any of them when none has all
 *     "connection refused"         these words in this order, side by side
 *     -docker  -"shared memory"    not with this word or phrase
 *     title:hang  error:"No space" the word or phrase in that place: title, summary, error, cause, fix, component or label
 *
 * A word is what lies between blanks and brackets: `libcudart.so.10.0`, `c10::Error` and `NCCL_SOCKET_IFNAME` are one word each, found as a
 * whole and by their parts. Case does not matter. Anything else (operators, a single quote mark, any bytes) is no syntax error but
 * separates words, so an error line can be pasted as it is: numbers that change from run to run (addresses, process ids, times, IP
 * addresses) are left out unless there is nothing else, and "the", "of" and the like need not be in the issue.
 *
 * The order is that of BM25 as FTS5 computes it with the weights of indexer.h, over whole words and, at half their value, parts. */
#ifndef DTKB_KB_SEARCH_H
#define DTKB_KB_SEARCH_H

#include "base/arena.h"
#include "kb/kb.h"

#define QUERY_TERMS_MAX 256
#define QUERY_CLAUSES_MAX 32
#define QUERY_TEXT_MAX ((size_t)64 << 10) /* bytes of a query that are looked at */
#define SEARCH_LIMIT_MAX 1000

/* ---- a query taken apart ---- */
struct query_term {
    const char *token;
    size_t length;
    unsigned word; /* terms of one word, whole first, have the same number */
    bool part;
    bool optional; /* need not be there when all words are wanted */
    double share;  /* of its score that counts */
};
struct query_clause {
    const char *expression; /* FTS5 */
    bool without;
};
struct query {
    struct query_term terms[QUERY_TERMS_MAX];
    size_t term_count;
    struct query_clause clauses[QUERY_CLAUSES_MAX];
    size_t clause_count;
    struct arena arena;
};
/* `plain`: no phrases, fields or exclusions, words only. */
dtkb_status query_parse(const char *text, bool plain, struct query *out, struct err *err);
void query_free(struct query *query);

/* ---- one layer searched ---- */
struct layer;
struct search_hit {
    double score;
    uint32_t doc;
    struct layer *layer;
};
/* The best so far, worst first (a heap). */
struct best {
    struct search_hit *hits;
    size_t count, limit;
};
bool best_would_take(const struct best *best, double score);
void best_add(struct best *best, struct search_hit hit);
void best_sort(struct best *best); /* best first; the heap is over then */

struct search {
    struct kb *kb;
    const struct query *query;
    const char *marks[8]; /* filters as keys of the table `term` */
    size_t mark_count;
    bool all_words; /* else any */
    /* of each term, over all layers */
    uint64_t issues_with[QUERY_TERMS_MAX];
    double documents;
};
/* Adds the layer's hits to `best`. */
dtkb_status match_layer(const struct search *search, struct layer *layer, struct best *best, struct err *err);
/* What an issue of average length scores that has each word of the query once among its error lines. */
double match_whole(const struct search *search);
/* How many issues of a layer have a word or mark; 0 when none. */
dtkb_status match_count(struct layer *layer, const void *word, size_t length, uint64_t *issues, struct err *err);

/* The passage of an issue that shows best why it was found, at most about 160 bytes, one line; never NULL unless memory is short. */
const char *search_snippet(const struct issue *issue, const struct query *query, struct arena *arena);

#endif

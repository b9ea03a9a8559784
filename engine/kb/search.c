#include "kb/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kb/filter.h"
#include "kb/kb_private.h"

#define LIMIT_DEFAULT 10
/* Of a long text the rarest words say enough; a walk over all of them would only be slower. */
#define LOG_TERMS_MAX 64

/* Counts, over all layers, the issues and those with each word. */
static dtkb_status count_issues(struct search *search, struct err *err)
{
    struct kb *kb = search->kb;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++) {
        struct layer *layer = &kb->layers[i];
        status = layer_need_index(layer, err);
        search->documents += layer->documents;
        for (size_t term = 0; term < search->query->term_count && status == DTKB_OK; term++) {
            uint64_t issues = 0;
            status = match_count(layer, search->query->terms[term].token, search->query->terms[term].length, &issues, err);
            search->issues_with[term] += issues;
        }
    }
    return status;
}

/* Keeps the words that tell most: those in fewest issues, and of these the first. */
static void keep_rarest(struct search *search, struct query *query)
{
    uint64_t *with = search->issues_with;
    while (query->term_count > LOG_TERMS_MAX) {
        size_t drop = 0;
        for (size_t i = 1; i < query->term_count; i++)
            if (!with[i] || (with[drop] && with[i] >= with[drop]))
                drop = i;
        query->term_count--;
        memmove(query->terms + drop, query->terms + drop + 1, (query->term_count - drop) * sizeof query->terms[0]);
        memmove(with + drop, with + drop + 1, (query->term_count - drop) * sizeof with[0]);
    }
}

static dtkb_status match_all(const struct search *search, struct best *best, struct err *err)
{
    dtkb_status status = DTKB_OK;
    best->count = 0;
    for (size_t i = 0; i < search->kb->layer_count && status == DTKB_OK; i++)
        status = match_layer(search, &search->kb->layers[i], best, err);
    return status;
}

/* The id of a document. */
static dtkb_status id_of(const struct search_hit *hit, struct arena *arena, const char **id, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(hit->layer, "SELECT id FROM issue WHERE n = ?1", &statement, err);
    if (status == DTKB_OK) {
        sqlite3_bind_int64(statement, 1, hit->doc);
        if (!layer_step(hit->layer, statement, &status, err)) {
            if (status == DTKB_OK)
                status = layer_damaged(hit->layer, "the search index names an issue that is not there", err);
        } else if (!layer_text(arena, statement, 0, id) || !*id) {
            status = layer_damaged(hit->layer, "an issue without id", err);
        }
    }
    sqlite3_finalize(statement);
    return status;
}

static dtkb_status fill(const struct search *search, const struct best *best, struct kb_hits *out, struct err *err)
{
    double whole = match_whole(search);
    struct kb_hits hits = {0};
    dtkb_status status = DTKB_OK;
    hits.hits = arena_alloc(&hits.arena, best->count * sizeof *hits.hits);
    if (!hits.hits)
        status = err_nomem(err);
    for (size_t i = 0; i < best->count && status == DTKB_OK; i++) {
        struct arena scratch = {0};
        struct issue issue;
        struct kb_hit *hit = &hits.hits[hits.count++];
        hit->score = best->hits[i].score;
        hit->likeness = whole > 0 ? fmin(hit->score / whole, 1) : 0;
        status = id_of(&best->hits[i], &hits.arena, &hit->issue, err);
        if (status == DTKB_OK)
            status = kb_issue_by_id(search->kb, hit->issue, &scratch, &issue, err);
        if (status == DTKB_OK && !(hit->snippet = search_snippet(&issue, search->query, &hits.arena)))
            status = err_nomem(err);
        arena_free(&scratch);
    }
    if (status == DTKB_OK)
        *out = hits;
    else
        kb_hits_free(&hits);
    return status;
}

static bool is_blank(const char *text)
{
    return !text || !text[strspn(text, " \t\r\n")];
}

static dtkb_status run(struct search *search, struct query *query, const struct kb_query *asked, struct best *best, struct err *err)
{
    dtkb_status status = count_issues(search, err);
    if (status != DTKB_OK)
        return status;
    bool filters_only = !query->term_count && !query->clause_count;
    if (filters_only && !(is_blank(asked->text) && search->mark_count))
        return DTKB_OK; /* no word in it: no hits */
    if (asked->any_word)
        keep_rarest(search, query);
    search->all_words = !asked->any_word;
    status = match_all(search, best, err);
    if (status == DTKB_OK && !best->count && search->all_words) {
        search->all_words = false;
        status = match_all(search, best, err);
    }
    return status;
}

dtkb_status kb_search(struct kb *kb, const struct kb_query *asked, struct kb_hits *out, struct err *err)
{
    size_t limit = asked->limit ? asked->limit : LIMIT_DEFAULT;
    if (limit > SEARCH_LIMIT_MAX)
        return err_set(err, DTKB_E_USAGE, "a search gives at most %d issues", SEARCH_LIMIT_MAX);
    struct search *search = calloc(1, sizeof *search);
    struct query *query = calloc(1, sizeof *query);
    struct best best = {calloc(limit, sizeof(struct search_hit)), 0, limit};
    struct arena arena = {0};
    dtkb_status status = search && query && best.hits ? DTKB_OK : err_nomem(err);
    if (status == DTKB_OK) {
        search->kb = kb;
        search->query = query;
        status = filter_set(asked, search, &arena, err);
    }
    if (status == DTKB_OK && is_blank(asked->text) && !search->mark_count && !asked->any_word)
        status = err_set(err, DTKB_E_USAGE, "nothing to search for: give words or a filter");
    if (status == DTKB_OK)
        status = query_parse(asked->text, asked->any_word, query, err);
    if (status == DTKB_OK) {
        status = run(search, query, asked, &best, err);
        if (status == DTKB_OK) {
            best_sort(&best);
            status = fill(search, &best, out, err);
        }
        query_free(query);
    }
    arena_free(&arena);
    free(best.hits);
    free(query);
    free(search);
    return status;
}

void kb_hits_free(struct kb_hits *hits)
{
    arena_free(&hits->arena);
    *hits = (struct kb_hits){0};
}

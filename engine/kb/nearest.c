/* Causes by their words: for a log that no signature fits, the cards whose titles, explanations and samples read most alike. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kb/kb_private.h"
#include "kb/search.h"

/* Of a long text the first words say enough; FTS5 ranks some hundred cards by so many in a millisecond or two. */
#define WORDS_MAX 64

/* An FTS5 expression: any of the words. Tokens hold whatever the log held, so each is a quoted string. */
static void any_of(const struct query *query, struct buf *out)
{
    size_t words = 0;
    for (size_t i = 0; i < query->term_count && words < WORDS_MAX; i++) {
        const struct query_term *term = &query->terms[i];
        if (term->part)
            continue;
        buf_adds(out, words++ ? " OR \"" : "\"");
        for (size_t at = 0; at < term->length; at++) {
            if (term->token[at] == '"')
                buf_addc(out, '"');
            buf_addc(out, term->token[at]);
        }
        buf_addc(out, '"');
    }
}

static uint32_t index_of(const struct kb *kb, const struct layer *layer, int64_t row)
{
    for (size_t i = 0; i < kb->cause_count; i++)
        if (kb->causes[i].layer == layer && kb->causes[i].row == row)
            return (uint32_t)i;
    return UINT32_MAX; /* replaced by an upper layer */
}

static void insert_sorted(struct kb_similar_cause *out, size_t *count, size_t limit, struct kb_similar_cause found)
{
    size_t at = *count;
    while (at > 0 && out[at - 1].score < found.score)
        at--;
    if (at == limit)
        return;
    if (*count < limit)
        (*count)++;
    memmove(out + at + 1, out + at, (*count - at - 1) * sizeof *out);
    out[at] = found;
}

static dtkb_status search_layer(struct kb *kb, struct layer *layer, const char *expression, size_t limit, struct kb_similar_cause *out,
                                size_t *count, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(
        layer, "SELECT rowid, -bm25(card, 3.0, 1.0, 2.0) FROM card WHERE card MATCH ?1 ORDER BY 2 DESC, 1 LIMIT ?2", &statement, err);
    if (status == DTKB_OK) {
        sqlite3_bind_text(statement, 1, expression, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, (sqlite3_int64)limit);
    }
    while (status == DTKB_OK && layer_step(layer, statement, &status, err)) {
        struct kb_similar_cause found = {index_of(kb, layer, sqlite3_column_int64(statement, 0)), sqlite3_column_double(statement, 1)};
        if (found.cause != UINT32_MAX)
            insert_sorted(out, count, limit, found);
    }
    sqlite3_finalize(statement);
    return status;
}

dtkb_status kb_similar_causes(struct kb *kb, const char *text, size_t limit, struct kb_similar_cause *out, size_t *count, struct err *err)
{
    struct buf expression = {0};
    struct query *query = calloc(1, sizeof *query);
    *count = 0;
    if (!query)
        return err_nomem(err);
    dtkb_status status = kb_need_causes(kb, err);
    if (status == DTKB_OK)
        status = query_parse(text, true, query, err);
    if (status == DTKB_OK) {
        any_of(query, &expression);
        query_free(query);
    }
    for (size_t i = 0; status == DTKB_OK && expression.length && i < kb->layer_count; i++)
        status = search_layer(kb, &kb->layers[i], buf_text(&expression), limit, out, count, err);
    buf_free(&expression);
    free(query);
    return status;
}

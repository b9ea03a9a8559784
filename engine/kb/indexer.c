#include "kb/indexer.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "kb/postings.h"
#include "kb/tokenizer.h"

const char *const column_names[COLUMN_COUNT] = {"title", "summary", "error", "cause", "fix", "component", "label"};
const unsigned column_weights[COLUMN_COUNT] = {6, 3, 6, 2, 2, 3, 1};

#define LENGTH_MAX 0xffff

struct term {
    const char *text;
    uint32_t length, hash;
    uint32_t count, last_doc; /* entries in `raw`, the last of them */
    uint32_t doc, weight;     /* the entry being gathered */
    struct buf raw;           /* varint(document - the one before), varint(weight) */
};

struct indexer {
    struct term **slots; /* open addressing, a power of two */
    size_t slot_count, term_count;
    struct arena arena;
    uint32_t doc;
    struct buf lengths; /* two bytes a document, low one first */
    uint64_t total_length;
    bool failed;
    /* while a document is tokenized */
    unsigned column_weight;
    uint32_t words;
};

double bm25_part(unsigned weight, double length, double average_length)
{
    return weight * (BM25_K1 + 1) / (weight + BM25_K1 * (1 - BM25_B + BM25_B * length / average_length));
}

struct indexer *indexer_new(void)
{
    struct indexer *indexer = calloc(1, sizeof *indexer);
    if (!indexer)
        return NULL;
    indexer->slot_count = 1 << 12;
    indexer->slots = calloc(indexer->slot_count, sizeof(struct term *));
    if (!indexer->slots) {
        free(indexer);
        return NULL;
    }
    return indexer;
}

void indexer_free(struct indexer *indexer)
{
    if (!indexer)
        return;
    for (size_t i = 0; i < indexer->slot_count; i++)
        if (indexer->slots[i])
            buf_free(&indexer->slots[i]->raw);
    free(indexer->slots);
    buf_free(&indexer->lengths);
    arena_free(&indexer->arena);
    free(indexer);
}

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static bool grow(struct indexer *indexer)
{
    size_t count = indexer->slot_count * 2;
    struct term **slots = calloc(count, sizeof(struct term *));
    if (!slots)
        return false;
    for (size_t i = 0; i < indexer->slot_count; i++) {
        struct term *term = indexer->slots[i];
        if (!term)
            continue;
        size_t at = term->hash & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = term;
    }
    free(indexer->slots);
    indexer->slots = slots;
    indexer->slot_count = count;
    return true;
}

static struct term *term_for(struct indexer *indexer, const char *text, size_t length)
{
    if (indexer->term_count * 2 >= indexer->slot_count && !grow(indexer))
        return NULL;
    uint32_t hash = hash_of(text, length);
    size_t at = hash & (indexer->slot_count - 1);
    for (struct term *term; (term = indexer->slots[at]); at = (at + 1) & (indexer->slot_count - 1))
        if (term->hash == hash && term->length == length && memcmp(term->text, text, length) == 0)
            return term;
    struct term *term = arena_alloc(&indexer->arena, sizeof *term);
    const char *copy = arena_strndup(&indexer->arena, text, length);
    if (!term || !copy)
        return NULL;
    *term = (struct term){.text = copy, .length = (uint32_t)length, .hash = hash, .raw = {.maximum = (size_t)1 << 30}};
    indexer->slots[at] = term;
    indexer->term_count++;
    return term;
}

static void flush(struct term *term)
{
    if (!term->weight)
        return;
    varint_write(&term->raw, term->doc - term->last_doc);
    varint_write(&term->raw, term->weight);
    term->last_doc = term->doc;
    term->count++;
    term->weight = 0;
}

static bool add_word(struct indexer *indexer, const char *text, size_t length, unsigned weight)
{
    struct term *term = term_for(indexer, text, length);
    if (!term)
        return false;
    if (term->doc != indexer->doc)
        flush(term);
    term->doc = indexer->doc;
    term->weight += weight;
    return !term->raw.failed;
}

static int take_word(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    (void)start;
    (void)end;
    struct indexer *indexer = context;
    indexer->words += !part;
    indexer->failed = indexer->failed || !add_word(indexer, token, length, indexer->column_weight);
    return indexer->failed;
}

bool indexer_add(struct indexer *indexer, const char *const texts[COLUMN_COUNT])
{
    indexer->doc++;
    indexer->words = 0;
    for (int column = 0; column < COLUMN_COUNT; column++) {
        indexer->column_weight = column_weights[column];
        if (texts[column])
            (void)tokenize(texts[column], strlen(texts[column]), take_word, indexer);
    }
    uint32_t length = indexer->words < LENGTH_MAX ? indexer->words : LENGTH_MAX;
    buf_addc(&indexer->lengths, (char)(length & 0xff));
    buf_addc(&indexer->lengths, (char)(length >> 8));
    indexer->total_length += length;
    indexer->failed = indexer->failed || indexer->lengths.failed;
    return !indexer->failed;
}

bool indexer_mark(struct indexer *indexer, const char *name, const char *value)
{
    struct buf key = {0};
    buf_addf(&key, MARK_PREFIX "%s=%s", name, value);
    bool ok = !key.failed && add_word(indexer, buf_text(&key), key.length, 1);
    buf_free(&key);
    indexer->failed = indexer->failed || !ok;
    return ok;
}

static int by_text(const void *left, const void *right)
{
    const struct term *a = *(struct term *const *)left, *b = *(struct term *const *)right;
    size_t common = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, common);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static double average_length(const struct indexer *indexer)
{
    return indexer->doc && indexer->total_length ? (double)indexer->total_length / indexer->doc : 1;
}

/* Decodes what was gathered for a term; `bound` is the most that the term can add to any issue, but for its rarity. */
static void decode(const struct indexer *indexer, const struct term *term, struct postings_entry *entries, double *bound)
{
    const uint8_t *next = (const uint8_t *)buf_text(&term->raw), *end = next + term->raw.length;
    const unsigned char *lengths = (const unsigned char *)buf_text(&indexer->lengths);
    double average = average_length(indexer);
    uint32_t doc = 0, delta = 0;
    *bound = 0;
    for (uint32_t i = 0; i < term->count; i++) {
        (void)varint_read(&next, end, &delta);
        (void)varint_read(&next, end, &entries[i].weight);
        doc += delta;
        entries[i].doc = doc;
        const unsigned char *at = lengths + 2 * (size_t)(doc - 1);
        double part = bm25_part(entries[i].weight, at[0] | at[1] << 8, average);
        if (part > *bound)
            *bound = part;
    }
}

static bool write_term(const struct indexer *indexer, const struct term *term, sqlite3_stmt *insert)
{
    struct postings_entry *entries = malloc((term->count + 1) * sizeof *entries);
    struct buf list = {.maximum = (size_t)1 << 30};
    double bound = 0;
    bool ok = entries != NULL;
    if (ok) {
        decode(indexer, term, entries, &bound);
        postings_write(&list, entries, term->count);
        ok = !list.failed;
    }
    if (ok) {
        sqlite3_bind_blob(insert, 1, term->text, (int)term->length, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, term->count);
        sqlite3_bind_double(insert, 3, bound);
        sqlite3_bind_blob(insert, 4, buf_text(&list), (int)list.length, SQLITE_STATIC);
        ok = sqlite3_step(insert) == SQLITE_DONE && sqlite3_reset(insert) == SQLITE_OK;
    }
    free(entries);
    buf_free(&list);
    return ok;
}

static bool write_lengths(const struct indexer *indexer, sqlite3 *db)
{
    sqlite3_stmt *insert = NULL;
    bool ok = sqlite3_prepare_v2(db, "INSERT INTO length (documents, total, lengths) VALUES (?1, ?2, ?3)", -1, &insert, NULL) == SQLITE_OK;
    if (ok) {
        sqlite3_bind_int64(insert, 1, indexer->doc);
        sqlite3_bind_int64(insert, 2, (sqlite3_int64)indexer->total_length);
        sqlite3_bind_blob(insert, 3, buf_text(&indexer->lengths), (int)indexer->lengths.length, SQLITE_STATIC);
        ok = sqlite3_step(insert) == SQLITE_DONE;
    }
    sqlite3_finalize(insert);
    return ok;
}

dtkb_status indexer_write(struct indexer *indexer, sqlite3 *db, struct err *err)
{
    struct term **sorted = malloc((indexer->term_count + 1) * sizeof(struct term *));
    if (!sorted || indexer->failed) {
        free(sorted);
        return err_nomem(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < indexer->slot_count; i++)
        if (indexer->slots[i]) {
            flush(indexer->slots[i]);
            sorted[count++] = indexer->slots[i];
        }
    qsort(sorted, count, sizeof(struct term *), by_text);
    sqlite3_stmt *insert = NULL;
    bool ok =
        sqlite3_prepare_v2(db, "INSERT INTO term (word, issues, bound, list) VALUES (?1, ?2, ?3, ?4)", -1, &insert, NULL) == SQLITE_OK;
    for (size_t i = 0; i < count && ok; i++)
        ok = write_term(indexer, sorted[i], insert);
    sqlite3_finalize(insert);
    free(sorted);
    ok = ok && write_lengths(indexer, db);
    return ok ? DTKB_OK : err_set(err, DTKB_E_IO, "the search index cannot be written: %s", sqlite3_errmsg(db));
}

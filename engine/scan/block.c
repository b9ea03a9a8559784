#include "scan/block.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scan/anchor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#define HITS_MAX 16384 /* per block: more lines than this only a hostile log has */
#define REACH (LINE_MAX_BYTES / 2)

bool finder_open(struct finder *finder, const struct scan_db *db)
{
    *finder = (struct finder){.db = db};
    finder->plain = calloc(1, LINE_MAX_BYTES + 2 * FILTER_PAD);
    finder->matching = matching_new();
    if (finder->plain && finder->matching && hs_alloc_scratch(db->hs, &finder->scratch) == HS_SUCCESS)
        return true;
    finder_close(finder);
    return false;
}

void finder_close(struct finder *finder)
{
    (void)hs_free_scratch(finder->scratch);
    matching_free(finder->matching);
    free(finder->plain);
    *finder = (struct finder){0};
}

bool block_open(struct block *block, size_t room)
{
    *block = (struct block){0};
    return block_reserve(block, room);
}

bool block_reserve(struct block *block, size_t room)
{
    char *memory = realloc(block->memory, room + 2 * FILTER_PAD);
    if (!memory)
        return false;
    block->memory = memory;
    block->data = memory + FILTER_PAD;
    return true;
}

/* First line that begins at or behind `edge`. */
static const char *line_edge(const char *edge, const char *data, const char *limit, bool is_end)
{
    if (edge == data)
        return edge;
    size_t reach = (size_t)(limit - edge) < BLOCK_MARGIN ? (size_t)(limit - edge) : BLOCK_MARGIN - 1;
    const char *end = line_end(edge - 1, edge + reach);
    if (end < edge + reach)
        return end + 1;
    return is_end && reach < BLOCK_MARGIN - 1 ? limit : edge;
}

void block_trim(struct block *block, bool last)
{
    const char *begin = block->data + block->lead, *end = begin + block->length, *limit = end + block->tail;
    /* A block that nothing follows may still be short behind its own edge, and so may the one before the last. */
    bool input_ends = last || block->tail < BLOCK_MARGIN;
    const char *first = line_edge(begin, block->data, limit, input_ends);
    const char *behind = last ? limit : line_edge(end, block->data, limit, input_ends);
    block->offset += (uint64_t)(first - begin);
    block->lead = (size_t)(first - block->data);
    block->length = behind > first ? (size_t)(behind - first) : 0;
    block->tail = (size_t)(limit - first) - block->length;
}

void block_close(struct block *block)
{
    free(block->memory);
    free(block->hits);
    free(block->ids);
    *block = (struct block){0};
}

static uint64_t count_newlines_plain(const char *text, size_t length)
{
    uint64_t count = 0;
    for (size_t i = 0; i < length;) { /* sums of at most 255 stay in bytes, which vectorises best */
        size_t end = length - i > 255 ? i + 255 : length;
        unsigned char sum = 0;
        for (; i < end; i++)
            sum = (unsigned char)(sum + (text[i] == '\n'));
        count += sum;
    }
    return count;
}

#if defined(__x86_64__) && defined(__GNUC__)
#define VECTOR sizeof(__m256i)

__attribute__((target("avx2"))) static uint64_t count_newlines_wide(const char *text, size_t length)
{
    const __m256i newline = _mm256_set1_epi8('\n');
    __m256i total = _mm256_setzero_si256();
    size_t i = 0;
    while (length - i >= VECTOR) { /* a byte of the sum holds at most 255 */
        size_t end = length - i > 255 * VECTOR ? i + 255 * VECTOR : i + (length - i) / VECTOR * VECTOR;
        __m256i sum = _mm256_setzero_si256();
        for (; i < end; i += VECTOR)
            sum = _mm256_sub_epi8(sum, _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(text + i)), newline));
        total = _mm256_add_epi64(total, _mm256_sad_epu8(sum, _mm256_setzero_si256()));
    }
    uint64_t parts[4];
    memcpy(parts, &total, sizeof parts);
    return parts[0] + parts[1] + parts[2] + parts[3] + count_newlines_plain(text + i, length - i);
}
#endif

uint64_t count_newlines(const char *text, size_t length)
{
#ifdef VECTOR
    if (__builtin_cpu_supports("avx2"))
        return count_newlines_wide(text, length);
#endif
    return count_newlines_plain(text, length);
}

const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (newline)
        end = newline;
    const char *carriage = memchr(at, '\r', (size_t)(end - at));
    return carriage ? carriage : end;
}

static const char *line_start(const char *at, const char *begin)
{
    const char *newline = memrchr(begin, '\n', (size_t)(at - begin));
    if (newline)
        begin = newline + 1;
    const char *carriage = memrchr(begin, '\r', (size_t)(at - begin));
    return carriage ? carriage + 1 : begin;
}

/* The line that is being looked at. */
struct found {
    const struct finder *finder;
    const char *text;
    size_t length;
    bool has_escape, has_pairs;
    struct pairs pairs;
    uint32_t ids[HIT_IDS_MAX];
    size_t count;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool anchor_stands(const struct found *found, const struct anchor *anchor, size_t start, size_t end)
{
    if ((anchor->word || anchor->capital_word) && end < found->length && is_word(found->text[end - 1]) && is_word(found->text[end]))
        return false;
    if (anchor->word && start > 0 && is_word(found->text[start - 1]))
        return false;
    return !anchor->capital_word || start == 0 || !is_word(found->text[start - 1]) || isupper((unsigned char)found->text[start]);
}

/* Is it the anchor that it looks like, does the signature match? What is anchored to the line's start has to wait for the cleaned line. */
static bool literal_counts(struct found *found, const struct db_literal *literal, size_t start)
{
    const struct scan_db *db = found->finder->db;
    if (literal->anchor)
        return anchor_stands(found, &anchors[literal->owner], start, start + literal->length);
    if (!found->has_pairs)
        pairs_of(&found->pairs, found->text, found->length);
    found->has_pairs = true;
    return db_admits(db, literal->owner, &found->pairs) &&
           (db_is_anchored(db, literal->owner) ||
            db_matches(db, literal->owner, found->finder->matching, found->text, found->length, NULL, NULL));
}

/* A container's JSON hides quotes and tabs: nothing is told from it before it is unwrapped. */
static bool is_wrapped(const struct found *found)
{
    return found->length && found->text[0] == '{';
}

/* Is what the filter found at `place` enough to have the line matched? */
static bool is_worth_matching(struct found *found, const char *place)
{
    const struct scan_db *db = found->finder->db;
    if (found->has_escape || is_wrapped(found))
        return true;
    struct filter_place at = {0};
    for (size_t id; filter_next(db->filter, place, &at, &id);) {
        const struct db_literal *literal = &db->literals[id];
        if ((literal->ignore_case || !memcmp(at.start, literal->text, literal->length)) &&
            literal_counts(found, literal, (size_t)(at.start - found->text)))
            return true;
    }
    return false;
}

static int on_literal(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
    struct found *found = context;
    const struct db_literal *literal = &found->finder->db->literals[id];
    (void)from;
    (void)flags;
    for (size_t i = 0; i < found->count; i++)
        if (found->ids[i] == id)
            return 0;
    if (literal->anchor && !literal_counts(found, literal, (size_t)to - literal->length))
        return 0;
    found->ids[found->count++] = id;
    return found->count == HIT_IDS_MAX; /* full: stop */
}

static void add_hit(struct block *block, const char *line, size_t length, const struct found *found)
{
    if (block->hit_count == HITS_MAX) {
        block->dropped++;
        return;
    }
    if (block->hit_count == block->hit_capacity) {
        size_t capacity = block->hit_capacity ? block->hit_capacity * 2 : 64;
        struct hit *more = realloc(block->hits, capacity * sizeof *more);
        if (!more) {
            block->failed = true;
            return;
        }
        block->hits = more;
        block->hit_capacity = capacity;
    }
    if (block->id_count + found->count > block->id_capacity) {
        size_t capacity = block->id_capacity * 2 + 256;
        uint32_t *more = realloc(block->ids, capacity * sizeof *more);
        if (!more) {
            block->failed = true;
            return;
        }
        block->ids = more;
        block->id_capacity = capacity;
    }
    memcpy(block->ids + block->id_count, found->ids, found->count * sizeof found->ids[0]);
    block->hits[block->hit_count++] = (struct hit){.start = (uint32_t)(line - block->data),
                                                   .length = (uint32_t)length,
                                                   .first_id = (uint32_t)block->id_count,
                                                   .id_count = (uint32_t)found->count};
    block->id_count += found->count;
}

/* Drops the literals whose expressions don't match. */
static void drop_mismatches(struct found *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct db_literal *literal = &found->finder->db->literals[found->ids[i]];
        if (literal->anchor || is_wrapped(found) || literal_counts(found, literal, 0))
            found->ids[kept++] = found->ids[i];
    }
    found->count = kept;
}

/* Matches the line that was found. */
static void match_line(struct block *block, const struct finder *finder, struct found *found)
{
    const char *line = found->text;
    size_t length = found->length;
    if (found->has_escape) { /* colours may part a literal */
        char *plain = finder->plain + FILTER_PAD;
        found->length = line_strip(line, length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES, plain);
        found->text = plain;
        memset(plain + found->length, 0, FILTER_PAD);
        if (filter_find(finder->db->filter, plain, plain + found->length) == plain + found->length)
            return;
    }
    hs_error_t result = hs_scan(finder->db->hs, found->text, (unsigned)found->length, 0, finder->scratch, on_literal, found);
    if (result != HS_SUCCESS && result != HS_SCAN_TERMINATED)
        block->failed = true;
    if (found->count == HIT_IDS_MAX)
        block->dropped++;
    drop_mismatches(found);
    if (found->count)
        add_hit(block, line, length, found);
}

/* The line around `place`, as far as it is read. */
static void look_at(struct found *found, const struct block *block, const char *place)
{
    const char *limit = block->data + block->lead + block->length + block->tail;
    const char *first = line_start(place, place - block->data > REACH ? place - REACH : block->data);
    const char *last = line_end(place, limit - place > REACH ? place + REACH : limit);
    found->text = first;
    found->length = (size_t)(last - first);
    found->has_escape = memchr(first, 0x1b, found->length) != NULL;
    found->has_pairs = false;
    found->count = 0;
}

void block_search(struct block *block, const struct finder *finder)
{
    const char *begin = block->data + block->lead, *end = begin + block->length;
    struct found found = {.finder = finder, .text = begin};
    block->hit_count = block->id_count = 0;
    block->dropped = 0;
    block->newlines = count_newlines(begin, block->length);
    memset(block->data - FILTER_PAD, 0, FILTER_PAD);
    memset(block->data + block->lead + block->length + block->tail, 0, FILTER_PAD);
    const char *at = begin, *escape = memchr(at, 0x1b, block->length), *last = begin; /* last: end of the line that was found */
    while (at < end) {
        const char *place = filter_find(finder->db->filter, at, escape ? escape : end);
        if (escape && place > escape)
            place = escape;
        if (place >= end)
            break;
        if (place >= last) {
            look_at(&found, block, place);
            last = found.text + found.length;
        }
        at = place + 1;
        if (is_worth_matching(&found, place)) {
            match_line(block, finder, &found);
            at = last > place ? last : at;
        }
        if (escape && escape < at)
            escape = at < end ? memchr(at, 0x1b, (size_t)(end - at)) : NULL;
    }
}

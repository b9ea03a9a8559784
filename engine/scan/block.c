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
    while (at > begin && at[-1] != '\n' && at[-1] != '\r')
        at--;
    return at;
}

struct found {
    const struct scan_db *db;
    const char *text;
    size_t length;
    uint32_t ids[HIT_IDS_MAX];
    size_t count;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool anchor_stands(const struct found *found, const struct anchor *anchor, size_t end)
{
    size_t start = end - strlen(anchor->text);
    if ((anchor->word || anchor->capital_word) && end < found->length && is_word(anchor->text[strlen(anchor->text) - 1]) &&
        is_word(found->text[end]))
        return false;
    if (anchor->word && start > 0 && is_word(found->text[start - 1]))
        return false;
    return !anchor->capital_word || start == 0 || !is_word(found->text[start - 1]) || isupper((unsigned char)found->text[start]);
}

static int on_literal(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
    struct found *found = context;
    const struct db_literal *literal = &found->db->literals[id];
    (void)from;
    (void)flags;
    for (size_t i = 0; i < found->count; i++)
        if (found->ids[i] == id)
            return 0;
    if (literal->anchor && !anchor_stands(found, &anchors[literal->owner], (size_t)to))
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

/* Drops the literals whose expressions don't match. What is anchored to the line's start, or wrapped by a container's JSON, has to wait for
 * the cleaned line. */
static void drop_mismatches(struct found *found, const struct finder *finder)
{
    if (found->length && found->text[0] == '{')
        return;
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct db_literal *literal = &finder->db->literals[found->ids[i]];
        if (literal->anchor || db_is_anchored(finder->db, literal->owner) ||
            db_matches(finder->db, literal->owner, finder->matching, found->text, found->length, NULL, NULL))
            found->ids[kept++] = found->ids[i];
    }
    found->count = kept;
}

/* Matches one line that the filter or an escape pointed to. */
static void search_line(struct block *block, const struct finder *finder, const char *line, size_t length, bool has_escape)
{
    struct found found = {.db = finder->db, .text = line, .length = length};
    if (has_escape) { /* colours may part a literal */
        char *plain = finder->plain + FILTER_PAD;
        found.length = line_strip(line, length < LINE_MAX_BYTES ? length : LINE_MAX_BYTES, plain);
        found.text = plain;
        memset(plain + found.length, 0, FILTER_PAD);
        if (filter_find(finder->db->filter, plain, plain + found.length) == plain + found.length)
            return;
    }
    hs_error_t result = hs_scan(finder->db->hs, found.text, (unsigned)found.length, 0, finder->scratch, on_literal, &found);
    if (result != HS_SUCCESS && result != HS_SCAN_TERMINATED)
        block->failed = true;
    drop_mismatches(&found, finder);
    if (found.count)
        add_hit(block, line, length, &found);
}

void block_search(struct block *block, const struct finder *finder)
{
    const char *begin = block->data + block->lead, *end = begin + block->length, *limit = end + block->tail;
    block->hit_count = block->id_count = 0;
    block->dropped = 0;
    block->newlines = count_newlines(begin, block->length);
    memset(block->data - FILTER_PAD, 0, FILTER_PAD);
    memset(block->data + block->lead + block->length + block->tail, 0, FILTER_PAD);
    const char *at = begin, *escape = memchr(at, 0x1b, block->length);
    while (at < end) {
        const char *place = filter_find(finder->db->filter, at, escape ? escape : end);
        if (escape && place > escape)
            place = escape;
        if (place >= end)
            break;
        const char *first = line_start(place, place - begin + (ptrdiff_t)block->lead > REACH ? place - REACH : block->data);
        const char *last = line_end(place, limit - place > REACH ? place + REACH : limit);
        bool has_escape = memchr(first, 0x1b, (size_t)(last - first)) != NULL;
        search_line(block, finder, first, (size_t)(last - first), has_escape);
        at = last > place ? last : place + 1;
        if (escape && escape < at)
            escape = at < end ? memchr(at, 0x1b, (size_t)(end - at)) : NULL;
    }
}

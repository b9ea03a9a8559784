#include "scan/filter.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/literal.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_WIDE_FIND
#endif

#define LONG_WINDOW 8
#define SHORT_WINDOW LITERAL_MIN
#define LONG_STEP 3  /* LONG_WINDOW - 6 + 1: grams of six bytes */
#define SHORT_STEP 2 /* SHORT_WINDOW - 4 + 1: grams of four bytes */
#define LONG_WORDS_LOG 14
#define SHORT_WORDS_LOG 13
#define START_WORDS_LOG 11
#define FOLD UINT64_C(0x2020202020202020)
#define SHORT_MASK UINT64_C(0xffffffffff)
#define TINY_MASK UINT64_C(0xffffffff)
#define TINY_MARK (UINT64_C(1) << 63) /* tells a window of four bytes from others among the windows */

/* How a gram is hashed: the same in the plain loop and in the one for eight positions at once. */
#define FACTOR_LOW 0x9e3779b1u
#define FACTOR_HIGH 0x85ebca6bu

struct filter {
    /* Bloom filters of two bits within one word: grams, looked up for every sample, and whole windows, for what passes. */
    uint32_t long_grams[1 << LONG_WORDS_LOG], short_grams[1 << SHORT_WORDS_LOG];
    uint64_t starts[1 << START_WORDS_LOG]; /* of whole windows */
    const char *(*find)(const struct filter *filter, const char *from, const char *to);
    uint64_t *windows; /* open addressing; a short window has its upper three bytes zero; 0 is free (a folded byte never is 0) */
    size_t mask;
    uint32_t *first; /* by slot: a literal with that window, index + 1 */
    struct candidate *literals;
};

struct candidate {
    const char *text;
    uint32_t next; /* another one with the same window, index + 1; 0: none */
    uint8_t length, window;
};

static inline __attribute__((always_inline)) uint64_t load(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word) | FOLD;
}

static inline __attribute__((always_inline)) uint32_t hash_long(uint64_t word) /* of its first six bytes */
{
    return (uint32_t)word * FACTOR_LOW ^ (uint32_t)(word >> 32 & 0xffff) * FACTOR_HIGH;
}

static inline __attribute__((always_inline)) uint32_t hash_short(uint64_t word) /* of its first four bytes */
{
    return (uint32_t)word * FACTOR_LOW;
}

static inline __attribute__((always_inline)) uint32_t gram_bits(uint32_t hash)
{
    return UINT32_C(1) << (hash >> 13 & 31) | UINT32_C(1) << (hash >> 8 & 31);
}

static inline __attribute__((always_inline)) bool has_gram(const uint32_t *grams, unsigned words_log, uint32_t hash)
{
    uint32_t bits = gram_bits(hash);
    return (grams[hash >> (32 - words_log)] & bits) == bits;
}

static void add_gram(uint32_t *grams, unsigned words_log, uint32_t hash)
{
    grams[hash >> (32 - words_log)] |= gram_bits(hash);
}

static inline uint64_t hash_window(uint64_t window)
{
    return window * UINT64_C(0xff51afd7ed558ccd);
}

static inline uint64_t start_bits(uint64_t hash)
{
    return UINT64_C(1) << (hash >> 40 & 63) | UINT64_C(1) << (hash >> 34 & 63);
}

static size_t window_slot(const struct filter *filter, uint64_t window)
{
    size_t slot = (size_t)(hash_window(window) >> 32) & filter->mask;
    while (filter->windows[slot] && filter->windows[slot] != window)
        slot = (slot + 1) & filter->mask;
    return slot;
}

static uint64_t add_tiny(struct filter *filter, const char *literal)
{
    char text[LONG_WINDOW + LONG_STEP] = {0};
    memcpy(text, literal, LITERAL_SHORTEST);
    add_gram(filter->short_grams, SHORT_WORDS_LOG, hash_short(load(text)));
    for (unsigned any = 0; any < 256; any++) { /* literal[1..3] and what may follow */
        text[LITERAL_SHORTEST] = (char)any;
        add_gram(filter->short_grams, SHORT_WORDS_LOG, hash_short(load(text + 1)));
    }
    return (load(text) & TINY_MASK) | TINY_MARK;
}

/* Makes the literal's grams known; returns its window. */
static uint64_t add_window(struct filter *filter, const char *literal, size_t at)
{
    size_t length = strlen(literal);
    char text[LONG_WINDOW + LONG_WINDOW] = {0};
    if (length < SHORT_WINDOW)
        return add_tiny(filter, literal);
    bool is_short = length < LONG_WINDOW;
    memcpy(text, literal + at, is_short ? SHORT_WINDOW : LONG_WINDOW);
    for (size_t i = 0; i < (is_short ? SHORT_STEP : LONG_STEP); i++)
        if (is_short)
            add_gram(filter->short_grams, SHORT_WORDS_LOG, hash_short(load(text + i)));
        else
            add_gram(filter->long_grams, LONG_WORDS_LOG, hash_long(load(text + i)));
    return is_short ? load(text) & SHORT_MASK : load(text);
}

/* The first literal from `chain` on (index + 1) whose window is at `at` and that is there; 0: none. */
static uint32_t literal_there(const struct filter *filter, uint32_t chain, const char *at)
{
    for (; chain; chain = filter->literals[chain - 1].next) {
        const struct candidate *literal = &filter->literals[chain - 1];
        if (!strncasecmp(at - literal->window, literal->text, literal->length))
            break;
    }
    return chain;
}

static uint32_t chain_of(const struct filter *filter, uint64_t window)
{
    uint64_t hash = hash_window(window), bits = start_bits(hash);
    return (filter->starts[hash >> (64 - START_WORDS_LOG)] & bits) == bits ? filter->first[window_slot(filter, window)] : 0;
}

/* Is one of the literals with this window there? */
static bool has_literal(const struct filter *filter, uint64_t window, const char *at)
{
    return literal_there(filter, chain_of(filter, window), at) != 0;
}

/* Windows of eight, five and four bytes may begin at one place; literals of each are chained. */
bool filter_next(const struct filter *filter, const char *place, struct filter_place *at, size_t *literal)
{
    uint64_t word = load(place);
    const uint64_t windows[FILTER_WIDTHS] = {word, word & SHORT_MASK, (word & TINY_MASK) | TINY_MARK};
    uint32_t found = at->chain ? literal_there(filter, filter->literals[at->chain - 1].next, place) : 0;
    while (!found && at->width < FILTER_WIDTHS)
        found = literal_there(filter, chain_of(filter, windows[at->width++]), place);
    at->chain = found;
    if (!found)
        return false;
    at->start = place - filter->literals[found - 1].window;
    *literal = found - 1;
    return true;
}

/* A gram at `at` is known: the window that holds it begins there or a byte or two before. */
static const char *confirm_long(const struct filter *filter, const char *at, const char *from, const char *to)
{
    for (const char *start = at - (LONG_STEP - 1) < from ? from : at - (LONG_STEP - 1); start <= at && start < to; start++)
        if (has_literal(filter, load(start), start))
            return start;
    return NULL;
}

static const char *confirm_short(const struct filter *filter, const char *at, const char *from, const char *to)
{
    for (const char *start = at - (SHORT_STEP - 1) < from ? from : at - (SHORT_STEP - 1); start <= at && start < to; start++) {
        uint64_t word = load(start);
        if (has_literal(filter, word & SHORT_MASK, start) || has_literal(filter, (word & TINY_MASK) | TINY_MARK, start))
            return start;
    }
    return NULL;
}

#define GROUP (LONG_STEP * SHORT_STEP) /* bytes after which both kinds of samples begin anew */

/* Looks at one group of samples after another; the last ones may lie behind `to`, as their windows may begin before. */
static const char *find_plain(const struct filter *filter, const char *from, const char *to)
{
    for (const char *group = from; group < to + (LONG_STEP - 1); group += GROUP) {
        for (size_t i = 0; i < GROUP; i++) {
            const char *at = group + i, *start = NULL;
            uint64_t word = load(at);
            if (i % LONG_STEP == 0 && __builtin_expect(has_gram(filter->long_grams, LONG_WORDS_LOG, hash_long(word)), 0))
                start = confirm_long(filter, at, from, to);
            if (i % SHORT_STEP == 0 && !start && __builtin_expect(has_gram(filter->short_grams, SHORT_WORDS_LOG, hash_short(word)), 0))
                start = confirm_short(filter, at, from, to);
            if (start)
                return start;
        }
    }
    return to;
}

#ifdef HAS_WIDE_FIND
#define WIDE 8                                     /* samples at once */
#define WIDE_GROUP (WIDE * LONG_STEP * SHORT_STEP) /* bytes */
#define LONG_VECTORS (WIDE_GROUP / (WIDE * LONG_STEP))
#define SHORT_VECTORS (WIDE_GROUP / (WIDE * SHORT_STEP))

/* Sixteen bytes at `at` and at `other`, folded. */
__attribute__((target("avx2"), always_inline)) static inline __m256i load_wide(const char *at, const char *other)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)at);
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128((const __m128i *)(const void *)other), 1);
    return _mm256_or_si256(both, _mm256_set1_epi8(0x20));
}

/* has_gram for eight hashes: one bit each. */
__attribute__((target("avx2"), always_inline)) static inline unsigned has_grams(const uint32_t *grams, unsigned words_log, __m256i hash)
{
    const __m256i one = _mm256_set1_epi32(1), low_five = _mm256_set1_epi32(31);
    const __m256i word = _mm256_i32gather_epi32((const int *)(const void *)grams, _mm256_srli_epi32(hash, (int)(32 - words_log)), 4);
    const __m256i bits = _mm256_or_si256(_mm256_sllv_epi32(one, _mm256_and_si256(_mm256_srli_epi32(hash, 13), low_five)),
                                         _mm256_sllv_epi32(one, _mm256_and_si256(_mm256_srli_epi32(hash, 8), low_five)));
    const __m256i known = _mm256_cmpeq_epi32(_mm256_and_si256(word, bits), bits);
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(known));
}

/* The grams of six bytes at at, at + 3, ... at + 21: byte shuffles line them up. */
__attribute__((target("avx2"), always_inline)) static inline unsigned long_samples(const struct filter *filter, const char *at)
{
    const __m256i low_bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 10, 11, 12));
    const __m256i high_bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(4, 5, -1, -1, 7, 8, -1, -1, 10, 11, -1, -1, 13, 14, -1, -1));
    const __m256i text = load_wide(at, at + WIDE / 2 * LONG_STEP);
    const __m256i low = _mm256_mullo_epi32(_mm256_shuffle_epi8(text, low_bytes), _mm256_set1_epi32((int)FACTOR_LOW));
    const __m256i high = _mm256_mullo_epi32(_mm256_shuffle_epi8(text, high_bytes), _mm256_set1_epi32((int)FACTOR_HIGH));
    return has_grams(filter->long_grams, LONG_WORDS_LOG, _mm256_xor_si256(low, high));
}

/* The grams of four bytes at at, at + 2, ... at + 14. */
__attribute__((target("avx2"), always_inline)) static inline unsigned short_samples(const struct filter *filter, const char *at)
{
    const __m256i bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9));
    const __m256i text = _mm256_shuffle_epi8(load_wide(at, at + WIDE / 2 * SHORT_STEP), bytes);
    return has_grams(filter->short_grams, SHORT_WORDS_LOG, _mm256_mullo_epi32(text, _mm256_set1_epi32((int)FACTOR_LOW)));
}

/* Some samples of the group are known, one bit each: tries them in the order of the text. */
static __attribute__((noinline)) const char *confirm_group(const struct filter *filter, const char *group, unsigned longs, unsigned shorts,
                                                           const char *from, const char *to)
{
    while (longs || shorts) {
        unsigned next_long = longs ? (unsigned)__builtin_ctz(longs) * LONG_STEP : WIDE_GROUP;
        unsigned next_short = shorts ? (unsigned)__builtin_ctz(shorts) * SHORT_STEP : WIDE_GROUP;
        const char *start;
        if (next_long <= next_short) {
            start = confirm_long(filter, group + next_long, from, to);
            longs &= longs - 1;
        } else {
            start = confirm_short(filter, group + next_short, from, to);
            shorts &= shorts - 1;
        }
        if (start)
            return start;
    }
    return NULL;
}

/* find_plain with eight samples at once. */
__attribute__((target("avx2"))) static const char *find_wide(const struct filter *filter, const char *from, const char *to)
{
    for (const char *group = from; group < to + (LONG_STEP - 1); group += WIDE_GROUP) {
        unsigned longs = 0, shorts = 0;
        for (unsigned i = 0; i < LONG_VECTORS; i++)
            longs |= long_samples(filter, group + i * WIDE * LONG_STEP) << i * WIDE;
        for (unsigned i = 0; i < SHORT_VECTORS; i++)
            shorts |= short_samples(filter, group + i * WIDE * SHORT_STEP) << i * WIDE;
        if (__builtin_expect(longs | shorts, 0)) {
            const char *start = confirm_group(filter, group, longs, shorts, from, to);
            if (start)
                return start;
        }
    }
    return to;
}
#endif

static const char *(*best_find(void))(const struct filter *filter, const char *from, const char *to)
{
#ifdef HAS_WIDE_FIND
    if (__builtin_cpu_supports("avx2"))
        return find_wide;
#endif
    return find_plain;
}

struct filter *filter_new(const char *const *literals, const uint8_t *windows, size_t count)
{
    struct filter *filter = calloc(1, sizeof *filter);
    size_t slots = 256;
    while (slots < count * 4)
        slots *= 2;
    if (!filter)
        return NULL;
    filter->windows = calloc(slots, sizeof *filter->windows);
    filter->first = calloc(slots, sizeof *filter->first);
    filter->literals = calloc(count + 1, sizeof *filter->literals);
    if (!filter->windows || !filter->first || !filter->literals) {
        filter_free(filter);
        return NULL;
    }
    filter->mask = slots - 1;
    filter->find = best_find();
    for (size_t i = 0; i < count; i++) {
        uint64_t window = add_window(filter, literals[i], windows[i]);
        size_t slot = window_slot(filter, window);
        uint64_t hash = hash_window(window);
        filter->starts[hash >> (64 - START_WORDS_LOG)] |= start_bits(hash);
        filter->windows[slot] = window;
        filter->literals[i] = (struct candidate){literals[i], filter->first[slot], (uint8_t)strlen(literals[i]), windows[i]};
        filter->first[slot] = (uint32_t)i + 1;
    }
    return filter;
}

void filter_free(struct filter *filter)
{
    if (!filter)
        return;
    free(filter->windows);
    free(filter->first);
    free(filter->literals);
    free(filter);
}

/* A sample that was looked at later may have a window that begins up to two bytes before `place`. */
static const char *first_of(const struct filter *filter, const char *place, const char *from, const char *to)
{
    if (place == to)
        return to;
    for (const char *at = place - from < LONG_STEP - 1 ? from : place - (LONG_STEP - 1); at < place; at++) {
        struct filter_place there = {0};
        size_t literal;
        if (filter_next(filter, at, &there, &literal))
            return at;
    }
    return place;
}

const char *filter_find(const struct filter *filter, const char *from, const char *to)
{
    return first_of(filter, filter->find(filter, from, to), from, to);
}

const char *filter_find_plain(const struct filter *filter, const char *from, const char *to)
{
    return first_of(filter, find_plain(filter, from, to), from, to);
}

#include "scan/filter.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/clones.h"
#include "scan/literal.h"

#define LONG_WINDOW 8
#define SHORT_WINDOW LITERAL_MIN
#define STEP 3 /* LONG_WINDOW - 6 + 1 and SHORT_WINDOW - 3 + 1 */
#define LONG_BITS 18
#define SHORT_BITS 15
#define START_BITS 15
#define FOLD UINT64_C(0x2020202020202020)
#define SHORT_MASK UINT64_C(0xffffffffff)
#define TINY_MASK UINT64_C(0xffffffff)
#define TINY_MARK (UINT64_C(1) << 63) /* tells a window of four bytes from others among the windows */

struct filter {
    uint64_t long_grams[(1 << LONG_BITS) / 64];
    uint64_t short_grams[(1 << SHORT_BITS) / 64];
    uint64_t starts[(1 << START_BITS) / 64]; /* by the first four bytes of windows */
    bool has_short, has_tiny;
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

static inline __attribute__((always_inline)) uint64_t hash_long(uint64_t word) /* of its first six bytes */
{
    return ((word << 16) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - LONG_BITS);
}

static inline __attribute__((always_inline)) uint64_t hash_short(uint64_t word) /* of its first three bytes */
{
    return ((word << 40) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SHORT_BITS);
}

static inline uint64_t hash_start(uint64_t word) /* of its first four bytes */
{
    return ((word << 32) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - START_BITS);
}

static inline void set_bit(uint64_t *bits, uint64_t index)
{
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}

static inline __attribute__((always_inline)) bool has_bit(const uint64_t *bits, uint64_t index)
{
    return bits[index / 64] >> (index % 64) & 1;
}

static size_t window_slot(const struct filter *filter, uint64_t window)
{
    size_t slot = (size_t)((window * UINT64_C(0xff51afd7ed558ccd)) >> 32) & filter->mask;
    while (filter->windows[slot] && filter->windows[slot] != window)
        slot = (slot + 1) & filter->mask;
    return slot;
}

static uint64_t add_tiny(struct filter *filter, const char *literal)
{
    char text[LONG_WINDOW + STEP] = {0};
    memcpy(text, literal, LITERAL_SHORTEST);
    set_bit(filter->short_grams, hash_short(load(text)));
    set_bit(filter->short_grams, hash_short(load(text + 1))); /* literal[1..3] */
    for (unsigned any = 0; any < 256; any++) {                /* literal[2..3] and what may follow */
        text[LITERAL_SHORTEST] = (char)any;
        set_bit(filter->short_grams, hash_short(load(text + 2)));
    }
    uint64_t window = (load(text) & TINY_MASK) | TINY_MARK;
    set_bit(filter->starts, hash_start(load(text)));
    filter->has_short = filter->has_tiny = true;
    return window;
}

/* Makes the literal known to the bitmaps; returns its window. */
static uint64_t add_window(struct filter *filter, const char *literal, size_t at)
{
    size_t length = strlen(literal);
    char text[LONG_WINDOW + 2 * STEP] = {0};
    if (length < SHORT_WINDOW)
        return add_tiny(filter, literal);
    bool is_short = length < LONG_WINDOW;
    size_t width = is_short ? SHORT_WINDOW : LONG_WINDOW;
    memcpy(text, literal + at, width);
    for (size_t i = 0; i < STEP; i++) {
        uint64_t word = load(text + i);
        if (is_short)
            set_bit(filter->short_grams, hash_short(word));
        else
            set_bit(filter->long_grams, hash_long(word));
    }
    set_bit(filter->starts, hash_start(load(text)));
    filter->has_short = filter->has_short || is_short;
    return is_short ? load(text) & SHORT_MASK : load(text);
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
    for (size_t i = 0; i < count; i++) {
        uint64_t window = add_window(filter, literals[i], windows[i]);
        size_t slot = window_slot(filter, window);
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

/* Is one of the literals with this window there? */
static bool has_literal(const struct filter *filter, uint64_t window, const char *at)
{
    for (uint32_t i = filter->first[window_slot(filter, window)]; i; i = filter->literals[i - 1].next) {
        const struct candidate *literal = &filter->literals[i - 1];
        if (!strncasecmp(at - literal->window, literal->text, literal->length))
            return true;
    }
    return false;
}

/* Does a window begin at `at`, and is its literal there? */
static bool is_window(const struct filter *filter, const char *at)
{
    uint64_t word = load(at);
    if (!has_bit(filter->starts, hash_start(word)))
        return false;
    return has_literal(filter, word, at) || (filter->has_short && has_literal(filter, word & SHORT_MASK, at)) ||
           (filter->has_tiny && has_literal(filter, (word & TINY_MASK) | TINY_MARK, at));
}

/* A gram at `at` is known: the window that holds it begins there or one or two bytes before. */
static __attribute__((noinline)) const char *confirm(const struct filter *filter, const char *at, const char *from, const char *to)
{
    for (const char *start = at - (STEP - 1) < from ? from : at - (STEP - 1); start <= at && start < to; start++)
        if (is_window(filter, start))
            return start;
    return NULL;
}

static inline __attribute__((always_inline)) const char *find(const struct filter *filter, const char *from, const char *to, bool has_short)
{
    /* The last sampled position may lie behind `to`: its window may begin before. */
    for (const char *at = from; at < to + (STEP - 1); at += STEP) {
        uint64_t word = load(at);
        bool known = has_bit(filter->long_grams, hash_long(word));
        if (has_short)
            known |= has_bit(filter->short_grams, hash_short(word));
        if (__builtin_expect(known, 0)) {
            const char *start = confirm(filter, at, from, to);
            if (start)
                return start;
        }
    }
    return to;
}

SCAN_CLONES
const char *filter_find(const struct filter *filter, const char *from, const char *to)
{
    return filter->has_short ? find(filter, from, to, true) : find(filter, from, to, false);
}

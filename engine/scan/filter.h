/*
 * The first look at every byte: where could any literal be at all?
 *
 * Each literal stands for one window, its rarest 8 bytes (5 if it is shorter than 8, 4 and any fifth if it has no more). Six bytes at every
 * third position and four at every second are hashed and looked up in two Bloom filters, small enough for a second-level cache: wherever a window
 * lies, one of these samples is within it, so none is missed. With AVX2 eight samples are looked up at once, with the same result. What
 * passes is compared with the windows, then with the literals themselves. Case is folded: the matcher behind decides. On ordinary logs
 * this leaves one line in thousands for the matcher, at several times the speed of matching everything.
 */
#ifndef DTKB_SCAN_FILTER_H
#define DTKB_SCAN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/literal.h"

#define FILTER_PAD LITERAL_MAX /* readable bytes that must precede and follow what is searched */

struct filter;

/* `windows`: where in each literal its window lies (literal_best_window). */
/* The texts are borrowed. */
struct filter *filter_new(const char *const *literals, const uint8_t *windows,
                          size_t count); /* each at least LITERAL_SHORTEST long; NULL: out of memory */
void filter_free(struct filter *filter);

/* First position >= `from` and < `to` where the window of a literal begins that is there; `to` if there is none. FILTER_PAD bytes before
 * `from` and behind `to` are read (their content only matters for windows that begin before `to`). */
const char *filter_find(const struct filter *filter, const char *from, const char *to);

/* The literals whose windows begin at `place`, which filter_find returned: one a call, `at` zeroed before the first. False: no more. */
#define FILTER_WIDTHS 3
struct filter_place {
    const char *start; /* of the literal */
    uint32_t chain;
    unsigned width;
};
bool filter_next(const struct filter *filter, const char *place, struct filter_place *at, size_t *literal);

/* The same without vectors: for machines that lack them, and for tests. */
const char *filter_find_plain(const struct filter *filter, const char *from, const char *to);

#endif

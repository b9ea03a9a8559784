/*
 * What else a line must hold. A signature is looked at where one text that it needs was found; its expression needs more than that, and
 * lines that lack some of it are turned away here, by two-byte pairs alone, for a fraction of what running the expression costs.
 */
#ifndef DTKB_SCAN_GUARD_H
#define DTKB_SCAN_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "scan/literal.h"

/* Which pairs of neighbouring bytes a line has, five bits of each byte: case does not count, and what is absent is surely absent. */
struct pairs {
    unsigned char seen[1024];
};
void pairs_of(struct pairs *pairs, const char *text, size_t length);
bool pairs_may_hold(const struct pairs *pairs, const char *text);

#define GUARD_HEADER 2 /* words before its contents */

/* Appends a guard (words of 16 bits: kind, length in words, then texts as counted pairs, or guards). False when there is nothing to be
 * guarded by: `out` is as before then. */
bool guard_write(const struct need *need, struct buf *out);
/* May a line with these pairs match? `guard` comes from guard_write. */
bool guard_admits(const uint16_t *guard, const struct pairs *pairs);

#endif

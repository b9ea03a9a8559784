/* One line as a person reads it: without colours, overwritten text, rank prefixes and time stamps. */
#ifndef DTKB_SCAN_LINE_H
#define DTKB_SCAN_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/guard.h"

#define LINE_MAX_BYTES 16384 /* longer lines are read in pieces */

struct line {
    char bare[LINE_MAX_BYTES + 1]; /* escapes and controls taken out, valid UTF-8, prefixes still there */
    size_t bare_length;
    const char *text; /* within `bare`, behind the prefixes; indentation kept; NUL-terminated */
    size_t length;
    int32_t rank;       /* RANK_UNKNOWN when the prefixes don't tell */
    double time;        /* seconds since the epoch, or NAN */
    char level;         /* D, I, W, E, F as the prefixes tell; 0 when they don't */
    struct pairs pairs; /* of `bare` */
};

/* Reads at most LINE_MAX_BYTES of `raw`. */
void line_clean(struct line *line, const char *raw, size_t length);

/* Where `word` is in the line's text, in any case; NULL. Many words are looked for in every line that is read, and nearly none is there:
 * the pairs tell most of that. */
const char *line_find(const struct line *line, const char *word);
/* The same, in this case only. */
const char *line_find_exact(const struct line *line, const char *word);

/* escape.c: copies without escape sequences and controls, every byte that is no valid UTF-8 as '?'. `out` holds at least `length` bytes.
 * Returns the bytes written. */
size_t line_strip(const char *raw, size_t length, char *out);

/* prefix.c: takes prefixes off `line->text`, setting rank, time and level. */
void line_take_prefixes(struct line *line);

/* stamp.c: reads a time stamp at `text`; returns the bytes it takes (0: none) and sets `*time` (NAN where the date or the year is missing).
 */
size_t stamp_read(const char *text, double *time);

#endif

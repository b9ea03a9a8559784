/* Fixed text that a signature needs: what the scanner searches for before any regular expression is looked at. */
#ifndef DTKB_SCAN_LITERAL_H
#define DTKB_SCAN_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

#define LITERAL_MIN 5      /* shorter runs are in too many lines */
#define LITERAL_SHORTEST 4 /* of a word that is one of several alternatives, where another way to find the line costs more */
#define LITERAL_MAX 64     /* of a longer run the rarest part is kept */
#define LITERAL_ALTERNATIVES 48

struct literal_set {
    const char *text[LITERAL_ALTERNATIVES]; /* one of these is in every line that the expression matches; NUL-terminated, no NUL within */
    size_t count;
    bool ignore_case;
};

/* All that is known to be in every line that an expression matches: one of the texts; each of the needs, or one of them. */
struct need {
    enum { NEED_TEXTS, NEED_ALL, NEED_ANY } kind;
    struct literal_set texts;  /* of two bytes at least */
    struct need *first, *next; /* those within this one; the next one beside it */
};

/* Best set for a literal or a regular expression. False when there is none of LITERAL_MIN characters (or memory is short: `arena` tells).
 */
bool literal_of_text(const char *text, bool ignore_case, struct arena *arena, struct literal_set *out);
/* `*need`, if not NULL: what else a match needs; NULL where nothing is known. It lives in `arena`, as the texts do. */
bool literal_of_regex(const char *pattern, bool ignore_case, struct arena *arena, struct literal_set *out, const struct need **need);

#endif

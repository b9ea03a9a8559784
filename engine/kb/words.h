/* A text as the classifier reads it: its distinct words, each weighed by how often it comes. */
#ifndef DTKB_KB_WORDS_H
#define DTKB_KB_WORDS_H

#include "base/arena.h"
#include "base/err.h"

#define WORDS_TEXT_MAX ((size_t)32 << 10) /* bytes of a text that are read: more says no more of the kind of trouble */

struct word {
    const char *text;
    double weight; /* 1 + ln(times it comes), scaled so that the squares of all sum to 1 */
};
struct words {
    struct word *list; /* by text */
    size_t count;
    struct arena arena;
};

dtkb_status words_of(const char *text, struct words *out, struct err *err);
void words_free(struct words *words);

#endif

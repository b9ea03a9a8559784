/* What all parts use: telling, words and numbers of a line, readings. */
#ifndef DTKB_SCAN_OBSERVE_TEXT_H
#define DTKB_SCAN_OBSERVE_TEXT_H

#include "scan/collect.h"
#include "scan/line.h"
#include "scan/trace.h"

/* Evidence with these words at `at`. */
__attribute__((format(printf, 3, 4))) void observe_tell(struct collect *collect, const struct place *at, const char *format, ...);

/* text.c: what was hashed so far, and `length` more bytes of text (FNV-1a). Equal texts are meant, nothing is kept of it. */
#define OBSERVE_HASH UINT64_C(0xcbf29ce484222325) /* of nothing */
uint64_t observe_hash(uint64_t hash, const char *text, size_t length);
/* Is one of the words, up to a NULL, in the text, in any case? */
bool observe_any(const char *text, const char *const *words);
/* A number at `*p` ("-1.5e3", "nan", "-inf"); moves behind it. */
bool observe_number(const char **p, double *value);
/* Behind the first `word` (any case) that does not stand within a longer word; NULL when there is none. */
const char *observe_behind(const char *text, const char *word);
/* The number that follows `word` and a few separators. `at` (may be NULL) gets where it begins. */
bool observe_after(const char *text, const char *word, double *value, const char **at);
/* The same of a whole line; a word that is not there costs little, so this is for rules that ask every line for many. */
bool observe_value(const struct line *line, const char *word, double *value, const char **at);

#define READINGS_MAX 32

/* Readings in order; where they are too many, every second one is kept. */
struct readings {
    double values[READINGS_MAX];
    unsigned count, stride, skipped;
    struct place last;
};

void readings_add(struct readings *readings, double value, const struct place *place);
double readings_median(const struct readings *readings, unsigned from, unsigned to);

#endif

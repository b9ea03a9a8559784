/* How rare a text is in logs of jobs that run well, and so what it costs to search for it. */
#ifndef DTKB_SCAN_RARITY_H
#define DTKB_SCAN_RARITY_H

#include <stddef.h>
#include <stdint.h>

/* Four bytes, in lower case and with 0 for any digit, that such logs have often: two to the power of `level` times a megabyte. Sorted. */
struct gram {
    char text[5];
    unsigned char level;
};
extern const struct gram gram_table[];
extern const size_t gram_count;

/* Length of the window that the filter takes of a literal. */
size_t literal_window(size_t length);
/* Where the window of `text` begins that the filter stops at least often. */
size_t literal_best_window(const char *text, size_t length);
/* What searching for the text costs, in about nanoseconds a megabyte of an ordinary log. */
uint64_t literal_cost(const char *text, size_t length);

#endif

/* The scanner's own literals: where a structure (traceback, signal, exit status, version) may be. */
#ifndef DTKB_SCAN_ANCHOR_H
#define DTKB_SCAN_ANCHOR_H

#include <stdbool.h>
#include <stddef.h>

enum anchor_kind {
    ANCHOR_TRACEBACK = 1 << 0, /* reads on from here */
    ANCHOR_ERROR = 1 << 1,     /* a word that errors are told with */
    ANCHOR_DEATH = 1 << 2,     /* terminate, signals, exit codes, launcher summaries */
    ANCHOR_VERSION = 1 << 3,
    ANCHOR_WORLD = 1 << 4,
};

struct anchor {
    const char *text;  /* at least LITERAL_MIN bytes, matched in any case */
    unsigned kinds;    /* of enum anchor_kind */
    bool word;         /* no letter, digit or '_' may touch it */
    bool capital_word; /* a capital, dot or non-word character may precede (RuntimeError), no word character may follow */
};

extern const struct anchor anchors[];
extern const size_t anchor_count;

#endif

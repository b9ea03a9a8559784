/* One piece of input and what the matcher found in it. Blocks lie at fixed offsets, so that the same input is cut in the same way whoever
 * delivers it. */
#ifndef DTKB_SCAN_BLOCK_H
#define DTKB_SCAN_BLOCK_H

#include <hs/hs.h>

#include "scan/db.h"
#include "scan/line.h"

#define BLOCK_BYTES ((size_t)256 << 10)
#define BLOCK_MARGIN ((size_t)LINE_MAX_BYTES) /* of neighbouring bytes on either side, so that lines over an edge are whole */
#define BLOCK_ROOM (BLOCK_MARGIN + BLOCK_BYTES + BLOCK_MARGIN)
#define HIT_IDS_MAX 256 /* literals of one line, before their expressions are tried; a frame of a traceback has up to 70 today */

struct hit {
    uint32_t start, length; /* the line, within `data` */
    uint32_t first_id;      /* in `ids` */
    uint32_t id_count;
};

struct block {
    char *memory; /* owned: FILTER_PAD bytes on either side of `data` */
    char *data;
    size_t lead;     /* bytes of the block before */
    size_t length;   /* of its own */
    size_t tail;     /* bytes of the block behind */
    uint64_t offset; /* in the input, of its own first byte */
    uint64_t newlines;
    struct hit *hits; /* by place */
    size_t hit_count, hit_capacity;
    uint32_t *ids; /* indices of literals */
    size_t id_count, id_capacity;
    uint64_t dropped;
    bool failed; /* out of memory */
};

/* What one thread needs to search blocks. */
struct finder {
    const struct scan_db *db;
    hs_scratch_t *scratch;
    struct matching *matching;
    char *plain; /* a line without escapes */
};

bool finder_open(struct finder *finder, const struct scan_db *db);
void finder_close(struct finder *finder);

bool block_open(struct block *block, size_t room);
void block_close(struct block *block);
/* Makes room for `room` bytes of data; false when out of memory. */
bool block_reserve(struct block *block, size_t room);
/*
 * A block owns the lines that begin in it. Moves its edges from the fixed offsets to the first line that begins there; both neighbours see
 * the bytes that decide it. In a line longer than the margin the fixed offset stays. `last`: nothing follows.
 */
void block_trim(struct block *block, bool last);
/* Fills in newlines, hits and ids. */
void block_search(struct block *block, const struct finder *finder);

/* Number of '\n'. */
uint64_t count_newlines(const char *text, size_t length);
/* End of the line that holds `at`, looking no further than `end`: a '\n', '\r' or `end`. */
const char *line_end(const char *at, const char *end);

#endif

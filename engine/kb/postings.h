/* Lists of (document, weight), the index that ranks: what a word weighs in each issue that has it. Documents are numbered from 1.
 *
 * A list is a run of blocks of up to 128 entries: varint(last document - last of the block before), varint(bytes that follow in this
 * block), then per entry varint(document - the one before), varint(weight). So a reader can skip whole blocks. Lists come from files
 * that are not trusted: a malformed one ends early and says so. */
#ifndef DTKB_KB_POSTINGS_H
#define DTKB_KB_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define POSTINGS_END UINT32_MAX

struct postings {
    const uint8_t *next, *block_end, *end;
    uint32_t doc, weight; /* of the current entry; doc is POSTINGS_END behind the last */
    uint32_t block_last, last_doc;
    bool damaged;
};

/* Stands at the first entry afterwards. Documents above `last_doc` are damage. */
void postings_begin(struct postings *list, const void *bytes, size_t length, uint32_t last_doc);
void postings_next(struct postings *list);
/* Goes on to the first entry whose document is `doc` or later. */
void postings_seek(struct postings *list, uint32_t doc);

struct postings_entry {
    uint32_t doc, weight;
};
/* Appends the list of these entries (ascending) to `out`. */
void postings_write(struct buf *out, const struct postings_entry *entries, size_t count);

/* Numbers of 7 bits a byte, low ones first. */
void varint_write(struct buf *out, uint32_t value);
/* False when the bytes end too early or the number is too large. */
bool varint_read(const uint8_t **next, const uint8_t *end, uint32_t *value);

#endif

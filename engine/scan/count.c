/* How often signatures are looked at for nothing: for those who write them. */
#include <stdlib.h>
#include <string.h>

#include "scan/anchor.h"
#include "scan/db.h"

/* Counts each signature once whose text is in the line; `last` holds the number of the line that each was counted in. */
static void count_line(const struct scan_db *db, const char *line, const char *end, uint64_t number, uint64_t *last, uint32_t *lines)
{
    for (const char *place = filter_find(db->filter, line, end); place < end; place = filter_find(db->filter, place + 1, end)) {
        struct filter_place at = {0};
        for (size_t id; filter_next(db->filter, place, &at, &id);) {
            const struct db_literal *literal = &db->literals[id];
            if (literal->anchor || last[literal->owner] == number || at.start + literal->length > end ||
                (!literal->ignore_case && memcmp(at.start, literal->text, literal->length) != 0))
                continue;
            last[literal->owner] = number;
            lines[literal->owner]++;
        }
    }
}

dtkb_status scan_count_texts(const struct scan_db *db, const char *text, size_t length, uint32_t *lines, uint64_t *total, struct err *err)
{
    uint64_t *last = calloc(db->signature_count + 1, sizeof *last), number = 0;
    char *padded = calloc(1, length + 2 * FILTER_PAD);
    if (last && padded) {
        const char *at = memcpy(padded + FILTER_PAD, text, length), *end = at + length;
        while (at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
            count_line(db, at, stop, ++number, last, lines);
            at = stop + 1;
        }
    }
    dtkb_status status = last && padded ? DTKB_OK : err_nomem(err);
    *total += number;
    free(last);
    free(padded);
    return status;
}

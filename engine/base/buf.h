/* A growing byte buffer with a hard maximum. After a failed append `failed` stays set, so a chain of appends is checked once at its end. */
#ifndef DTKB_BASE_BUF_H
#define DTKB_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* NUL-terminated once anything was appended; owned */
    size_t length;
    size_t capacity;
    size_t maximum; /* of length; 0 means BUF_MAX_DEFAULT */
    bool failed;    /* out of memory or past the maximum */
};

#define BUF_MAX_DEFAULT ((size_t)256 << 20)

void buf_free(struct buf *buf);
void buf_clear(struct buf *buf); /* empties, keeps the memory */
void buf_add(struct buf *buf, const void *bytes, size_t length);
void buf_adds(struct buf *buf, const char *text);
void buf_addc(struct buf *buf, char c);
__attribute__((format(printf, 2, 3))) void buf_addf(struct buf *buf, const char *format, ...);

/* The text so far, "" when empty. Valid until the next append. */
const char *buf_text(const struct buf *buf);

#endif

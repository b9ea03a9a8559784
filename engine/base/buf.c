#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.maximum = buf->maximum};
}

void buf_clear(struct buf *buf)
{
    buf->length = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

static bool reserve(struct buf *buf, size_t more)
{
    size_t maximum = buf->maximum ? buf->maximum : BUF_MAX_DEFAULT;
    if (buf->failed || more > maximum - buf->length) {
        buf->failed = true;
        return false;
    }
    size_t needed = buf->length + more + 1;
    if (needed <= buf->capacity)
        return true;
    size_t capacity = buf->capacity ? buf->capacity * 2 : 128;
    if (capacity < needed)
        capacity = needed;
    char *data = realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void buf_add(struct buf *buf, const void *bytes, size_t length)
{
    if (!reserve(buf, length))
        return;
    if (length)
        memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void buf_adds(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_addc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_addf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        buf->failed = true;
    } else if (reserve(buf, (size_t)length)) {
        (void)vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

const char *buf_text(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

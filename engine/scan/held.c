/* Fed bytes that may be a document are held until they are known to be a log, or something is to be concluded from them. */
#include <stdlib.h>
#include <string.h>

#include "scan/document.h"

#define HELD_BYTES ((size_t)16 << 20) /* together; more are a log's */

static size_t find(const struct scan *scan, const char *name)
{
    size_t i = 0;
    while (i < scan->held_count && strcmp(scan->held[i].name, name) != 0)
        i++;
    return i;
}

static void forget(struct scan *scan, size_t index)
{
    struct held *held = &scan->held[index];
    scan->held_bytes -= held->text.length;
    free(held->name);
    buf_free(&held->text);
    scan->held[index] = scan->held[--scan->held_count]; /* all of them are settled or looked up by name */
}

/* It is a log. */
static dtkb_status read_lines(struct scan *scan, size_t index, struct err *err)
{
    uint32_t file;
    const struct held *held = &scan->held[index];
    dtkb_status status = feed_open(scan, held->name, &file, err);
    if (status == DTKB_OK)
        status = feed_bytes(scan, file, held->text.data, held->text.length, err);
    forget(scan, index);
    return status;
}

static bool begins_like_one(const char *bytes, size_t length)
{
    size_t blanks = 0;
    while (blanks < length && strchr(" \t\r\n", bytes[blanks]) && bytes[blanks])
        blanks++;
    return blanks < length && (bytes[blanks] == '{' || bytes[blanks] == '<');
}

dtkb_status held_feed(struct scan *scan, const char *name, const void *bytes, size_t length, bool *taken, struct err *err)
{
    size_t index = find(scan, name);
    *taken = index < scan->held_count || (scan->held_count < HELD_MAX && begins_like_one(bytes, length));
    if (!*taken)
        return DTKB_OK;
    struct held *held = &scan->held[index];
    if (index == scan->held_count) {
        *held = (struct held){.name = strdup(name)};
        if (!held->name)
            return err_nomem(err);
        scan->held_count++;
    }
    scan->held_bytes -= held->text.length;
    buf_add(&held->text, bytes, length);
    scan->held_bytes += held->text.length;
    if (held->text.failed)
        return err_nomem(err);
    bool log = held->text.length >= SNIFF_BYTES && !document_may_be(held->text.data, SNIFF_BYTES);
    return log || scan->held_bytes > HELD_BYTES ? read_lines(scan, index, err) : DTKB_OK;
}

dtkb_status held_settle(struct scan *scan, struct err *err)
{
    dtkb_status status = DTKB_OK;
    while (scan->held_count && status == DTKB_OK) {
        const struct held *held = &scan->held[0];
        bool taken = false;
        if (document_may_be(held->text.data, held->text.length))
            status = document_text(scan, held->name, &held->text, &taken, err);
        if (status == DTKB_OK && !taken)
            status = read_lines(scan, 0, err);
        else
            forget(scan, 0);
    }
    return status;
}

void held_free(struct scan *scan)
{
    while (scan->held_count)
        forget(scan, scan->held_count - 1);
}

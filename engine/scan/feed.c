/* Streams that come in pieces: pipes, archives' members, an embedder's bytes. Cut into the same blocks as files are. */
#include <stdlib.h>
#include <string.h>

#include "scan/scan_private.h"

#define ROOM_FIRST ((size_t)16 << 10) /* most streams of a job of a thousand ranks are short */

void feed_free(struct feed *feed)
{
    if (!feed)
        return;
    stream_close(&feed->stream);
    block_close(&feed->block);
    free(feed);
}

dtkb_status feed_open(struct scan *scan, const char *name, uint32_t *file, struct err *err)
{
    dtkb_status status = scan_add_file(scan, name, file, err);
    if (status != DTKB_OK)
        return status;
    struct feed *feed = calloc(1, sizeof *feed);
    if (!feed || !stream_open(&feed->stream, scan->db, *file, scan->files[*file].rank)) {
        free(feed);
        return err_nomem(err);
    }
    scan->feeds[*file] = feed;
    return DTKB_OK;
}

/* The block that is full, or what there is of the last one. Returns false when nothing is to be done. */
static bool next_block(struct feed *feed, struct block *block, bool final, bool *last)
{
    *block = feed->block;
    size_t own = feed->filled - feed->block.lead;
    *last = final && own <= BLOCK_BYTES;
    if (!final && own < BLOCK_BYTES + BLOCK_MARGIN)
        return false;
    block->length = own < BLOCK_BYTES ? own : BLOCK_BYTES;
    block->tail = own - block->length < BLOCK_MARGIN ? own - block->length : BLOCK_MARGIN;
    return true;
}

/* Searches and reads every block that is complete; with `final` the rest, too. */
static void pump(struct feed *feed, const struct finder *finder, struct collect *collect, bool final)
{
    struct block block;
    bool last = false;
    while (!last && next_block(feed, &block, final, &last)) {
        size_t own = block.length;
        block_trim(&block, last);
        block_search(&block, finder);
        stream_block(&feed->stream, collect, &block, last);
        /* The arrays may have grown; their place is in the feed. */
        feed->block.hits = block.hits;
        feed->block.hit_capacity = block.hit_capacity;
        feed->block.ids = block.ids;
        feed->block.id_capacity = block.id_capacity;
        feed->block.offset += own;
        size_t end = feed->block.lead + own, keep = end < BLOCK_MARGIN ? end : BLOCK_MARGIN;
        memmove(feed->block.data, feed->block.data + end - keep, feed->filled - end + keep);
        feed->filled -= end - keep;
        feed->block.lead = keep;
    }
}

static bool append(struct feed *feed, const struct finder *finder, struct collect *collect, const char *bytes, size_t length)
{
    while (length) {
        if (feed->filled == feed->room) {
            if (feed->room == BLOCK_ROOM) {
                pump(feed, finder, collect, false);
                continue;
            }
            size_t room = feed->room ? feed->room * 2 : ROOM_FIRST;
            room = room > BLOCK_ROOM ? BLOCK_ROOM : room;
            if (!block_reserve(&feed->block, room))
                return false;
            feed->room = room;
        }
        size_t part = feed->room - feed->filled < length ? feed->room - feed->filled : length;
        memcpy(feed->block.data + feed->filled, bytes, part);
        feed->filled += part;
        bytes += part;
        length -= part;
    }
    return true;
}

static size_t utf8_put(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* One character of UTF-16 at `p`; returns the bytes it takes, 0 if it is not complete. */
static size_t utf16_get(const unsigned char *p, size_t length, bool little, uint32_t *code)
{
    if (length < 2)
        return 0;
    uint32_t unit = little ? (uint32_t)(p[0] | p[1] << 8) : (uint32_t)(p[1] | p[0] << 8);
    *code = unit;
    if (unit < 0xd800 || unit > 0xdfff)
        return 2;
    *code = '?';
    if (unit > 0xdbff)
        return 2;
    if (length < 4)
        return 0;
    uint32_t low = little ? (uint32_t)(p[2] | p[3] << 8) : (uint32_t)(p[3] | p[2] << 8);
    if (low < 0xdc00 || low > 0xdfff)
        return 2;
    *code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    return 4;
}

static bool append_utf16(struct feed *feed, const struct finder *finder, struct collect *collect, const unsigned char *bytes, size_t length)
{
    char out[512];
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        feed->held[feed->held_count++] = bytes[i];
        uint32_t code;
        size_t taken = utf16_get(feed->held, feed->held_count, feed->form == FEED_UTF16LE, &code);
        if (!taken)
            continue;
        feed->held_count -= taken;
        memmove(feed->held, feed->held + taken, feed->held_count);
        used += utf8_put(code, out + used);
        if (used > sizeof out - 4) {
            if (!append(feed, finder, collect, out, used))
                return false;
            used = 0;
        }
    }
    return append(feed, finder, collect, out, used);
}

/* Takes a byte order mark off, however it was cut. */
static bool begin(struct feed *feed, const struct finder *finder, struct collect *collect, bool final)
{
    const unsigned char *held = feed->held;
    if (!final && feed->held_count < 3 && (held[0] >= 0xef) && !(feed->held_count == 2 && held[0] >= 0xfe))
        return true;
    size_t skip = 0;
    feed->form = FEED_PLAIN;
    if (feed->held_count >= 2 && ((held[0] == 0xff && held[1] == 0xfe) || (held[0] == 0xfe && held[1] == 0xff))) {
        feed->form = held[0] == 0xff ? FEED_UTF16LE : FEED_UTF16BE;
        skip = 2;
    } else if (feed->held_count >= 3 && !memcmp(held, "\xef\xbb\xbf", 3)) {
        skip = 3;
    }
    unsigned char rest[sizeof feed->held];
    size_t count = feed->held_count - skip;
    memcpy(rest, held + skip, count);
    feed->held_count = 0;
    return feed->form == FEED_PLAIN ? append(feed, finder, collect, (const char *)rest, count)
                                    : append_utf16(feed, finder, collect, rest, count);
}

dtkb_status feed_bytes(struct scan *scan, uint32_t file, const void *bytes, size_t length, struct err *err)
{
    struct feed *feed = scan->feeds[file];
    const unsigned char *p = bytes;
    bool ok = true;
    scan->files[file].bytes += length;
    for (; ok && length && feed->form == FEED_NEW; length--) {
        feed->held[feed->held_count++] = *p++;
        ok = begin(feed, &scan->finder, &scan->collect, false);
    }
    if (ok && length)
        ok = feed->form == FEED_PLAIN ? append(feed, &scan->finder, &scan->collect, (const char *)p, length)
                                      : append_utf16(feed, &scan->finder, &scan->collect, p, length);
    return ok ? DTKB_OK : err_nomem(err);
}

static bool finish(struct feed *feed, const struct finder *finder, struct collect *collect)
{
    if (feed->form == FEED_NEW && feed->held_count && !begin(feed, finder, collect, true))
        return false;
    if (!feed->block.memory && !block_reserve(&feed->block, ROOM_FIRST))
        return false;
    pump(feed, finder, collect, true);
    return true;
}

dtkb_status feed_end(struct scan *scan, uint32_t file, struct err *err)
{
    struct feed *feed = scan->feeds[file];
    bool ok = finish(feed, &scan->finder, &scan->collect);
    scan->files[file].lines = feed->stream.lines_read;
    feed_free(feed);
    scan->feeds[file] = NULL;
    return ok ? DTKB_OK : err_nomem(err);
}

dtkb_status feed_peek(const struct scan *scan, uint32_t file, struct collect *collect, uint64_t *lines, struct err *err)
{
    const struct feed *feed = scan->feeds[file];
    struct feed copy = *feed;
    copy.block = (struct block){.lead = feed->block.lead, .offset = feed->block.offset};
    if (!stream_clone(&feed->stream, &copy.stream))
        return err_nomem(err);
    bool ok = block_reserve(&copy.block, feed->room ? feed->room : ROOM_FIRST);
    if (ok) {
        if (feed->filled)
            memcpy(copy.block.data, feed->block.data, feed->filled);
        if (!copy.room)
            copy.room = ROOM_FIRST;
        ok = finish(&copy, &scan->finder, collect);
    }
    *lines = copy.stream.lines_read;
    stream_close(&copy.stream);
    block_close(&copy.block);
    return ok ? DTKB_OK : err_nomem(err);
}

#include "kb/postings.h"

#define BLOCK_ENTRIES 128

void varint_write(struct buf *out, uint32_t value)
{
    while (value >= 0x80) {
        buf_addc(out, (char)(value | 0x80));
        value >>= 7;
    }
    buf_addc(out, (char)value);
}

bool varint_read(const uint8_t **next, const uint8_t *end, uint32_t *value)
{
    uint32_t result = 0;
    for (unsigned shift = 0; shift < 35 && *next < end; shift += 7) {
        uint8_t byte = *(*next)++;
        if (shift == 28 && byte > 0x0f)
            return false;
        result |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return true;
        }
    }
    return false;
}

static void end_list(struct postings *list, bool damaged)
{
    list->next = list->block_end = list->end;
    list->doc = POSTINGS_END;
    list->damaged = list->damaged || damaged;
}

/* Reads the head of the next block. False at the end. */
static bool next_block(struct postings *list)
{
    if (list->next == list->end) {
        end_list(list, false);
        return false;
    }
    uint32_t span, bytes;
    if (!varint_read(&list->next, list->end, &span) || !varint_read(&list->next, list->end, &bytes) ||
        bytes > (size_t)(list->end - list->next) || bytes < 2 || span > list->last_doc - list->block_last || !span) {
        end_list(list, true);
        return false;
    }
    list->doc = list->block_last;
    list->block_last += span;
    list->block_end = list->next + bytes;
    return true;
}

void postings_begin(struct postings *list, const void *bytes, size_t length, uint32_t last_doc)
{
    *list = (struct postings){.next = bytes, .block_end = bytes, .end = (const uint8_t *)bytes + length, .last_doc = last_doc};
    postings_next(list);
}

void postings_next(struct postings *list)
{
    if (list->next == list->block_end && !next_block(list))
        return;
    uint32_t delta;
    if (!varint_read(&list->next, list->block_end, &delta) || !varint_read(&list->next, list->block_end, &list->weight) || !delta ||
        delta > list->block_last - list->doc)
        end_list(list, true);
    else
        list->doc += delta;
}

void postings_seek(struct postings *list, uint32_t doc)
{
    if (list->doc >= doc)
        return;
    while (list->block_last < doc) {
        list->next = list->block_end;
        if (!next_block(list))
            return;
    }
    while (list->doc < doc)
        postings_next(list);
}

void postings_write(struct buf *out, const struct postings_entry *entries, size_t count)
{
    struct buf block = {0};
    uint32_t last = 0;
    for (size_t i = 0; i < count;) {
        buf_clear(&block);
        uint32_t before = last;
        for (size_t in_block = 0; i < count && in_block < BLOCK_ENTRIES; i++, in_block++) {
            varint_write(&block, entries[i].doc - before);
            varint_write(&block, entries[i].weight);
            before = entries[i].doc;
        }
        varint_write(out, before - last);
        varint_write(out, (uint32_t)block.length);
        buf_add(out, buf_text(&block), block.length);
        out->failed = out->failed || block.failed;
        last = before;
    }
    buf_free(&block);
}

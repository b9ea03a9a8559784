#include "scan/guard.h"

#include <string.h>

#define PAIRS_MAX 5   /* of one text: more tell little more */
#define WORDS_MAX 160 /* of one guard: a start reads them all */

/* Controls count as blanks: cleaning a line makes blanks of its tabs. */
static inline unsigned five_bits(unsigned char c)
{
    return c < ' ' ? 0 : c & 31;
}

static inline uint16_t pair(unsigned char first, unsigned char second)
{
    return (uint16_t)(five_bits(first) << 5 | five_bits(second));
}

void pairs_of(struct pairs *pairs, const char *text, size_t length)
{
    unsigned at = 0;
    memset(pairs, 0, sizeof *pairs);
    for (size_t i = 0; i < length; i++) {
        at = (at << 5 | five_bits((unsigned char)text[i])) & (sizeof pairs->seen - 1);
        pairs->seen[at] = 1; /* the first one of nothing and a byte does no harm */
    }
}

bool pairs_may_hold(const struct pairs *pairs, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; p[0] && p[1]; p++)
        if (!pairs->seen[pair(p[0], p[1])])
            return false;
    return true;
}

static void add_word(struct buf *out, size_t word)
{
    uint16_t value = (uint16_t)word;
    buf_add(out, &value, sizeof value);
}

/* Pairs spread over the text: those of its first letters alone would be those of many other words. */
static void write_text(const char *text, struct buf *out)
{
    size_t count = strlen(text) - 1, kept = count < PAIRS_MAX ? count : PAIRS_MAX;
    add_word(out, kept);
    for (size_t i = 0; i < kept; i++) {
        size_t at = kept == count ? i : i * (count - 1) / (kept - 1);
        add_word(out, pair((unsigned char)text[at], (unsigned char)text[at + 1]));
    }
}

/* Writes what fits into `room` words; false, with nothing written, when that is nothing. Of needs that all hold some may be left out. */
static bool write_need(const struct need *need, size_t room, struct buf *out)
{
    size_t start = out->length, end = start + room * sizeof(uint16_t);
    bool whole = true;
    add_word(out, need->kind);
    add_word(out, 0);
    if (need->kind == NEED_TEXTS)
        for (size_t i = 0; i < need->texts.count; i++)
            write_text(need->texts.text[i], out);
    for (const struct need *child = need->first; child && whole; child = child->next)
        if (out->length > end || !write_need(child, (end - out->length) / sizeof(uint16_t), out))
            whole = need->kind == NEED_ALL;
    size_t words = (out->length - start) / sizeof(uint16_t);
    if (out->failed || !whole || words == GUARD_HEADER || words > room) {
        out->length = start;
        return false;
    }
    uint16_t length = (uint16_t)words;
    memcpy(out->data + start + sizeof length, &length, sizeof length);
    return true;
}

bool guard_write(const struct need *need, struct buf *out)
{
    return need && write_need(need, WORDS_MAX, out);
}

static bool admits_text(const uint16_t *at, const uint16_t *end, const struct pairs *pairs)
{
    while (at < end) {
        uint16_t count = *at++, i = 0;
        while (i < count && pairs->seen[at[i]])
            i++;
        if (i == count)
            return true;
        at += count;
    }
    return false;
}

bool guard_admits(const uint16_t *guard, const struct pairs *pairs)
{
    const uint16_t *at = guard + GUARD_HEADER, *end = guard + guard[1];
    if (guard[0] == NEED_TEXTS)
        return admits_text(at, end, pairs);
    bool all = guard[0] == NEED_ALL;
    for (; at < end; at += at[1])
        if (guard_admits(at, pairs) != all)
            return !all;
    return all;
}

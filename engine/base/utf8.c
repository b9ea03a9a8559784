#include "base/utf8.h"

size_t utf8_char_length(const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text;
    if (!length)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t need = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || need > length)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    bool outside = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || outside ? 0 : need;
}

bool utf8_is_valid(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t step = utf8_char_length(text + at, length - at);
        if (!step)
            return false;
        at += step;
    }
    return true;
}

size_t utf8_cut(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    while (room && ((unsigned char)text[room] & 0xc0) == 0x80)
        room--;
    return room;
}

/* C0 controls and DEL, and the C1 controls U+0080 to U+009F, which some terminals obey as well. */
static bool is_control(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0];
    if (length == 1)
        return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
    return length == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0;
}

void buf_add_clean(struct buf *buf, const char *text, size_t length)
{
    size_t plain = 0; /* start of the run that can be copied as it is */
    for (size_t at = 0; at < length;) {
        size_t step = utf8_char_length(text + at, length - at);
        if (step && !is_control(text + at, step)) {
            at += step;
            continue;
        }
        buf_add(buf, text + plain, at - plain);
        buf_adds(buf, step ? "?" : "\xef\xbf\xbd");
        at += step ? step : 1;
        plain = at;
    }
    buf_add(buf, text + plain, length - plain);
}

#include "scan/line.h"

#include <string.h>

/* Length of the escape sequence at `p` (which is ESC), up to and with its end; an unfinished one takes the rest. */
static size_t escape_length(const unsigned char *p, size_t left)
{
    if (left < 2)
        return left;
    size_t i = 2;
    switch (p[1]) {
    case '[': /* CSI: parameters, then one of @..~ */
        while (i < left && !(p[i] >= 0x40 && p[i] <= 0x7e))
            i++;
        return i < left ? i + 1 : left;
    case ']': /* OSC, DCS, SOS, PM, APC: up to BEL or ESC \ */
    case 'P':
    case 'X':
    case '^':
    case '_':
        while (i < left && p[i] != 0x07 && p[i] != 0x1b)
            i++;
        if (i < left && p[i] == 0x1b)
            i++;
        return i < left ? i + 1 : left;
    case '(':
    case ')':
    case '*':
    case '+':
    case '#':
    case ' ':
        return left < 3 ? left : 3;
    default:
        return 2;
    }
}

/* Length of the valid UTF-8 sequence at `p`, 0 if it is none (overlong forms, surrogates and C1 controls are none). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    size_t need = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : 0;
    if (!need || need > left)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return need;
}

size_t line_strip(const char *raw, size_t length, char *out)
{
    const unsigned char *p = (const unsigned char *)raw;
    char *o = out;
    for (size_t i = 0; i < length;) {
        if (p[i] >= 0x20 && p[i] < 0x7f) {
            *o++ = (char)p[i++];
        } else if (p[i] == 0x1b) {
            i += escape_length(p + i, length - i);
        } else if (p[i] == '\t') {
            *o++ = ' ';
            i++;
        } else if (p[i] == '\b') { /* overwritten by what follows, as in backspace-drawn progress bars */
            if (o > out)
                o--;
            i++;
        } else if (p[i] < 0x20 || p[i] == 0x7f) {
            i++;
        } else {
            size_t size = utf8_length(p + i, length - i);
            if (size) {
                memcpy(o, p + i, size);
                o += size;
                i += size;
            } else {
                *o++ = '?';
                i++;
            }
        }
    }
    return (size_t)(o - out);
}

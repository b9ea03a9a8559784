/* Values that are written behind an opcode. Whole numbers have their lowest byte first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "scan/pickle_machine.h"

/* ---- arguments ---- */

static bool take(struct reader *reader, size_t length, const unsigned char **out)
{
    if ((size_t)(reader->end - reader->at) < length)
        return false;
    *out = reader->at;
    reader->at += length;
    return true;
}

bool pickle_take_number(struct reader *reader, size_t width, uint64_t *out)
{
    const unsigned char *p;
    if (!take(reader, width, &p))
        return false;
    *out = 0;
    for (size_t i = 0; i < width; i++)
        *out |= (uint64_t)p[i] << (8 * i);
    return true;
}

/* A text up to the end of the line. */
bool pickle_take_line(struct reader *reader, const char **text, size_t *length)
{
    const unsigned char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    if (!newline)
        return false;
    *text = (const char *)reader->at;
    *length = (size_t)(newline - reader->at);
    reader->at = newline + 1;
    return true;
}

/* ---- values ---- */

static dtkb_status push_text(struct reader *reader, const char *text, size_t length)
{
    json_t *value = json_stringn(text, length); /* NULL also for text that is no UTF-8 */
    if (value)
        return pickle_push(reader, value, 0);
    struct buf escaped = {0};
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x80)
            buf_addc(&escaped, text[i]);
        else
            buf_addf(&escaped, "\\x%02x", (unsigned char)text[i]);
    }
    value = escaped.failed ? NULL : json_stringn(buf_text(&escaped), escaped.length);
    buf_free(&escaped);
    return pickle_push_new(reader, value);
}

/* Two's complement, the lowest byte first. */
static dtkb_status push_long(struct reader *reader, size_t length)
{
    const unsigned char *p;
    if (!take(reader, length, &p))
        return pickle_broken(reader, "a number is cut off");
    bool negative = length && p[length - 1] & 0x80;
    if (length <= 8) {
        uint64_t value = negative ? UINT64_MAX : 0;
        for (size_t i = length; i-- > 0;)
            value = value << 8 | p[i];
        return pickle_push_new(reader, json_integer((json_int_t)value));
    }
    double value = 0;
    for (size_t i = length; i-- > 0;)
        value = value * 256 + (negative ? 255 - p[i] : p[i]);
    value = negative ? -value - 1 : value;
    return pickle_push_new(reader, json_real(isfinite(value) ? value : 0));
}

dtkb_status pickle_push_decimal(struct reader *reader, bool real)
{
    const char *text;
    size_t length;
    char number[64];
    if (!pickle_take_line(reader, &text, &length) || length == 0 || length >= sizeof number)
        return pickle_broken(reader, "not a number");
    memcpy(number, text, length);
    number[length] = '\0';
    if (number[length - 1] == 'L')
        number[length - 1] = '\0';
    char *end;
    if (real) {
        double value = strtod(number, &end);
        return *end ? pickle_broken(reader, "not a number") : pickle_push_new(reader, json_real(isfinite(value) ? value : 0));
    }
    if (!strcmp(number, "00") || !strcmp(number, "01"))
        return pickle_push_new(reader, json_boolean(number[1] == '1'));
    long long value = strtoll(number, &end, 10);
    return *end ? pickle_broken(reader, "not a number") : pickle_push_new(reader, json_integer(value));
}

dtkb_status pickle_push_double(struct reader *reader)
{
    const unsigned char *p;
    if (!take(reader, 8, &p))
        return pickle_broken(reader, "a number is cut off");
    uint64_t bits = 0;
    double value;
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | p[i];
    memcpy(&value, &bits, sizeof value);
    return pickle_push_new(reader, json_real(isfinite(value) ? value : 0));
}

dtkb_status pickle_push_counted(struct reader *reader, size_t width)
{
    uint64_t length;
    const unsigned char *p;
    if (!pickle_take_number(reader, width, &length) || length > SIZE_MAX || !take(reader, (size_t)length, &p))
        return pickle_broken(reader, "a text is cut off");
    return push_text(reader, (const char *)p, (size_t)length);
}

/* Protocol 0: 'text' with Python's escapes, which nobody needs for plain names; they stay as they are. */
dtkb_status pickle_push_line_text(struct reader *reader, bool quoted)
{
    const char *text;
    size_t length;
    if (!pickle_take_line(reader, &text, &length))
        return pickle_broken(reader, "a text is cut off");
    if (quoted) {
        if (length < 2 || (text[0] != '\'' && text[0] != '"') || text[length - 1] != text[0])
            return pickle_broken(reader, "a text without quotes");
        text++;
        length -= 2;
    }
    return push_text(reader, text, length);
}

dtkb_status pickle_push_fixed(struct reader *reader, size_t width, bool is_signed)
{
    uint64_t value;
    if (!pickle_take_number(reader, width, &value))
        return pickle_broken(reader, "a number is cut off");
    return pickle_push_new(reader, json_integer(is_signed ? (json_int_t)(int32_t)(uint32_t)value : (json_int_t)value));
}

dtkb_status pickle_push_sized_long(struct reader *reader, size_t width)
{
    uint64_t length;
    if (!pickle_take_number(reader, width, &length) || length > 1024)
        return pickle_broken(reader, "too long a number");
    return push_long(reader, (size_t)length);
}

#include "report/page.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report/access.h"

static const char *const style_codes[] = {
    [STYLE_PLAIN] = "",          [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",   [STYLE_BAD] = "\033[1;31m",
    [STYLE_GOOD] = "\033[1;32m", [STYLE_WARN] = "\033[1;33m", [STYLE_CODE] = "\033[36m", [STYLE_LINK] = "\033[4m",
};

struct page page_begin(struct buf *out, const struct render_options *options)
{
    unsigned width = options && options->width ? options->width : 80;
    return (struct page){.out = out, .width = width < 40 ? 40 : width, .color = options && options->color};
}

static void style_on(struct page *page, enum style style)
{
    if (page->color)
        buf_adds(page->out, style_codes[style]);
}

static void style_off(struct page *page, enum style style)
{
    if (page->color && style != STYLE_PLAIN)
        buf_adds(page->out, "\033[0m");
}

/* Decodes one code point; an invalid byte is taken alone as U+FFFD. Returns its length. */
static size_t decode(const char *text, size_t length, uint32_t *point)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t need = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    *point = need == 1 ? p[0] : need ? p[0] & (0xffu >> (need + 1)) : 0xfffd;
    if (!need || need > length)
        return *point = 0xfffd, 1;
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return *point = 0xfffd, 1;
        *point = *point << 6 | (p[i] & 0x3f);
    }
    return need;
}

static unsigned point_columns(uint32_t point)
{
    bool wide = (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) || (point >= 0xac00 && point <= 0xd7a3) ||
                (point >= 0xf900 && point <= 0xfaff) || (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
                (point >= 0x1f300 && point <= 0x1faff) || (point >= 0x20000 && point <= 0x3fffd);
    bool none = (point >= 0x300 && point <= 0x36f) || (point >= 0x200b && point <= 0x200f) || (point >= 0x202a && point <= 0x202e) ||
                point == 0xfeff;
    return none ? 0 : wide ? 2 : 1;
}

unsigned page_columns(const char *text, size_t length)
{
    unsigned columns = 0;
    for (size_t i = 0; i < length;) {
        uint32_t point;
        i += decode(text + i, length - i, &point);
        columns += point_columns(point);
    }
    return columns;
}

/* Bytes that drive a terminal, or turn the direction of writing, are shown as '?'. */
static bool is_unsafe(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x202a && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xfffd;
}

static void add_safe(struct page *page, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t point;
        size_t used = decode(text + i, length - i, &point);
        if (is_unsafe(point))
            buf_addc(page->out, '?');
        else
            buf_add(page->out, text + i, used);
        i += used;
    }
}

static void indent_by(struct page *page, unsigned columns)
{
    for (unsigned i = 0; i < columns; i++)
        buf_addc(page->out, ' ');
}

void page_blank(struct page *page)
{
    buf_addc(page->out, '\n');
}

void page_heading(struct page *page, const char *text)
{
    page_blank(page);
    style_on(page, STYLE_BOLD);
    add_safe(page, text, strlen(text));
    style_off(page, STYLE_BOLD);
    page_blank(page);
}

void page_text(struct page *page, unsigned indent, const char *bullet, enum style style, const char *text)
{
    unsigned bullet_columns = page_columns(bullet, strlen(bullet));
    indent_by(page, indent > bullet_columns ? indent - bullet_columns : 0);
    add_safe(page, bullet, strlen(bullet));
    unsigned column = indent;
    bool begun = false;
    style_on(page, style);
    for (const char *p = text; *(p += strspn(p, " \t\r\n"));) {
        size_t length = strcspn(p, " \t\r\n");
        unsigned columns = page_columns(p, length);
        if (begun && column + 1 + columns > page->width) {
            style_off(page, style);
            page_blank(page);
            indent_by(page, indent);
            style_on(page, style);
            column = indent;
        } else if (begun) {
            buf_addc(page->out, ' ');
            column++;
        }
        add_safe(page, p, length);
        column += columns;
        begun = true;
        p += length;
    }
    style_off(page, style);
    page_blank(page);
}

void page_code(struct page *page, unsigned indent, const char *text)
{
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, "\n"), skip = strspn(p, " \t");
        if (skip < length) {
            indent_by(page, indent);
            style_on(page, STYLE_CODE);
            add_safe(page, p, length);
            style_off(page, STYLE_CODE);
            page_blank(page);
        }
        p += length + (p[length] == '\n');
    }
}

void page_line(struct page *page, unsigned indent, enum style style, const char *text)
{
    size_t length = strlen(text), end = 0;
    unsigned column = indent;
    while (end < length) {
        uint32_t point;
        size_t used = decode(text + end, length - end, &point);
        unsigned columns = point_columns(point);
        if (column + columns > page->width - 3 && end + used < length && page_columns(text + end, length - end) > page->width - column)
            break;
        column += columns;
        end += used;
    }
    indent_by(page, indent);
    style_on(page, style);
    add_safe(page, text, end);
    if (end < length)
        buf_adds(page->out, "...");
    style_off(page, style);
    page_blank(page);
}

void page_remedies(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *remedy;
    json_array_foreach(list, i, remedy)
    {
        char bullet[24];
        (void)snprintf(bullet, sizeof bullet, "%zu. ", i + 1);
        page_text(page, 5, bullet, STYLE_PLAIN, get_string(remedy, "text"));
        if (*get_string(remedy, "command"))
            page_code(page, 7, get_string(remedy, "command"));
        if (*get_string(remedy, "check"))
            page_text(page, 9, "> ", STYLE_DIM, get_string(remedy, "check"));
    }
}

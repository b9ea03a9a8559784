/* Writing for a person at a terminal: wrapping, indentation, colours; control characters never pass. */
#ifndef DTKB_REPORT_PAGE_H
#define DTKB_REPORT_PAGE_H

#include "base/buf.h"
#include "report/render.h"

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_BAD, STYLE_GOOD, STYLE_WARN, STYLE_CODE, STYLE_LINK };

struct page {
    struct buf *out;
    unsigned width;
    bool color;
};

struct page page_begin(struct buf *out, const struct render_options *options);

/* A heading with a blank line before it. */
void page_heading(struct page *page, const char *text);
/* A paragraph: white space folded, wrapped at the width, every line indented; the first one begins with `bullet` (may be "") instead of its
 * last columns of indentation. */
void page_text(struct page *page, unsigned indent, const char *bullet, enum style style, const char *text);
/* Text to copy: each line as it is, never wrapped. */
void page_code(struct page *page, unsigned indent, const char *text);
/* Text cut to the rest of the line. */
void page_line(struct page *page, unsigned indent, enum style style, const char *text);
void page_blank(struct page *page);

/* Numbered remedies: text, command to copy, how to check. */
void page_remedies(struct page *page, const json_t *list);

/* Columns of UTF-8 text (one per code point; wide scripts count two). */
unsigned page_columns(const char *text, size_t length);

#endif

#include "kb/issue_xml.h"

#include <string.h>

#define COLUMNS 140

/* Escapes text; what XML cannot hold (controls, bytes that are no UTF-8) becomes '?'. */
static void escape(struct buf *out, const char *text, size_t length)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    while (p < end) {
        size_t size = *p < 0x80 ? 1 : *p >= 0xf0 && *p < 0xf5 ? 4 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xc2 && *p < 0xe0 ? 2 : 0;
        bool whole = size && size <= (size_t)(end - p);
        for (size_t i = 1; whole && i < size; i++)
            whole = (p[i] & 0xc0) == 0x80;
        if (whole && size == 3)
            whole = !(p[0] == 0xe0 && p[1] < 0xa0) && !(p[0] == 0xed && p[1] >= 0xa0) && !(p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe);
        if (whole && size == 4)
            whole = !(p[0] == 0xf0 && p[1] < 0x90) && !(p[0] == 0xf4 && p[1] >= 0x90);
        if (!whole) {
            buf_addc(out, '?');
            p++;
            continue;
        }
        if (*p == '&')
            buf_adds(out, "&amp;");
        else if (*p == '<')
            buf_adds(out, "&lt;");
        else if (*p == '>')
            buf_adds(out, "&gt;");
        else if (*p == '"')
            buf_adds(out, "&quot;");
        else if ((*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7f)
            buf_addc(out, '?');
        else
            buf_add(out, p, size);
        p += size;
    }
}

static void attribute(struct buf *out, const char *name, const char *value)
{
    if (!value)
        return;
    buf_addf(out, " %s=\"", name);
    escape(out, value, strlen(value));
    buf_addc(out, '"');
}

/* Prose, wrapped: readers join the lines again. */
static void prose(struct buf *out, const char *element, const char *text)
{
    if (!text || !*text)
        return;
    buf_addf(out, "    <%s>", element);
    size_t column = 6 + strlen(element);
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, " \n\t");
        if (length) {
            if (word != text && column + length + 1 > COLUMNS) {
                buf_adds(out, "\n      ");
                column = 6;
            } else if (word != text) {
                buf_addc(out, ' ');
                column++;
            }
            escape(out, word, length);
            column += length;
        }
        word += length + strspn(word + length, " \n\t");
    }
    buf_addf(out, "</%s>\n", element);
}

static void verbatim(struct buf *out, const char *element, const char *text)
{
    buf_addf(out, "    <%s>", element);
    escape(out, text, strlen(text));
    buf_addf(out, "</%s>\n", element);
}

void issue_xml_begin(struct buf *out, const char *pack, const char *title, const char *origin)
{
    buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pack");
    attribute(out, "id", pack);
    buf_adds(out, " version=\"1\">\n  <title>");
    escape(out, title, strlen(title));
    buf_adds(out, "</title>\n  <origin>");
    escape(out, origin, strlen(origin));
    buf_adds(out, "</origin>\n");
}

void issue_xml_add(struct buf *out, const struct issue *issue)
{
    buf_adds(out, "\n  <issue");
    attribute(out, "id", issue->id);
    attribute(out, "url", issue->url);
    attribute(out, "source", issue->source);
    attribute(out, "framework", issue->framework);
    buf_adds(out, "\n        ");
    attribute(out, "kind", issue->kind);
    attribute(out, "evidence", issue->evidence);
    if (issue->distributed >= 0)
        attribute(out, "distributed", issue->distributed ? "true" : "false");
    attribute(out, "symptom", issue->symptom);
    attribute(out, "topic", issue->topic);
    buf_adds(out, issue->raw_label ? "\n        " : "");
    attribute(out, "raw-label", issue->raw_label);
    buf_adds(out, ">\n");
    for (size_t i = 0; i < issue->fix_count; i++) {
        buf_adds(out, "    <fix-pattern");
        attribute(out, "id", issue->fixes[i]);
        buf_adds(out, "/>\n");
    }
    prose(out, "raw-fix", issue->raw_fix);
    prose(out, "title", issue->title);
    prose(out, "summary", issue->summary);
    prose(out, "cause-text", issue->cause);
    prose(out, "fix-text", issue->fix);
    for (size_t i = 0; i < issue->error_line_count; i++)
        verbatim(out, "error-line", issue->error_lines[i]);
    for (size_t i = 0; i < issue->component_count; i++)
        verbatim(out, "component", issue->components[i]);
    for (size_t i = 0; i < issue->version_count; i++) {
        buf_adds(out, "    <version");
        attribute(out, "of", issue->versions[i].component);
        buf_addc(out, '>');
        escape(out, issue->versions[i].version, strlen(issue->versions[i].version));
        buf_adds(out, "</version>\n");
    }
    buf_adds(out, "  </issue>\n");
}

void issue_xml_end(struct buf *out)
{
    buf_adds(out, "</pack>\n");
}

#include "report/render.h"

#include <stdlib.h>
#include <string.h>

#include "report/formats.h"

/* JSON lets DEL and the C1 controls (two bytes, C2 80 to C2 9F) stand as they are; a terminal that shows it need not. */
static int add_bytes(const char *bytes, size_t length, void *context)
{
    struct buf *out = context;
    size_t done = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i], next = i + 1 < length ? (unsigned char)bytes[i + 1] : 0;
        bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        if (byte != 0x7f && !is_c1)
            continue;
        buf_add(out, bytes + done, i - done);
        buf_addf(out, "\\u%04x", is_c1 ? next : byte);
        i += is_c1;
        done = i + 1;
    }
    buf_add(out, bytes + done, length - done);
    return out->failed ? -1 : 0;
}

dtkb_status render_json(const json_t *document, const struct render_options *options, struct buf *out)
{
    (void)options;
    if (json_dump_callback(document, add_bytes, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) != 0)
        return DTKB_E_NOMEM;
    buf_addc(out, '\n');
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

/* Length of the character at `p` if it is a control or turns the direction of writing; 0 for all others. */
static size_t control_length(const unsigned char *p)
{
    if ((p[0] < 0x20 && p[0] != '\n' && p[0] != '\t') || p[0] == 0x7f)
        return 1;
    if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
        return 2;
    bool is_bidi = p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
    return is_bidi ? 3 : 0;
}

/* Markup is read in terminals as well: no text in it acts on one. */
static void mask_controls(struct buf *out)
{
    for (size_t i = 0; i < out->length; i++)
        for (size_t left = control_length((unsigned char *)out->data + i); left; left--)
            out->data[i + left - 1] = '?';
}

static const struct {
    const char *schema; /* NULL: every document */
    dtkb_format format;
    render_fn render;
} table[] = {
    {NULL, DTKB_FORMAT_JSON, render_json},
    {"dtkb.report/1", DTKB_FORMAT_TEXT, render_text_report},
    {"dtkb.plugins/1", DTKB_FORMAT_TEXT, render_text_plugins},
    {"dtkb.plugin-check/1", DTKB_FORMAT_TEXT, render_text_plugin_check},
    {"dtkb.search/1", DTKB_FORMAT_TEXT, render_text_search},
    {"dtkb.issue/1", DTKB_FORMAT_TEXT, render_text_issue},
    {"dtkb.cause/1", DTKB_FORMAT_TEXT, render_text_cause},
    {"dtkb.causes/1", DTKB_FORMAT_TEXT, render_text_causes},
    {"dtkb.stats/1", DTKB_FORMAT_TEXT, render_text_stats},
    {"dtkb.taxonomy/1", DTKB_FORMAT_TEXT, render_text_taxonomy},
    {"dtkb.kb-info/1", DTKB_FORMAT_TEXT, render_text_kb_info},
    {"dtkb.check/1", DTKB_FORMAT_TEXT, render_text_check},
    {"dtkb.report/1", DTKB_FORMAT_MARKDOWN, render_markdown},
    {"dtkb.report/1", DTKB_FORMAT_SARIF, render_sarif},
    {"dtkb.report/1", DTKB_FORMAT_JUNIT, render_junit},
    {"dtkb.report/1", DTKB_FORMAT_GITHUB, render_github},
    {"dtkb.report/1", DTKB_FORMAT_HTML, render_html},
};

static const char *const format_names[] = {"text", "json", "markdown", "sarif", "junit", "html", "github"};

dtkb_status render(const json_t *document, dtkb_format format, const struct render_options *options, struct buf *out, struct err *err)
{
    const char *schema = json_string_value(json_object_get(document, "schema"));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].format != format || (table[i].schema && (!schema || strcmp(schema, table[i].schema) != 0)))
            continue;
        dtkb_status status = table[i].render(document, options, out);
        if (format != DTKB_FORMAT_TEXT && format != DTKB_FORMAT_JSON) /* one has colours of its own and the other escapes: both see to it */
            mask_controls(out);
        return status;
    }
    bool known = (unsigned)format < sizeof format_names / sizeof *format_names;
    return err_set(err, DTKB_E_UNSUPPORTED, "a %s document has no format %s", schema ? schema : "nameless",
                   known ? format_names[format] : "of that number");
}

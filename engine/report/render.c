#include "report/render.h"

#include <stdlib.h>
#include <string.h>

#include "report/formats.h"

static int add_bytes(const char *bytes, size_t length, void *context)
{
    struct buf *out = context;
    buf_add(out, bytes, length);
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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].format == format && (!table[i].schema || (schema && !strcmp(schema, table[i].schema))))
            return table[i].render(document, options, out);
    bool known = (unsigned)format < sizeof format_names / sizeof *format_names;
    return err_set(err, DTKB_E_UNSUPPORTED, "a %s document has no format %s", schema ? schema : "nameless",
                   known ? format_names[format] : "of that number");
}

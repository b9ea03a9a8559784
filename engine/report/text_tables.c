/* Tables as text: the study's statistics, the taxonomy, what the knowledge base holds, what a check found. */
#include <stdio.h>
#include <string.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/page.h"

/* One row: a count, a bar that shows its share, a name. */
static void write_row(struct page *page, const json_t *entry, double most)
{
    struct buf line = {0};
    long long count = get_integer(entry, "count");
    unsigned bar = most > 0 ? (unsigned)((double)count / most * 20.0 + 0.5) : 0;
    buf_addf(&line, "%5lld  ", count);
    for (unsigned i = 0; i < 20; i++)
        buf_addc(&line, i < bar ? '#' : ' ');
    buf_addf(&line, "  %s", get_string(entry, "id"));
    page_line(page, 2, STYLE_PLAIN, buf_text(&line));
    buf_free(&line);
}

static void write_table(struct page *page, const char *heading, const json_t *list, size_t limit)
{
    size_t i;
    const json_t *entry;
    double most = 0;
    page_heading(page, heading);
    json_array_foreach(list, i, entry) most = get_number(entry, "count") > most ? get_number(entry, "count") : most;
    json_array_foreach(list, i, entry) if (i < limit) write_row(page, entry, most);
    if (json_array_size(list) > limit) {
        char more[64];
        (void)snprintf(more, sizeof more, "and %zu more (--json shows all)", json_array_size(list) - limit);
        page_text(page, 9, "", STYLE_DIM, more);
    }
}

dtkb_status render_text_stats(const json_t *stats, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    const json_t *totals = json_object_get(stats, "totals"), *row;
    struct buf line = {0};
    size_t i;
    buf_addf(&line, "%lld issues over %lld threads: %lld faults, %lld how-to questions", get_integer(totals, "issues"),
             get_integer(totals, "threads"), get_integer(totals, "faults"), get_integer(totals, "how_to"));
    page_text(&page, 0, "", STYLE_BOLD, buf_text(&line));
    buf_clear(&line);
    buf_addf(&line, "%lld reports of failures beyond the study, not counted below", get_integer(totals, "reports"));
    if (get_integer(totals, "reports"))
        page_text(&page, 0, "", STYLE_DIM, buf_text(&line));
    write_table(&page, "Faults by stage", get_list(stats, "stages"), 10);
    write_table(&page, "Faults by symptom", get_list(stats, "symptoms"), 40);
    page_heading(&page, "Commonest fixes of each symptom");
    json_array_foreach(get_list(stats, "fixes_by_symptom"), i, row)
    {
        size_t f;
        const json_t *fix;
        buf_clear(&line);
        json_array_foreach(get_list(row, "fixes"), f, fix) if (f < 3)
            buf_addf(&line, "%s%s %lld", f ? ", " : "", get_string(fix, "id"), get_integer(fix, "count"));
        page_line(&page, 2, STYLE_PLAIN, get_string(row, "symptom"));
        page_text(&page, 6, "", STYLE_DIM, buf_text(&line));
    }
    write_table(&page, "How-to topics", get_list(stats, "topics"), 25);
    buf_free(&line);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

static void write_definition(struct page *page, unsigned indent, const json_t *entry)
{
    page_line(page, indent, STYLE_BOLD, get_string(entry, "id"));
    if (*get_string(entry, "definition"))
        page_text(page, indent + 4, "", STYLE_PLAIN, get_string(entry, "definition"));
}

dtkb_status render_text_taxonomy(const json_t *taxonomy, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    size_t i, j;
    const json_t *entry, *inner;
    json_array_foreach(get_list(taxonomy, "stages"), i, entry)
    {
        page_heading(&page, get_string(entry, "title"));
        page_text(&page, 0, "", STYLE_DIM, get_string(entry, "definition"));
        json_array_foreach(get_list(entry, "symptoms"), j, inner) write_definition(&page, 2, inner);
    }
    page_heading(&page, "Fix patterns");
    json_array_foreach(get_list(taxonomy, "fix_patterns"), i, entry) write_definition(&page, 2, entry);
    page_heading(&page, "How-to topics");
    json_array_foreach(get_list(taxonomy, "topics"), i, entry) write_definition(&page, 2, entry);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

dtkb_status render_text_kb_info(const json_t *info, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    struct buf line = {0};
    size_t i;
    const json_t *layer;
    buf_addf(&line, "%lld causes with %lld signatures", get_integer(info, "causes"), get_integer(info, "signatures"));
    page_text(&page, 0, "", STYLE_BOLD, buf_text(&line));
    json_array_foreach(get_list(info, "layers"), i, layer)
    {
        buf_clear(&line);
        buf_addf(&line, "%s: %lld causes, %lld issues over %lld threads (%lld faults, %lld how-to)", get_string(layer, "kind"),
                 get_integer(layer, "causes"), get_integer(layer, "issues"), get_integer(layer, "threads"), get_integer(layer, "faults"),
                 get_integer(layer, "how_to"));
        page_line(&page, 2, STYLE_DIM, get_string(layer, "file"));
        page_text(&page, 4, "", STYLE_PLAIN, buf_text(&line));
    }
    buf_free(&line);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

/* Compiler style, so that an editor jumps to the place; errors first. */
static void write_complaints(struct page *page, const json_t *list, const char *severity, size_t limit)
{
    size_t i, shown = 0;
    const json_t *complaint;
    struct buf line = {0};
    json_array_foreach(list, i, complaint)
    {
        if (strcmp(get_string(complaint, "severity"), severity) != 0 || shown++ >= limit)
            continue;
        buf_clear(&line);
        buf_addf(&line, "%s:%lld: %s: ", get_string(complaint, "file"), get_integer(complaint, "line"), severity);
        if (*get_string(complaint, "cause"))
            buf_addf(&line, "%s%s%s: ", get_string(complaint, "cause"), *get_string(complaint, "signature") ? "/" : "",
                     get_string(complaint, "signature"));
        buf_adds(&line, get_string(complaint, "message"));
        page_text(page, 0, "", STYLE_PLAIN, buf_text(&line));
    }
    buf_free(&line);
    if (shown > limit) {
        char more[64];
        (void)snprintf(more, sizeof more, "and %zu more %ss (--json shows all)", shown - limit, severity);
        page_text(page, 0, "", STYLE_DIM, more);
    }
}

dtkb_status render_text_check(const json_t *document, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    const json_t *list = get_list(document, "findings");
    struct buf line = {0};
    write_complaints(&page, list, "error", 200);
    write_complaints(&page, list, "warning", 20);
    buf_addf(&line, "%lld errors, %lld warnings", get_integer(document, "errors"), get_integer(document, "warnings"));
    page_text(&page, 0, "", get_integer(document, "errors") ? STYLE_BAD : STYLE_GOOD, buf_text(&line));
    buf_free(&line);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

dtkb_status render_text_causes(const json_t *document, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    size_t i;
    const json_t *cause;
    json_array_foreach(get_list(document, "causes"), i, cause)
    {
        page_line(&page, 0, STYLE_BOLD, get_string(cause, "id"));
        page_text(&page, 4, "", STYLE_PLAIN, get_string(cause, "title"));
    }
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

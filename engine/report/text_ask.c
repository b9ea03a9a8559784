/* Answers of the knowledge base as text: search results, one issue, one cause. */
#include <stdint.h>
#include <stdlib.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/page.h"

/* "name: text", the name in the margin. */
static void write_field(struct page *page, const char *name, const char *text)
{
    struct buf bullet = {0};
    if (!*text)
        return;
    buf_addf(&bullet, "%-12s", name);
    page_text(page, 14, buf_text(&bullet), STYLE_PLAIN, text);
    buf_free(&bullet);
}

static void join(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry)
    {
        if (i)
            buf_adds(out, ", ");
        add_scalar(out, entry);
    }
}

static void write_list(struct page *page, const char *name, const json_t *list)
{
    struct buf text = {0};
    join(&text, list);
    write_field(page, name, buf_text(&text));
    buf_free(&text);
}

static void write_hit(struct page *page, const json_t *hit)
{
    struct buf line = {0};
    const char *title = get_string(hit, "title");
    buf_addf(&line, "%s", *title ? title : "(labels only: nobody has read this thread yet)");
    page_text(page, 2, "", STYLE_BOLD, buf_text(&line));
    buf_clear(&line);
    buf_addf(&line, "%s  %s", get_string(hit, "id"), get_string(hit, "symptom"));
    if (json_array_size(get_list(hit, "fixes"))) {
        buf_adds(&line, "  cured by ");
        join(&line, get_list(hit, "fixes"));
    }
    page_text(page, 4, "", STYLE_DIM, buf_text(&line));
    if (*get_string(hit, "snippet"))
        page_text(page, 4, "", STYLE_PLAIN, get_string(hit, "snippet"));
    page_line(page, 4, STYLE_LINK, get_string(hit, "url"));
    buf_free(&line);
}

dtkb_status render_text_search(const json_t *document, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    size_t i;
    const json_t *hit;
    if (!json_array_size(get_list(document, "hits")))
        page_text(&page, 0, "", STYLE_WARN, "No issue fits. Try fewer words.");
    json_array_foreach(get_list(document, "hits"), i, hit)
    {
        if (i)
            page_blank(&page);
        write_hit(&page, hit);
    }
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

dtkb_status render_text_issue(const json_t *issue, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    const char *title = get_string(issue, "title"), *name;
    const json_t *version, *line;
    size_t i;
    page_text(&page, 0, "", STYLE_BOLD, *title ? title : "(labels only: nobody has read this thread yet)");
    page_line(&page, 0, STYLE_LINK, get_string(issue, "url"));
    page_blank(&page);
    write_field(&page, "summary", get_string(issue, "summary"));
    write_field(&page, "cause", get_string(issue, "cause"));
    write_field(&page, "cure", get_string(issue, "fix"));
    write_field(&page, "symptom", get_string(issue, "symptom"));
    write_field(&page, "topic", get_string(issue, "topic"));
    write_list(&page, "fixes", get_list(issue, "fixes"));
    write_field(&page, "framework", get_string(issue, "framework"));
    write_list(&page, "components", get_list(issue, "components"));
    json_object_foreach((json_t *)(uintptr_t)json_object_get(issue, "versions"), name, version)
        write_field(&page, name, json_string_value(version) ? json_string_value(version) : "");
    write_field(&page, "evidence", get_string(issue, "evidence"));
    if (json_array_size(get_list(issue, "error_lines")))
        page_heading(&page, "It printed");
    json_array_foreach(get_list(issue, "error_lines"), i, line) page_code(&page, 2, json_string_value(line) ? json_string_value(line) : "");
    if (*get_string(issue, "log"))
        page_heading(&page, "The terminal showed");
    page_code(&page, 2, get_string(issue, "log"));
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

static void write_signatures(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *signature;
    json_array_foreach(list, i, signature)
    {
        const json_t *sample = json_array_get(get_list(signature, "samples"), 0);
        const char *text = sample ? json_string_value(sample) : get_string(signature, "pattern");
        if (i == 0)
            page_heading(page, "How it shows");
        page_text(page, 4, "- ", STYLE_PLAIN, text ? text : "");
    }
}

static void write_conditions(struct page *page, const char *heading, const json_t *condition)
{
    char *text = condition ? json_dumps(condition, JSON_COMPACT) : NULL;
    if (text) {
        page_heading(page, heading);
        page_text(page, 4, "", STYLE_PLAIN, text);
    }
    free(text);
}

dtkb_status render_text_cause(const json_t *cause, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    size_t i;
    const json_t *entry;
    page_text(&page, 0, "", STYLE_BOLD, get_string(cause, "title"));
    page_line(&page, 0, STYLE_DIM, get_string(cause, "symptom"));
    page_blank(&page);
    page_text(&page, 2, "", STYLE_PLAIN, get_string(cause, "explanation"));
    page_heading(&page, "What to do");
    page_remedies(&page, get_list(cause, "remedies"));
    write_signatures(&page, get_list(cause, "signatures"));
    write_conditions(&page, "Confirmed by facts of the machine", json_object_get(cause, "confirm"));
    write_conditions(&page, "Ruled out by", json_object_get(cause, "refute"));
    json_array_foreach(get_list(cause, "trials"), i, entry)
    {
        struct buf line = {0};
        if (i == 0)
            page_heading(&page, "Proven by trying");
        buf_addf(&line, "%s with %s", get_string(entry, "probe"), get_string(entry, "change"));
        page_text(&page, 4, "- ", STYLE_PLAIN, buf_text(&line));
        buf_free(&line);
    }
    json_array_foreach(get_list(cause, "links"), i, entry)
    {
        if (i == 0)
            page_heading(&page, "Read on");
        page_line(&page, 2, STYLE_LINK, *get_string(entry, "url") ? get_string(entry, "url") : get_string(entry, "issue"));
    }
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

/* Plugins for a person: the list of them, one in detail, and what a check found. */
#include <string.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/page.h"

static void add_facts(struct page *page, const json_t *probe)
{
    struct buf line = {0};
    size_t i;
    const json_t *fact;
    json_array_foreach(get_list(probe, "facts"), i, fact)
        buf_addf(&line, "%s%s", i ? ", " : "facts: ", json_string_value(fact) ? json_string_value(fact) : "");
    if (line.length)
        page_text(page, 6, "", STYLE_DIM, buf_text(&line));
    const json_t *param;
    json_array_foreach(get_list(probe, "params"), i, param)
    {
        buf_clear(&line);
        buf_addf(&line, "--set %s=%s: %s", get_string(param, "name"), get_string(param, "default"), get_string(param, "summary"));
        page_text(page, 6, "", STYLE_DIM, buf_text(&line));
    }
    buf_free(&line);
}

static void add_probe(struct page *page, const json_t *probe, bool detail)
{
    struct buf line = {0};
    size_t i;
    const json_t *word;
    buf_addf(&line, "%s: %s", get_string(probe, "name"), get_string(probe, "summary"));
    json_array_foreach(get_list(probe, "caps"), i, word)
        buf_addf(&line, "%s%s", i ? ", " : " [", json_string_value(word) ? json_string_value(word) : "");
    if (i)
        buf_addc(&line, ']');
    page_text(page, 4, "- ", STYLE_PLAIN, buf_text(&line));
    if (detail)
        add_facts(page, probe);
    buf_free(&line);
}

static void add_plugin(struct page *page, const json_t *plugin, bool detail)
{
    struct buf line = {0};
    const char *status = get_string(plugin, "status");
    bool good = !strcmp(status, "loadable");
    buf_addf(&line, "%s %s  %s", get_string(plugin, "name"), get_string(plugin, "version"), get_string(plugin, "path"));
    page_line(page, 0, good ? STYLE_BOLD : STYLE_WARN, buf_text(&line));
    buf_clear(&line);
    if (!good)
        buf_addf(&line, "%s: %s", status, get_string(plugin, "reason"));
    else if (detail)
        buf_addf(&line, "%s; %s, ABI %lld, licence %s", get_string(plugin, "summary"), get_string(plugin, "kind"),
                 get_integer(plugin, "abi"), get_string(plugin, "licence"));
    if (line.length)
        page_text(page, 2, "", good ? STYLE_PLAIN : STYLE_WARN, buf_text(&line));
    size_t i;
    const json_t *probe;
    if (good)
        json_array_foreach(get_list(plugin, "probes"), i, probe) add_probe(page, probe, detail);
    buf_free(&line);
}

dtkb_status render_text_plugins(const json_t *document, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    const json_t *list = get_list(document, "plugins"), *plugin;
    size_t i;
    json_array_foreach(list, i, plugin) add_plugin(&page, plugin, json_array_size(list) == 1);
    if (!i)
        page_text(&page, 0, "", STYLE_PLAIN, "No plugin was found.");
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

dtkb_status render_text_plugin_check(const json_t *document, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    struct buf line = {0};
    size_t i;
    const json_t *clause;
    json_array_foreach(get_list(document, "clauses"), i, clause)
    {
        const char *result = get_string(clause, "result"), *reason = get_string(clause, "reason");
        enum style style = !strcmp(result, "pass") ? STYLE_GOOD : !strcmp(result, "fail") ? STYLE_BAD : STYLE_WARN;
        buf_clear(&line);
        buf_addf(&line, "%-10s %-12s %s", result, get_string(clause, "id"), get_string(clause, "title"));
        page_line(&page, 0, style, buf_text(&line));
        if (*reason)
            page_text(&page, 11, "", STYLE_PLAIN, reason);
    }
    buf_clear(&line);
    buf_addf(&line, "%s %s the contract.", get_string(document, "file"),
             strcmp(get_string(document, "verdict"), "fault") ? "keeps" : "breaks");
    page_blank(&page);
    page_text(&page, 0, "", STYLE_BOLD, buf_text(&line));
    buf_free(&line);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

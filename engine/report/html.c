/* The report as one HTML page: no script, no network, light and dark. */
#include <string.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/markup.h"
#include "report/html_style.h"
#include "report/timeline.h"

static void add_tagged(struct buf *out, const char *tag, const char *class, const char *text)
{
    buf_addf(out, "<%s class=\"%s\">", tag, class);
    add_escaped(out, text);
    buf_addf(out, "</%s>\n", tag);
}

static void add_evidence(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *evidence;
    buf_adds(out, "<ol class=\"evidence\">\n");
    json_array_foreach(list, i, evidence)
    {
        const json_t *fact = json_object_get(evidence, "fact"), *rank = json_object_get(evidence, "rank");
        struct buf line = {0};
        buf_addf(out, "<li class=\"%s\">", fact ? get_string(evidence, "effect") : get_string(evidence, "role"));
        if (fact) {
            buf_addf(&line, "%s: %s = ", get_string(evidence, "effect"), get_string(fact, "name"));
            add_scalar(&line, json_object_get(fact, "value"));
            buf_addf(&line, " %s", get_string(fact, "unit"));
            add_tagged(out, "span", "place", buf_text(&line));
        } else {
            buf_addf(&line, "%s:%lld", get_string(evidence, "file"), get_integer(evidence, "line"));
            if (json_is_integer(rank))
                buf_addf(&line, " · rank %lld", (long long)json_integer_value(rank));
            if (get_integer(evidence, "count") > 1)
                buf_addf(&line, " · %lld times", get_integer(evidence, "count"));
            add_tagged(out, "span", "place", buf_text(&line));
            add_tagged(out, "pre", "line", get_string(evidence, "text"));
        }
        buf_adds(out, "</li>\n");
        buf_free(&line);
    }
    buf_adds(out, "</ol>\n");
}

static void add_remedies(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *remedy;
    buf_adds(out, "<ol class=\"remedies\">\n");
    json_array_foreach(list, i, remedy)
    {
        buf_adds(out, "<li>");
        add_tagged(out, "p", "do", get_string(remedy, "text"));
        if (*get_string(remedy, "command"))
            add_tagged(out, "pre", "command", get_string(remedy, "command"));
        if (*get_string(remedy, "check"))
            add_tagged(out, "p", "check", get_string(remedy, "check"));
        buf_adds(out, "</li>\n");
    }
    buf_adds(out, "</ol>\n");
}

static void add_best(struct buf *out, const json_t *report)
{
    const json_t *cause = best_cause(report), *evidence = cause ? get_list(cause, "evidence") : get_list(report, "evidence");
    if (json_array_size(evidence)) {
        buf_adds(out, "<section><h2>Why</h2>\n");
        add_evidence(out, evidence);
        if (cause)
            add_tagged(out, "p", "explanation", get_string(cause, "explanation"));
        buf_adds(out, "</section>\n");
    }
    if (cause) {
        buf_adds(out, "<section><h2>What to do</h2>\n");
        add_remedies(out, get_list(cause, "remedies"));
        buf_adds(out, "</section>\n");
    }
}

static void add_other_causes(struct buf *out, const json_t *causes)
{
    size_t i;
    const json_t *cause;
    if (json_array_size(causes) < 2)
        return;
    buf_adds(out, "<section><h2>Could also be</h2>\n");
    json_array_foreach(causes, i, cause)
    {
        if (i == 0)
            continue;
        buf_addf(out, "<details><summary><meter value=\"%.2f\"></meter> ", get_number(cause, "confidence"));
        add_escaped(out, get_string(cause, "title"));
        buf_addf(out, " (%.0f %%)</summary>\n", get_number(cause, "confidence") * 100);
        add_tagged(out, "p", "explanation", get_string(cause, "explanation"));
        add_evidence(out, get_list(cause, "evidence"));
        add_remedies(out, get_list(cause, "remedies"));
        buf_adds(out, "</details>\n");
    }
    buf_adds(out, "</section>\n");
}

/* Only web links become links: a knowledge pack must not smuggle in another scheme. */
static void add_link(struct buf *out, const char *url, const char *text)
{
    if (strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0) {
        add_escaped(out, text);
        return;
    }
    buf_adds(out, "<a rel=\"noreferrer\" href=\"");
    add_escaped(out, url);
    buf_adds(out, "\">");
    add_escaped(out, text);
    buf_adds(out, "</a>");
}

static void add_similar(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *issue;
    if (!json_array_size(list))
        return;
    buf_adds(out, "<section><h2>Who had it before</h2>\n<ul class=\"similar\">\n");
    json_array_foreach(list, i, issue)
    {
        const char *title = get_string(issue, "title");
        buf_adds(out, "<li>");
        add_link(out, get_string(issue, "url"), *title ? title : get_string(issue, "id"));
        if (get_flag(issue, "older_than_here"))
            buf_adds(out, " <em>older versions than here</em>");
        if (*get_string(issue, "fix"))
            add_tagged(out, "p", "fix", get_string(issue, "fix"));
        buf_adds(out, "</li>\n");
    }
    buf_adds(out, "</ul></section>\n");
}

static void add_facts(struct buf *out, const json_t *report)
{
    size_t i;
    const json_t *probe, *fact;
    const json_t *probes = get_list(report, "probes"), *facts = get_list(report, "facts");
    if (!json_array_size(probes) && !json_array_size(facts))
        return;
    buf_adds(out, "<section><h2>The machine</h2>\n<table><tr><th>probe</th><th>status</th><th>reason</th></tr>\n");
    json_array_foreach(probes, i, probe)
    {
        buf_addf(out, "<tr class=\"%s\">", get_string(probe, "status"));
        add_tagged(out, "td", "name", get_string(probe, "name"));
        add_tagged(out, "td", "status", get_string(probe, "status"));
        add_tagged(out, "td", "reason", get_string(probe, "reason"));
        buf_adds(out, "</tr>\n");
    }
    buf_addf(out, "</table>\n<details><summary>%zu facts</summary><table>\n", json_array_size(facts));
    json_array_foreach(facts, i, fact)
    {
        struct buf value = {0};
        add_scalar(&value, json_object_get(fact, "value"));
        buf_adds(out, "<tr>");
        add_tagged(out, "td", "name", get_string(fact, "name"));
        add_tagged(out, "td", "value", buf_text(&value));
        add_tagged(out, "td", "unit", get_string(fact, "unit"));
        buf_adds(out, "</tr>\n");
        buf_free(&value);
    }
    buf_adds(out, "</table></details></section>\n");
}

dtkb_status render_html(const json_t *report, const struct render_options *options, struct buf *out)
{
    (void)options;
    const json_t *symptom = json_array_get(get_list(report, "symptoms"), 0), *rank = json_object_get(report, "first_failing_rank");
    struct buf headline = {0};
    add_headline(&headline, report);
    buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>");
    add_escaped(out, buf_text(&headline));
    buf_addf(out, "</title>\n<style>%s</style></head>\n<body><header class=\"%s\">", html_style, get_string(report, "verdict"));
    add_tagged(out, "h1", "headline", buf_text(&headline));
    buf_free(&headline);
    if (symptom)
        add_tagged(out, "p", "symptom", get_string(symptom, "id"));
    if (json_is_integer(rank))
        buf_addf(out, "<p class=\"rank\">began on rank %lld</p>", (long long)json_integer_value(rank));
    buf_adds(out, "</header>\n<main>\n");
    add_best(out, report);
    add_timeline(out, report);
    add_other_causes(out, get_list(report, "causes"));
    add_similar(out, get_list(report, "similar"));
    add_facts(out, report);
    buf_adds(out, "</main></body></html>\n");
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

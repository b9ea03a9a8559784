/* The report as one HTML page: no script, no network, light and dark. */
#include <string.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/html_parts.h"
#include "report/html_style.h"
#include "report/markup.h"
#include "report/phrases.h"
#include "report/timeline.h"

void add_tagged(struct buf *out, const char *tag, const char *class, const char *text)
{
    buf_addf(out, "<%s class=\"%s\">", tag, class);
    add_escaped(out, text);
    buf_addf(out, "</%s>\n", tag);
}

/* How sure, as a small bar with its number. */
static void add_gauge(struct buf *out, double confidence)
{
    double percent = confidence > 0 && confidence <= 1 ? confidence * 100 : 0;
    buf_addf(out, "<span class=\"gauge\"><i style=\"width:%.0f%%\"></i></span> %.0f %%", percent, percent);
}

static void add_fact(struct buf *out, const json_t *evidence, const json_t *fact)
{
    const char *effect = get_string(evidence, "effect");
    struct buf line = {0};
    buf_addf(&line, "%s = ", get_string(fact, "name"));
    add_scalar(&line, json_object_get(fact, "value"));
    buf_addf(&line, " %s", get_string(fact, "unit"));
    buf_adds(out, "<li><p class=\"place\">");
    add_tagged(out, "b", !strcmp(effect, "confirms") ? "bad" : "dim", effect);
    buf_adds(out, "this machine</p>\n");
    add_tagged(out, "pre", "line", buf_text(&line));
    buf_adds(out, "</li>\n");
    buf_free(&line);
}

static void add_log_line(struct buf *out, const json_t *evidence)
{
    const json_t *rank = json_object_get(evidence, "rank"), *source = json_object_get(evidence, "source");
    const char *role = get_string(evidence, "role");
    bool began = !strcmp(role, "initiating"), follows = !strcmp(role, "cascade") || !strcmp(role, "teardown");
    struct buf place = {0};
    buf_addf(out, "<li%s><p class=\"place\">", follows ? " class=\"follows\"" : "");
    if (began || follows)
        add_tagged(out, "b", began ? "bad" : "warn", began ? "began here" : "follows from it");
    add_place(&place, evidence);
    if (json_is_integer(rank))
        buf_addf(&place, " · rank %lld", (long long)json_integer_value(rank));
    if (get_integer(evidence, "count") > 1)
        buf_addf(&place, " · %lld times", get_integer(evidence, "count"));
    if (source)
        buf_addf(&place, " · code %s:%lld", get_string(source, "file"), get_integer(source, "line"));
    add_escaped(out, buf_text(&place));
    buf_adds(out, "</p>\n");
    add_tagged(out, "pre", "line", get_string(evidence, "text"));
    buf_adds(out, "</li>\n");
    buf_free(&place);
}

static void add_evidence(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *evidence;
    if (!json_array_size(list))
        return;
    buf_adds(out, "<ul class=\"plain\">\n");
    json_array_foreach(list, i, evidence)
    {
        const json_t *fact = json_object_get(evidence, "fact");
        if (fact)
            add_fact(out, evidence, fact);
        else
            add_log_line(out, evidence);
    }
    buf_adds(out, "</ul>\n");
}

static void add_remedies(struct buf *out, const json_t *list)
{
    size_t i;
    const json_t *remedy;
    if (!json_array_size(list))
        return;
    buf_adds(out, "<ol class=\"remedies\">\n");
    json_array_foreach(list, i, remedy)
    {
        buf_adds(out, "<li>");
        add_tagged(out, "p", "do", get_string(remedy, "text"));
        if (*get_string(remedy, "command"))
            add_tagged(out, "pre", "command", get_string(remedy, "command"));
        if (*get_string(remedy, "check"))
            add_tagged(out, "p", "dim check", get_string(remedy, "check"));
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
        buf_adds(out, "<details><summary>");
        add_escaped(out, get_string(cause, "title"));
        buf_adds(out, " <span class=\"dim\">");
        add_gauge(out, get_number(cause, "confidence"));
        buf_adds(out, "</span></summary>\n");
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
    struct buf about = {0};
    if (!json_array_size(list))
        return;
    buf_adds(out, "<section><h2>Who had it before</h2>\n<ul class=\"plain\">\n");
    json_array_foreach(list, i, issue)
    {
        const char *title = get_string(issue, "title");
        buf_clear(&about);
        add_versions(&about, get_list(issue, "versions"));
        buf_adds(out, "<li><p class=\"do\">");
        add_link(out, get_string(issue, "url"), *title ? title : get_string(issue, "id"));
        buf_adds(out, "</p>\n");
        if (get_flag(issue, "older_than_here"))
            add_tagged(out, "p", "warn", "older versions than here: it may be fixed since");
        if (about.length)
            add_tagged(out, "p", "dim", buf_text(&about));
        if (*get_string(issue, "fix"))
            add_tagged(out, "p", "dim", get_string(issue, "fix"));
        buf_adds(out, "</li>\n");
    }
    buf_adds(out, "</ul></section>\n");
    buf_free(&about);
}

static void add_inputs(struct buf *out, const json_t *inputs)
{
    enum { NAMED = 3 };
    size_t i;
    const json_t *input;
    struct buf line = {0};
    json_array_foreach(inputs, i, input)
    {
        if (i < NAMED)
            buf_addf(&line, "%s%s, %lld lines", i ? " · " : "", get_string(input, "name"), get_integer(input, "lines"));
    }
    if (i > NAMED)
        buf_addf(&line, " · and %zu more", i - NAMED);
    if (line.length)
        add_tagged(out, "p", "dim", buf_text(&line));
    buf_free(&line);
}

/* The verdict in large, what kind of trouble and where it began below it. */
static void add_header(struct buf *out, const json_t *report, const char *headline, bool healthy)
{
    const json_t *symptom = json_array_get(get_list(report, "symptoms"), 0), *rank = json_object_get(report, "first_failing_rank"),
                 *cause = healthy ? NULL : best_cause(report);
    bool fault = cause || !strcmp(get_string(report, "verdict"), "fault");
    struct buf hint = {0};
    buf_addf(out, "<header class=\"%s\">\n", healthy ? "good" : fault ? "bad" : "warn");
    add_tagged(out, "h1", "headline", cause ? get_string(cause, "title") : headline);
    buf_adds(out, "<p class=\"chips\">");
    if (cause) {
        buf_addf(out, "<span>%s ", sureness(get_number(cause, "confidence")));
        add_gauge(out, get_number(cause, "confidence"));
        buf_adds(out, "</span>\n");
    }
    if (symptom && !healthy)
        add_tagged(out, "span", "symptom", get_string(symptom, "id"));
    if (json_is_integer(rank))
        buf_addf(out, "<span>began on rank %lld</span>", (long long)json_integer_value(rank));
    buf_adds(out, "</p>\n");
    if (symptom && healthy) {
        add_silent_hint(&hint, symptom);
        add_tagged(out, "p", "dim", buf_text(&hint));
    }
    buf_free(&hint);
    add_inputs(out, get_list(report, "input"));
    buf_adds(out, "</header>\n");
}

dtkb_status render_html(const json_t *report, const struct render_options *options, struct buf *out)
{
    (void)options;
    bool healthy = !strcmp(get_string(report, "verdict"), "no-fault");
    struct buf headline = {0};
    add_headline(&headline, report);
    buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>");
    add_escaped(out, buf_text(&headline));
    buf_addf(out, "</title>\n<style>%s%s</style></head>\n<body>\n", html_style, html_style_narrow);
    add_header(out, report, buf_text(&headline), healthy);
    buf_free(&headline);
    buf_adds(out, "<main>\n");
    add_best(out, report);
    add_timeline(out, report);
    add_merged(out, report);
    add_other_causes(out, get_list(report, "causes"));
    add_trials(out, report);
    if (!healthy)
        add_similar(out, get_list(report, "similar"));
    add_next(out, report);
    add_machine(out, report);
    buf_adds(out, "</main>\n<footer>dtkb " DTKB_VERSION "</footer></body></html>\n");
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

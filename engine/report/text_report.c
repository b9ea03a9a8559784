/* The report as text: the verdict first, then why, what to do, who had it before. */
#include <stdio.h>
#include <string.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/page.h"
#include "report/phrases.h"

static void write_verdict(struct page *page, const json_t *report)
{
    const json_t *cause = best_cause(report), *symptom = json_array_get(get_list(report, "symptoms"), 0),
                 *rank = json_object_get(report, "first_failing_rank");
    const char *verdict = get_string(report, "verdict");
    struct buf line = {0};
    add_headline(&line, report);
    page_text(page, 0, "",
              !strcmp(verdict, "no-fault")         ? STYLE_GOOD
              : cause || !strcmp(verdict, "fault") ? STYLE_BAD
                                                   : STYLE_WARN,
              buf_text(&line));
    buf_clear(&line);
    if (symptom && !strcmp(verdict, "no-fault"))
        add_silent_hint(&line, symptom);
    else if (symptom)
        buf_addf(&line, "kind of trouble: %s (%.0f %%)", get_string(symptom, "id"), get_number(symptom, "confidence") * 100);
    if (json_is_integer(rank))
        buf_addf(&line, "%sbegan on rank %lld", line.length ? "; " : "", (long long)json_integer_value(rank));
    if (line.length)
        page_text(page, 0, "", STYLE_DIM, buf_text(&line));
    buf_free(&line);
}

static void write_one_evidence(struct page *page, const json_t *evidence, struct buf *line)
{
    const json_t *fact = json_object_get(evidence, "fact"), *rank = json_object_get(evidence, "rank");
    buf_clear(line);
    if (fact) {
        buf_addf(line, "%s: %s = ", get_string(evidence, "effect"), get_string(fact, "name"));
        add_scalar(line, json_object_get(fact, "value"));
        buf_addf(line, " %s", get_string(fact, "unit"));
        page_text(page, 4, "* ", STYLE_PLAIN, buf_text(line));
        return;
    }
    add_place(line, evidence);
    if (json_is_integer(rank))
        buf_addf(line, "  rank %lld", (long long)json_integer_value(rank));
    if (!strcmp(get_string(evidence, "role"), "cascade"))
        buf_adds(line, "  (follows from it)");
    if (get_integer(evidence, "count") > 1)
        buf_addf(line, "  %lld times", get_integer(evidence, "count"));
    page_line(page, 2, STYLE_DIM, buf_text(line));
    page_text(page, 4, "", STYLE_PLAIN, get_string(evidence, "text"));
}

static void write_evidence(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *evidence;
    struct buf line = {0};
    json_array_foreach(list, i, evidence) write_one_evidence(page, evidence, &line);
    buf_free(&line);
}

static void write_other_causes(struct page *page, const json_t *causes)
{
    size_t i;
    const json_t *cause;
    if (json_array_size(causes) < 2)
        return;
    page_heading(page, "Could also be");
    json_array_foreach(causes, i, cause)
    {
        char line[512];
        if (i == 0)
            continue;
        (void)snprintf(line, sizeof line, "%3.0f %%  %s  [%s]", get_number(cause, "confidence") * 100, get_string(cause, "title"),
                       get_string(cause, "id"));
        page_text(page, 9, "", STYLE_PLAIN, line);
    }
}

static void write_similar(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *issue;
    struct buf line = {0};
    if (json_array_size(list))
        page_heading(page, "Who had it before");
    json_array_foreach(list, i, issue)
    {
        const char *title = get_string(issue, "title");
        buf_clear(&line);
        buf_adds(&line, *title ? title : "(nobody has read this thread yet: labels only)");
        if (get_integer(issue, "year"))
            buf_addf(&line, "  (%lld)", get_integer(issue, "year"));
        if (json_array_size(get_list(issue, "versions"))) {
            buf_adds(&line, "  [");
            add_versions(&line, get_list(issue, "versions"));
            buf_addc(&line, ']');
        }
        page_text(page, 4, "- ", STYLE_PLAIN, buf_text(&line));
        if (get_flag(issue, "older_than_here"))
            page_text(page, 4, "", STYLE_WARN, "older versions than here: it may be fixed since");
        page_line(page, 4, STYLE_LINK, get_string(issue, "url"));
        if (*get_string(issue, "fix"))
            page_text(page, 4, "", STYLE_DIM, get_string(issue, "fix"));
    }
    buf_free(&line);
}

static void write_next(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *step;
    if (!json_array_size(list))
        return;
    page_heading(page, "To be surer");
    json_array_foreach(list, i, step)
    {
        char line[768];
        (void)snprintf(line, sizeof line, "%s: %s", get_string(step, "text"), get_string(step, "why"));
        page_text(page, 4, "- ", STYLE_PLAIN, line);
        if (*get_string(step, "command"))
            page_code(page, 6, get_string(step, "command"));
    }
}

/* One side of a trial: "fault (0.31 s): reason". */
static void write_outcome(struct page *page, const char *bullet, const json_t *outcome, enum style style)
{
    struct buf line = {0};
    buf_addf(&line, "%s (%.2f s)", get_string(outcome, "status"), get_number(outcome, "seconds"));
    if (*get_string(outcome, "reason"))
        buf_addf(&line, ": %s", get_string(outcome, "reason"));
    page_text(page, 13, bullet, style, buf_text(&line));
    buf_free(&line);
}

static void write_trials(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *trial;
    struct buf line = {0};
    if (!json_array_size(list))
        return;
    page_heading(page, "Tried on this machine");
    json_array_foreach(list, i, trial)
    {
        buf_clear(&line);
        add_trial(&line, trial);
        page_text(page, 4, "* ", get_flag(trial, "works") ? STYLE_GOOD : STYLE_PLAIN, buf_text(&line));
        write_outcome(page, "without: ", json_object_get(trial, "before"), STYLE_DIM);
        write_outcome(page, "with:    ", json_object_get(trial, "after"), STYLE_DIM);
    }
    buf_free(&line);
}

static void write_joined(struct page *page, const json_t *joined)
{
    struct buf line = {0};
    if (!joined)
        return;
    page_heading(page, "Ranks");
    for (size_t i = 0; add_joined(&line, joined, i); i++) {
        if (line.length)
            page_text(page, 4, "* ", i ? STYLE_BAD : STYLE_PLAIN, buf_text(&line));
        buf_clear(&line);
    }
    buf_free(&line);
}

static void write_differences(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *difference;
    struct buf line = {0};
    if (!json_array_size(list))
        return;
    page_heading(page, "Not alike");
    json_array_foreach(list, i, difference)
    {
        buf_clear(&line);
        add_difference(&line, difference);
        page_text(page, 4, "* ", STYLE_WARN, buf_text(&line));
    }
    buf_free(&line);
}

static void write_probes(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *probe;
    if (!json_array_size(list))
        return;
    page_heading(page, "Probes");
    json_array_foreach(list, i, probe)
    {
        char line[768];
        const char *status = get_string(probe, "status");
        enum style style = !strcmp(status, "ok")                                          ? STYLE_GOOD
                           : !strcmp(status, "skipped") || !strcmp(status, "unavailable") ? STYLE_DIM
                                                                                          : STYLE_BAD;
        (void)snprintf(line, sizeof line, "%-14s %-12s %6.3f s  %s", get_string(probe, "name"), status, get_number(probe, "seconds"),
                       get_string(probe, "reason"));
        page_line(page, 2, style, line);
    }
}

static void write_explained(struct page *page, const json_t *causes)
{
    size_t i;
    const json_t *cause;
    bool headed = false;
    json_array_foreach(causes, i, cause)
    {
        const char *term;
        json_t *value, *score = json_object_get(cause, "score");
        char line[512];
        size_t used;
        if (!score)
            continue;
        if (!headed)
            page_heading(page, "Scores");
        headed = true;
        used = (size_t)snprintf(line, sizeof line, "%s:", get_string(cause, "id"));
        json_object_foreach(score, term, value) if (used < sizeof line) used +=
            (size_t)snprintf(line + used, sizeof line - used, " %s %+.2f", term, json_number_value(value));
        page_text(page, 4, "", STYLE_PLAIN, line);
    }
}

dtkb_status render_text_report(const json_t *report, const struct render_options *options, struct buf *out)
{
    struct page page = page_begin(out, options);
    const json_t *causes = json_object_get(report, "causes"), *first = json_array_get(causes, 0);
    write_verdict(&page, report);
    const json_t *evidence = first ? json_object_get(first, "evidence") : json_object_get(report, "evidence");
    if (json_array_size(evidence)) {
        page_heading(&page, "Why");
        write_evidence(&page, evidence);
    }
    if (first) {
        page_blank(&page);
        page_text(&page, 2, "", STYLE_PLAIN, get_string(first, "explanation"));
        page_heading(&page, "What to do");
        page_remedies(&page, json_object_get(first, "remedies"));
    }
    write_other_causes(&page, causes);
    if (strcmp(get_string(report, "verdict"), "no-fault") != 0)
        write_similar(&page, json_object_get(report, "similar"));
    write_next(&page, json_object_get(report, "next"));
    write_trials(&page, json_object_get(report, "trials"));
    write_joined(&page, json_object_get(report, "joined"));
    write_differences(&page, json_object_get(report, "differences"));
    write_probes(&page, json_object_get(report, "probes"));
    write_explained(&page, causes);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

/* The report as text: the verdict first, then why, what to do, who had it before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats.h"
#include "report/page.h"

static const char *string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *sureness(double confidence)
{
    return confidence >= 0.9 ? "almost certainly" : confidence >= 0.7 ? "very likely" : confidence >= 0.45 ? "probably" : "possibly";
}

static void write_verdict(struct page *page, const json_t *report)
{
    const char *verdict = string(report, "verdict");
    const json_t *cause = json_array_get(json_object_get(report, "causes"), 0),
                 *symptom = json_array_get(json_object_get(report, "symptoms"), 0);
    char line[1024];
    if (!strcmp(verdict, "no-fault")) {
        page_text(page, 0, "", STYLE_GOOD, "No fault found.");
        return;
    }
    if (cause) {
        double confidence = number(cause, "confidence");
        (void)snprintf(line, sizeof line, "%s: %s (%.0f %%)", sureness(confidence), string(cause, "title"), confidence * 100);
        line[0] = (char)(line[0] - ('a' - 'A'));
        page_text(page, 0, "", STYLE_BAD, line);
    } else if (!strcmp(verdict, "fault")) {
        page_text(page, 0, "", STYLE_BAD, "A fault, but no cause in the knowledge base explains it.");
    } else {
        page_text(page, 0, "", STYLE_WARN, "No confident match: something looks like an error, but nothing known explains it.");
    }
    const json_t *rank = json_object_get(report, "first_failing_rank");
    size_t used = 0;
    line[0] = '\0';
    if (symptom)
        used = (size_t)snprintf(line, sizeof line, "kind of trouble: %s (%.0f %%)", string(symptom, "id"),
                                number(symptom, "confidence") * 100);
    if (json_is_integer(rank) && used < sizeof line)
        (void)snprintf(line + used, sizeof line - used, "%sbegan on rank %d", used ? "; " : "", (int)json_integer_value(rank));
    if (*line)
        page_text(page, 0, "", STYLE_DIM, line);
}

static void write_evidence(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *evidence;
    json_array_foreach(list, i, evidence)
    {
        char place[512];
        const json_t *fact = json_object_get(evidence, "fact"), *rank = json_object_get(evidence, "rank");
        if (fact) {
            char *value = json_dumps(json_object_get(fact, "value"), JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
            (void)snprintf(place, sizeof place, "%s %s = %s %s", string(evidence, "effect"), string(fact, "name"), value ? value : "?",
                           string(fact, "unit"));
            free(value);
            page_text(page, 4, "* ", STYLE_PLAIN, place);
            continue;
        }
        int used = snprintf(place, sizeof place, "%s:%lld", string(evidence, "file"),
                            (long long)json_integer_value(json_object_get(evidence, "line")));
        if (json_is_integer(rank) && used > 0 && (size_t)used < sizeof place)
            used += snprintf(place + used, sizeof place - (size_t)used, "  rank %d", (int)json_integer_value(rank));
        if (!strcmp(string(evidence, "role"), "cascade") && used > 0 && (size_t)used < sizeof place)
            used += snprintf(place + used, sizeof place - (size_t)used, "  (follows from it)");
        json_int_t count = json_integer_value(json_object_get(evidence, "count"));
        if (count > 1 && used > 0 && (size_t)used < sizeof place)
            (void)snprintf(place + used, sizeof place - (size_t)used, "  %lld times", (long long)count);
        page_line(page, 2, STYLE_DIM, place);
        page_text(page, 4, "", STYLE_PLAIN, string(evidence, "text"));
    }
}

static void write_remedies(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *remedy;
    json_array_foreach(list, i, remedy)
    {
        char bullet[24];
        (void)snprintf(bullet, sizeof bullet, "%zu. ", i + 1);
        page_text(page, 5, bullet, STYLE_PLAIN, string(remedy, "text"));
        if (*string(remedy, "command"))
            page_code(page, 7, string(remedy, "command"));
        if (*string(remedy, "check"))
            page_text(page, 7, "", STYLE_DIM, string(remedy, "check"));
    }
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
        (void)snprintf(line, sizeof line, "%3.0f %%  %s  [%s]", number(cause, "confidence") * 100, string(cause, "title"),
                       string(cause, "id"));
        page_text(page, 9, "", STYLE_PLAIN, line);
    }
}

static void write_similar(struct page *page, const json_t *list)
{
    size_t i;
    const json_t *issue;
    if (!json_array_size(list))
        return;
    page_heading(page, "Who had it before");
    json_array_foreach(list, i, issue)
    {
        char line[768];
        const char *title = string(issue, "title");
        bool old = json_is_true(json_object_get(issue, "older_than_here"));
        (void)snprintf(line, sizeof line, "%s%s", *title ? title : "(nobody has read this thread yet: labels only)",
                       old ? "  [older versions than here]" : "");
        page_text(page, 4, "- ", STYLE_PLAIN, line);
        page_line(page, 4, STYLE_LINK, string(issue, "url"));
        if (*string(issue, "fix"))
            page_text(page, 4, "", STYLE_DIM, string(issue, "fix"));
    }
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
        (void)snprintf(line, sizeof line, "%s: %s", string(step, "text"), string(step, "why"));
        page_text(page, 4, "- ", STYLE_PLAIN, line);
        if (*string(step, "command"))
            page_code(page, 6, string(step, "command"));
    }
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
        const char *status = string(probe, "status");
        enum style style = !strcmp(status, "ok")                                          ? STYLE_GOOD
                           : !strcmp(status, "skipped") || !strcmp(status, "unavailable") ? STYLE_DIM
                                                                                          : STYLE_BAD;
        (void)snprintf(line, sizeof line, "%-14s %-12s %6.3f s  %s", string(probe, "name"), status, number(probe, "seconds"),
                       string(probe, "reason"));
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
        used = (size_t)snprintf(line, sizeof line, "%s:", string(cause, "id"));
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
        page_text(&page, 2, "", STYLE_PLAIN, string(first, "explanation"));
        page_heading(&page, "What to do");
        write_remedies(&page, json_object_get(first, "remedies"));
    }
    write_other_causes(&page, causes);
    write_similar(&page, json_object_get(report, "similar"));
    write_next(&page, json_object_get(report, "next"));
    write_probes(&page, json_object_get(report, "probes"));
    write_explained(&page, causes);
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

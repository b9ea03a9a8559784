#include <string.h>

#include "report/access.h"
#include "report/html_parts.h"
#include "report/phrases.h"

void add_next(struct buf *out, const json_t *report)
{
    size_t i;
    const json_t *step, *list = get_list(report, "next");
    if (!json_array_size(list))
        return;
    buf_adds(out, "<section><h2>To be surer</h2>\n<ul class=\"plain\">\n");
    json_array_foreach(list, i, step)
    {
        buf_adds(out, "<li>");
        add_tagged(out, "p", "do", get_string(step, "text"));
        add_tagged(out, "p", "dim", get_string(step, "why"));
        if (*get_string(step, "command"))
            add_tagged(out, "pre", "command", get_string(step, "command"));
        buf_adds(out, "</li>\n");
    }
    buf_adds(out, "</ul></section>\n");
}

/* One side of a trial. */
static void add_outcome(struct buf *out, const char *label, const json_t *outcome)
{
    struct buf line = {0};
    buf_addf(&line, "%s: %s (%.2f s) %s", label, get_string(outcome, "status"), get_number(outcome, "seconds"),
             get_string(outcome, "reason"));
    add_tagged(out, "p", "dim", buf_text(&line));
    buf_free(&line);
}

void add_trials(struct buf *out, const json_t *report)
{
    size_t i;
    const json_t *trial, *list = get_list(report, "trials");
    struct buf line = {0};
    if (!json_array_size(list))
        return;
    buf_adds(out, "<section><h2>Tried on this machine</h2>\n<ul class=\"plain\">\n");
    json_array_foreach(list, i, trial)
    {
        buf_clear(&line);
        add_trial(&line, trial);
        buf_adds(out, "<li>");
        add_tagged(out, "p", get_flag(trial, "works") ? "do good" : "do", buf_text(&line));
        add_outcome(out, "without", json_object_get(trial, "before"));
        add_outcome(out, "with", json_object_get(trial, "after"));
        buf_adds(out, "</li>\n");
    }
    buf_adds(out, "</ul></section>\n");
    buf_free(&line);
}

void add_merged(struct buf *out, const json_t *report)
{
    size_t i;
    const json_t *joined = json_object_get(report, "joined"), *difference, *differences = get_list(report, "differences");
    struct buf line = {0};
    if (!joined && !json_array_size(differences))
        return;
    buf_adds(out, "<section><h2>Reports side by side</h2>\n<ul class=\"plain\">\n");
    for (i = 0; joined && add_joined(&line, joined, i); i++) {
        if (line.length)
            add_tagged(out, "li", i ? "bad" : "do", buf_text(&line));
        buf_clear(&line);
    }
    json_array_foreach(differences, i, difference)
    {
        add_difference(&line, difference);
        add_tagged(out, "li", "warn", buf_text(&line));
        buf_clear(&line);
    }
    buf_adds(out, "</ul></section>\n");
    buf_free(&line);
}

static void add_probe_rows(struct buf *out, const json_t *probes)
{
    size_t i;
    const json_t *probe;
    if (!json_array_size(probes))
        return;
    buf_adds(out, "<table><tr><th>probe</th><th>status</th><th>reason</th></tr>\n");
    json_array_foreach(probes, i, probe)
    {
        const char *status = get_string(probe, "status");
        bool quiet = !strcmp(status, "skipped") || !strcmp(status, "unavailable");
        buf_adds(out, "<tr>");
        add_tagged(out, "td", "name", get_string(probe, "name"));
        add_tagged(out, "td", !strcmp(status, "ok") ? "good" : quiet ? "dim" : "bad", status);
        add_tagged(out, "td", "reason", get_string(probe, "reason"));
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out, "</table>\n");
}

void add_machine(struct buf *out, const json_t *report)
{
    size_t i;
    const json_t *fact, *probes = get_list(report, "probes"), *facts = get_list(report, "facts");
    struct buf value = {0};
    if (!json_array_size(probes) && !json_array_size(facts))
        return;
    buf_adds(out, "<section><h2>The machine</h2>\n");
    add_probe_rows(out, probes);
    if (json_array_size(facts)) {
        buf_addf(out, "<details><summary>%zu facts</summary>\n<table class=\"facts\">\n", json_array_size(facts));
        json_array_foreach(facts, i, fact)
        {
            buf_clear(&value);
            add_scalar(&value, json_object_get(fact, "value"));
            if (*get_string(fact, "unit"))
                buf_addf(&value, " %s", get_string(fact, "unit"));
            buf_adds(out, "<tr>");
            add_tagged(out, "td", "name", get_string(fact, "name"));
            add_tagged(out, "td", "value", buf_text(&value));
            buf_adds(out, "</tr>\n");
        }
        buf_adds(out, "</table></details>\n");
    }
    buf_adds(out, "</section>\n");
    buf_free(&value);
}

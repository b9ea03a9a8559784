/* JUnit XML: the job is one test case, each probe another. */
#include <string.h>

#include "report/access.h"
#include "report/formats.h"
#include "report/markup.h"

static void add_attribute(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, " %s=\"", name);
    add_escaped(out, value);
    buf_addc(out, '"');
}

static void add_job(struct buf *out, const json_t *report, bool failed)
{
    const json_t *cause = best_cause(report), *symptom = json_array_get(get_list(report, "symptoms"), 0), *entry;
    size_t i;
    buf_adds(out, "    <testcase classname=\"dtkb\" name=\"training job\"");
    if (!failed) {
        buf_adds(out, "/>\n");
        return;
    }
    struct buf headline = {0};
    add_headline(&headline, report);
    buf_adds(out, ">\n      <failure");
    add_attribute(out, "message", buf_text(&headline));
    add_attribute(out, "type", symptom ? get_string(symptom, "id") : "unknown");
    buf_adds(out, ">");
    buf_free(&headline);
    json_array_foreach(cause ? get_list(cause, "evidence") : get_list(report, "evidence"), i, entry)
    {
        if (!*get_string(entry, "file"))
            continue;
        add_escaped(out, get_string(entry, "file"));
        buf_addf(out, ":%lld: ", get_integer(entry, "line"));
        add_escaped(out, get_string(entry, "text"));
        buf_addc(out, '\n');
    }
    add_escaped(out, get_string(cause, "explanation"));
    buf_addc(out, '\n');
    json_array_foreach(get_list(cause, "remedies"), i, entry)
    {
        buf_addf(out, "%zu. ", i + 1);
        add_escaped(out, get_string(entry, "text"));
        buf_addc(out, '\n');
        add_escaped(out, get_string(entry, "command"));
        buf_addc(out, '\n');
    }
    buf_adds(out, "</failure>\n    </testcase>\n");
}

static void add_probe(struct buf *out, const json_t *probe)
{
    const char *status = get_string(probe, "status");
    bool skipped = !strcmp(status, "skipped") || !strcmp(status, "unavailable");
    buf_adds(out, "    <testcase classname=\"dtkb.probe\"");
    add_attribute(out, "name", get_string(probe, "name"));
    buf_addf(out, " time=\"%.3f\"", get_number(probe, "seconds"));
    if (!strcmp(status, "ok")) {
        buf_adds(out, "/>\n");
        return;
    }
    buf_addf(out, ">\n      <%s", skipped ? "skipped" : "failure");
    add_attribute(out, "message", get_string(probe, "reason"));
    if (!skipped)
        add_attribute(out, "type", status);
    buf_adds(out, "/>\n    </testcase>\n");
}

dtkb_status render_junit(const json_t *report, const struct render_options *options, struct buf *out)
{
    (void)options;
    const json_t *probes = get_list(report, "probes"), *probe;
    bool failed = strcmp(get_string(report, "verdict"), "no-fault") != 0;
    size_t i, failures = failed, skipped = 0;
    json_array_foreach(probes, i, probe)
    {
        const char *status = get_string(probe, "status");
        if (!strcmp(status, "skipped") || !strcmp(status, "unavailable"))
            skipped++;
        else if (strcmp(status, "ok") != 0)
            failures++;
    }
    buf_addf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"dtkb\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
        "skipped=\"%zu\">\n",
        json_array_size(probes) + 1, failures, skipped);
    add_job(out, report, failed);
    json_array_foreach(probes, i, probe) add_probe(out, probe);
    buf_adds(out, "  </testsuite>\n</testsuites>\n");
    return out->failed ? DTKB_E_NOMEM : DTKB_OK;
}

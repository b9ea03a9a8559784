/* Probes for a diagnosis: which to run, and what becomes of their facts and evidence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/diagnosis.h"
#include "api/trials.h"

/* Splits "a,b" into names; "all" and NULL give none, which stands for every passive probe. */
static const char **split_names(struct arena *arena, const char *names, size_t *count)
{
    *count = 0;
    if (!names || !strcmp(names, "all"))
        return arena_alloc(arena, sizeof(char *));
    const char **list = arena_alloc(arena, (strlen(names) + 1) * sizeof *list);
    char *copy = arena_strdup(arena, names), *part;
    while (list && copy && (part = strsep(&copy, ",")))
        if (*part)
            list[(*count)++] = part;
    return list;
}

/* What a probe's own tools printed (NCCL's INFO lines) is evidence like any log. */
static dtkb_status feed_evidence(struct dtkb_diagnosis *diagnosis, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; status == DTKB_OK && i < diagnosis->probes.count; i++) {
        const struct probe_result *result = &diagnosis->probes.results[i];
        char name[128];
        if (!result->evidence || !*result->evidence)
            continue;
        (void)snprintf(name, sizeof name, "probe:%s", result->name);
        status = scan_feed(diagnosis->scan, name, result->evidence, strlen(result->evidence), err);
    }
    return status;
}

/* How each probe went, and what it had to say, line by line. */
static void log_results(const struct dtkb_diagnosis *diagnosis)
{
    const dtkb *engine = diagnosis->engine;
    struct buf line = {0};
    for (size_t i = 0; engine->log && i < diagnosis->probes.count; i++) {
        const struct probe_result *result = &diagnosis->probes.results[i];
        buf_clear(&line);
        buf_addf(&line, "probe %s: %s %s", result->name, probe_status_name(result->status), result->reason);
        api_log(engine, result->status == PROBE_OK || result->status == PROBE_SKIPPED ? 1 : 2, buf_text(&line));
        for (const char *text = result->log ? result->log : ""; *text; text += strspn(text, "\n")) {
            buf_clear(&line);
            buf_addf(&line, "probe %s: ", result->name);
            buf_add(&line, text, strcspn(text, "\n"));
            api_log(engine, 0, buf_text(&line));
            text += strcspn(text, "\n");
        }
    }
    buf_free(&line);
}

dtkb_status diagnosis_probe(struct dtkb_diagnosis *diagnosis, const char *names, struct err *err)
{
    struct arena arena = {0};
    size_t count;
    const char **list = split_names(&arena, names, &count);
    if (!list) {
        arena_free(&arena);
        return err_nomem(err);
    }
    const dtkb_diagnose_options *options = &diagnosis->options;
    struct probe_options how = {.plugin_path = options->plugin_path,
                                .params = options->parameters,
                                .timeout = options->probe_timeout,
                                .budget = options->probe_budget,
                                .cancelled = diagnosis_cancelled,
                                .context = diagnosis};
    dtkb_status status = probe_run(diagnosis->engine->kb, list, count, &how, &diagnosis->facts, &diagnosis->probes, err);
    arena_free(&arena);
    if (status != DTKB_OK)
        return status;
    diagnosis->probed = true;
    fact_set_sort(&diagnosis->facts);
    log_results(diagnosis);
    return feed_evidence(diagnosis, err);
}

/* Appends a probe's name to a comma list unless it is in. */
static void add_name(struct buf *names, const char *name)
{
    const char *found = buf_text(names);
    size_t length = strlen(name);
    while ((found = strstr(found, name))) {
        if ((found == buf_text(names) || found[-1] == ',') && (found[length] == ',' || !found[length]))
            return;
        found += length;
    }
    if (names->length)
        buf_addc(names, ',');
    buf_adds(names, name);
}

dtkb_status diagnosis_probe_wanted(struct dtkb_diagnosis *diagnosis, const json_t *report, struct err *err)
{
    if (!diagnosis->fed)
        return diagnosis_probe(diagnosis, "all", err);
    struct buf names = {0};
    size_t i;
    const json_t *step;
    json_array_foreach(json_object_get(report, "next"), i, step)
    {
        const char *fact = json_string_value(json_object_get(step, "fact"));
        const char *probe = fact ? kb_fact_probe(diagnosis->engine->kb, fact) : NULL;
        if (probe)
            add_name(&names, probe);
    }
    dtkb_status status = names.length ? diagnosis_probe(diagnosis, buf_text(&names), err) : DTKB_OK;
    buf_free(&names);
    return status;
}

dtkb_status dtkb_probe(dtkb *engine, const char *names, const dtkb_diagnose_options *options, dtkb_doc **out)
{
    dtkb_diagnosis *diagnosis;
    dtkb_status status = dtkb_diagnosis_new(engine, options, &diagnosis);
    if (status != DTKB_OK)
        return status;
    json_t *report = NULL;
    status = diagnosis_probe(diagnosis, names, api_begin(engine));
    if (status == DTKB_OK)
        status = diagnosis_judge(diagnosis, &report, &engine->err);
    if (status == DTKB_OK && diagnosis->options.try_fixes) {
        status = trials_run(diagnosis, report, &engine->err);
        json_decref(report);
        report = NULL;
        if (status == DTKB_OK)
            status = diagnosis_judge(diagnosis, &report, &engine->err);
    }
    if (status == DTKB_OK)
        status = doc_new(report, out, &engine->err);
    dtkb_diagnosis_free(diagnosis);
    return status;
}

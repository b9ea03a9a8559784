#include "api/diagnosis.h"

#include <stdlib.h>
#include <string.h>

#include "api/rank.h"
#include "api/secrets.h"
#include "api/trials.h"
#include "diagnose/diagnose.h"

int diagnosis_cancelled(void *diagnosis)
{
    return atomic_load(&((struct dtkb_diagnosis *)diagnosis)->cancelled);
}

static void forward_progress(void *context, uint64_t done, uint64_t total)
{
    const struct dtkb_diagnosis *diagnosis = context;
    diagnosis->options.progress(diagnosis->options.progress_context, done, total);
}

/* Copies the options, strings and all, so that the caller's may go. */
static bool copy_options(struct dtkb_diagnosis *diagnosis, const dtkb_diagnose_options *from)
{
    struct arena *arena = &diagnosis->arena;
    dtkb_diagnose_options *to = &diagnosis->options;
    *to = *from;
    to->probes = arena_strdup(arena, from->probes ? from->probes : "none");
    to->plugin_path = arena_strdup(arena, from->plugin_path);
    const char **parameters = arena_alloc(arena, (from->parameter_count + 1) * sizeof *parameters);
    if (!to->probes || (from->plugin_path && !to->plugin_path) || !parameters)
        return false;
    for (size_t i = 0; i < from->parameter_count; i++)
        if (!(parameters[i] = arena_strdup(arena, from->parameters[i])))
            return false;
    to->parameters = parameters;
    return true;
}

dtkb_status dtkb_diagnosis_new(dtkb *engine, const dtkb_diagnose_options *options, dtkb_diagnosis **out)
{
    static const dtkb_diagnose_options defaults = DTKB_DIAGNOSE_OPTIONS_INIT;
    struct err *err = api_begin(engine);
    const struct scan_db *db;
    if (!options)
        options = &defaults;
    if (options->struct_size != sizeof *options)
        return err_set(err, DTKB_E_USAGE,
                       "dtkb_diagnosis_new: options of %zu bytes, this library knows %zu: begin with DTKB_DIAGNOSE_OPTIONS_INIT",
                       options->struct_size, sizeof *options);
    struct dtkb_diagnosis *diagnosis = calloc(1, sizeof *diagnosis);
    if (!diagnosis || !copy_options(diagnosis, options)) {
        dtkb_diagnosis_free(diagnosis);
        return err_nomem(err);
    }
    diagnosis->engine = engine;
    struct scan_options scan = {.threads = options->threads,
                                .cancelled = diagnosis_cancelled,
                                .progress = options->progress ? forward_progress : NULL,
                                .context = diagnosis};
    dtkb_status status = kb_scan_db(engine->kb, &db, err);
    if (status == DTKB_OK)
        status = scan_new(db, &scan, &diagnosis->scan, err);
    if (status != DTKB_OK) {
        dtkb_diagnosis_free(diagnosis);
        return status;
    }
    *out = diagnosis;
    return DTKB_OK;
}

void dtkb_diagnosis_free(dtkb_diagnosis *diagnosis)
{
    if (!diagnosis)
        return;
    scan_free(diagnosis->scan);
    findings_free(&diagnosis->bundle);
    fact_set_free(&diagnosis->facts);
    probe_results_free(&diagnosis->probes);
    arena_free(&diagnosis->trials.arena);
    arena_free(&diagnosis->arena);
    free(diagnosis);
}

void dtkb_diagnosis_cancel(dtkb_diagnosis *diagnosis)
{
    atomic_store(&diagnosis->cancelled, 1);
}

dtkb_status dtkb_feed(dtkb_diagnosis *diagnosis, const char *source, const void *bytes, size_t length)
{
    diagnosis->fed = true;
    return scan_feed(diagnosis->scan, source ? source : "", bytes, length, api_begin(diagnosis->engine));
}

dtkb_status dtkb_feed_path(dtkb_diagnosis *diagnosis, const char *path)
{
    diagnosis->fed = true;
    return scan_path(diagnosis->scan, path, api_begin(diagnosis->engine));
}

dtkb_status dtkb_feed_fd(dtkb_diagnosis *diagnosis, const char *source, int fd)
{
    diagnosis->fed = true;
    return scan_fd(diagnosis->scan, source ? source : "", fd, api_begin(diagnosis->engine));
}

dtkb_status diagnosis_findings(struct dtkb_diagnosis *diagnosis, struct findings *out, struct err *err)
{
    struct findings findings = diagnosis->bundle;
    dtkb_status status = diagnosis->bundled ? DTKB_OK : scan_findings(diagnosis->scan, &findings, err);
    if (status == DTKB_OK)
        status = secrets_remove(&findings, &diagnosis->facts, &diagnosis->probes, err);
    if (diagnosis->bundled)
        diagnosis->bundle = findings; /* its arena may have grown */
    if (status == DTKB_OK)
        *out = findings;
    else
        diagnosis_release(diagnosis, &findings);
    return status;
}

void diagnosis_release(const struct dtkb_diagnosis *diagnosis, struct findings *findings)
{
    if (!diagnosis->bundled)
        findings_free(findings);
}

dtkb_status diagnosis_judge(struct dtkb_diagnosis *diagnosis, json_t **report, struct err *err)
{
    struct findings findings = {0};
    dtkb_status status = diagnosis_findings(diagnosis, &findings, err);
    if (status != DTKB_OK)
        return status;
    if (diagnosis->fed && !diagnosis->bundled && !findings.bytes) {
        status = err_set(err, DTKB_E_FORMAT, "%s is empty: there is nothing to diagnose",
                         findings.file_count ? findings.files[0].name : "the input");
        findings_free(&findings);
        return status;
    }
    struct diagnose_input input = {
        .findings = diagnosis->fed || findings.evidence_count ? &findings : NULL,
        .facts = diagnosis->facts.count ? &diagnosis->facts : NULL,
        .probes = diagnosis->probes.count ? &diagnosis->probes : NULL,
        .trials = &diagnosis->trials,
        .max_causes = diagnosis->options.max_causes,
        .max_similar = diagnosis->options.max_similar,
        .explain_scores = diagnosis->options.explain_scores != 0,
    };
    status = diagnose(diagnosis->engine->kb, &input, report, err);
    if (status == DTKB_OK && diagnosis->probed && !diagnosis->bundled)
        report_add_rank(*report);
    diagnosis_release(diagnosis, &findings);
    return status;
}

/* The steps after the first judgement that look at the machine; each may call for judging again. */
static dtkb_status look_closer(struct dtkb_diagnosis *diagnosis, json_t **report, struct err *err)
{
    bool automatic = !diagnosis->probed && !strcmp(diagnosis->options.probes, "auto"),
         try_fixes = diagnosis->options.try_fixes && !diagnosis->bundled;
    dtkb_status status = automatic ? diagnosis_probe_wanted(diagnosis, *report, err) : DTKB_OK;
    if (status == DTKB_OK && try_fixes)
        status = trials_run(diagnosis, *report, err);
    if (status != DTKB_OK || (!automatic && !try_fixes))
        return status;
    json_decref(*report);
    *report = NULL;
    return diagnosis_judge(diagnosis, report, err);
}

dtkb_status dtkb_conclude(dtkb_diagnosis *diagnosis, dtkb_doc **out)
{
    struct err *err = api_begin(diagnosis->engine);
    const char *probes = diagnosis->options.probes;
    json_t *report = NULL;
    dtkb_status status = DTKB_OK;
    if (diagnosis_cancelled(diagnosis))
        return err_set(err, DTKB_E_CANCELLED, "cancelled");
    if (!diagnosis->probed && strcmp(probes, "none") != 0 && strcmp(probes, "auto") != 0)
        status = diagnosis_probe(diagnosis, probes, err);
    if (status == DTKB_OK)
        status = diagnosis_judge(diagnosis, &report, err);
    if (status == DTKB_OK)
        status = look_closer(diagnosis, &report, err);
    if (status == DTKB_OK)
        return doc_new(report, out, err);
    json_decref(report);
    return status;
}

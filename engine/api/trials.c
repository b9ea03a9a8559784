#include "api/trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define CAUSES_TRIED 3
#define RUNS_MAX 24
#define EXPANSIONS_MAX 8
#define CONFIRMATIONS 2

static double seconds_now(void)
{
    return (double)clock_ns() / (double)CLOCK_NS_PER_S;
}

/* One run of one probe. */
struct outcome {
    enum probe_status status;
    const char *reason;
    double seconds;
};

static dtkb_status run_once(struct dtkb_diagnosis *diagnosis, const char *probe, const char *change, struct outcome *out, struct err *err)
{
    const dtkb_diagnose_options *options = &diagnosis->options;
    struct fact_set facts = {0};
    struct probe_results results = {0};
    char *parameter = NULL;
    const char **parameters = calloc(options->parameter_count + 2, sizeof *parameters);
    if (!parameters || (change && asprintf(&parameter, "%s.trial=%s", probe, change) < 0)) {
        free(parameters);
        return err_nomem(err);
    }
    for (size_t i = 0; i < options->parameter_count; i++)
        parameters[i] = options->parameters[i];
    parameters[options->parameter_count] = parameter;
    struct probe_options how = {.plugin_path = options->plugin_path,
                                .params = parameters,
                                .timeout = options->probe_timeout,
                                .budget = options->probe_budget,
                                .cancelled = diagnosis_cancelled,
                                .context = diagnosis};
    dtkb_status status = probe_run(diagnosis->engine->kb, &probe, 1, &how, &facts, &results, err);
    if (status == DTKB_OK && results.count) {
        *out = (struct outcome){.status = results.results[0].status,
                                .reason = arena_strdup(&diagnosis->trials.arena, results.results[0].reason),
                                .seconds = results.results[0].seconds};
        status = out->reason ? DTKB_OK : err_nomem(err);
    }
    probe_results_free(&results);
    fact_set_free(&facts);
    free(parameters);
    free(parameter);
    return status;
}

static bool failed(enum probe_status status)
{
    return status == PROBE_FAULT || status == PROBE_TIMED_OUT || status == PROBE_CRASHED || status == PROBE_STUCK;
}

static bool keep(struct trial_runs *runs, const struct trial_run *run)
{
    struct trial_run *grown = arena_alloc(&runs->arena, (runs->count + 1) * sizeof *grown);
    if (!grown)
        return false;
    if (runs->count)
        memcpy(grown, runs->runs, runs->count * sizeof *grown);
    grown[runs->count++] = *run;
    runs->runs = grown;
    return true;
}

/* One change: tried, and when it works confirmed. */
static dtkb_status try_change(struct dtkb_diagnosis *diagnosis, const char *probe, const char *change, const struct outcome *before,
                              bool *works, struct err *err)
{
    struct outcome after = {0};
    dtkb_status status = run_once(diagnosis, probe, change, &after, err);
    struct trial_run run = {.probe = arena_strdup(&diagnosis->trials.arena, probe),
                            .change = arena_strdup(&diagnosis->trials.arena, change),
                            .before = before->status,
                            .before_reason = before->reason,
                            .before_seconds = before->seconds,
                            .after = after.status,
                            .after_reason = after.reason,
                            .after_seconds = after.seconds,
                            .works = after.status == PROBE_OK};
    while (status == DTKB_OK && run.works && run.confirmed < CONFIRMATIONS) {
        status = run_once(diagnosis, probe, change, &after, err);
        run.works = after.status == PROBE_OK;
        run.confirmed += run.works;
    }
    *works = run.works;
    if (status == DTKB_OK && (!run.probe || !run.change || !keep(&diagnosis->trials, &run)))
        status = err_nomem(err);
    return status;
}

static dtkb_status try_cause(struct dtkb_diagnosis *diagnosis, const struct cause *cause, double until, bool *works, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; status == DTKB_OK && !*works && i < cause->trial_count; i++) {
        const struct trial *trial = &cause->trials[i];
        const char *changes[EXPANSIONS_MAX];
        size_t count = trial_expand(trial->change, &diagnosis->facts, &diagnosis->trials.arena, changes, EXPANSIONS_MAX);
        struct outcome before = {0};
        if (!count || trial_find(&diagnosis->trials, trial->probe, trial->change))
            continue;
        status = run_once(diagnosis, trial->probe, NULL, &before, err);
        if (status != DTKB_OK || !failed(before.status))
            return status; /* nothing fails here: there is nothing to prove */
        for (size_t c = 0; status == DTKB_OK && !*works && c < count; c++) {
            if (diagnosis->trials.count >= RUNS_MAX || seconds_now() > until)
                return DTKB_OK;
            status = try_change(diagnosis, trial->probe, changes[c], &before, works, err);
        }
    }
    return status;
}

dtkb_status trials_run(struct dtkb_diagnosis *diagnosis, const json_t *report, struct err *err)
{
    double budget = diagnosis->options.probe_budget > 0 ? diagnosis->options.probe_budget : 60, until = seconds_now() + budget;
    const json_t *causes = json_object_get(report, "causes");
    dtkb_status status = DTKB_OK;
    bool works = false;
    for (size_t i = 0; status == DTKB_OK && !works && i < json_array_size(causes) && i < CAUSES_TRIED; i++) {
        const char *id = json_string_value(json_object_get(json_array_get(causes, i), "id"));
        const struct cause *cause;
        status = kb_cause_by_id(diagnosis->engine->kb, id ? id : "", &cause, err);
        if (status == DTKB_OK)
            status = try_cause(diagnosis, cause, until, &works, err);
    }
    /* A trial's probe that is not there (no GPU plugin in this build) is no reason to withhold the diagnosis. */
    return status == DTKB_E_NOT_FOUND ? DTKB_OK : status;
}

/* The part of `name` that the '*' of `pattern` stands for. */
static const char *wild_part(const char *pattern, const char *name, struct arena *arena)
{
    for (;;) {
        size_t p = strcspn(pattern, "."), n = strcspn(name, ".");
        if (p == 1 && *pattern == '*')
            return arena_strndup(arena, name, n);
        if (!pattern[p] || !name[n])
            return NULL;
        pattern += p + 1;
        name += n + 1;
    }
}

size_t trial_expand(const char *change, const struct fact_set *facts, struct arena *arena, const char **out, size_t limit)
{
    const char *open = strchr(change, '{'), *close = open ? strchr(open, '}') : NULL;
    size_t count = 0;
    if (!close) {
        out[0] = change;
        return 1;
    }
    bool by_value = open[1] == '=';
    const char *pattern = arena_strndup(arena, open + 1 + by_value, (size_t)(close - open - 1 - by_value));
    for (size_t i = 0; pattern && i < facts->count && count < limit; i++) {
        const struct fact *fact = &facts->facts[i];
        char text[DTKB_ERROR_TEXT_MAX], value[256];
        if (!fact_name_matches(pattern, fact->name) || (fact->type == FACT_BOOL && !fact->value.boolean))
            continue;
        const char *part = by_value ? fact_value_text(fact, value, sizeof value) : wild_part(pattern, fact->name, arena);
        if (!part || strstr(part, "lo") == part)
            continue;
        (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(open - change), change, part, close + 1);
        out[count] = arena_strdup(arena, text);
        count += out[count] != NULL;
    }
    return count;
}

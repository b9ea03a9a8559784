#include "probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dtkb/plugin.h>

#include "base/clock.h"
#include "base/setting.h"
#include "base/utf8.h"
#include "probe/catalog.h"
#include "probe/intake.h"
#include "probe/launch.h"

#define DEFAULT_TIMEOUT 10.0
#define DEFAULT_BUDGET 60.0

/* One chosen probe, from its choice to its result. */
struct task {
    const struct plugin *plugin;
    const struct plugin_probe *probe;
    struct intake intake;
};

struct session {
    const struct vocabulary *vocabulary;
    const struct probe_options *options;
    struct catalog catalog;
    struct task *tasks;
    struct job *jobs;
    size_t count;
    struct arena arena;
};

const char *probe_status_name(enum probe_status status)
{
    static const char *const names[] = {
        [PROBE_OK] = "ok",           [PROBE_FAULT] = "fault",         [PROBE_SKIPPED] = "skipped", [PROBE_UNAVAILABLE] = "unavailable",
        [PROBE_CRASHED] = "crashed", [PROBE_TIMED_OUT] = "timed-out", [PROBE_STUCK] = "stuck",     [PROBE_BAD_OUTPUT] = "bad-output"};
    return names[status];
}

/* ---- choosing ---- */

static bool choose(struct session *session, const struct plugin *plugin, const struct plugin_probe *probe)
{
    for (size_t i = 0; i < session->count; i++)
        if (session->tasks[i].probe == probe)
            return true; /* named twice */
    if (session->count % 16 == 0) {
        struct task *tasks = realloc(session->tasks, (session->count + 16) * sizeof *tasks);
        if (!tasks)
            return false;
        session->tasks = tasks;
    }
    session->tasks[session->count++] = (struct task){.plugin = plugin, .probe = probe};
    return true;
}

static dtkb_status unknown_probe(const struct catalog *catalog, const char *name, struct err *err)
{
    struct buf known = {.maximum = 700};
    for (size_t i = 0; i < catalog->count; i++) {
        const struct plugin *plugin = &catalog->plugins[i];
        if (plugin->state != PLUGIN_GOOD && plugin->name && !strcmp(plugin->name, name)) {
            buf_free(&known);
            return err_set(err, DTKB_E_NOT_FOUND, "probe '%s' cannot be used: %s: %s", name, plugin->path, plugin->reason);
        }
        for (size_t j = 0; plugin->state == PLUGIN_GOOD && j < plugin->probe_count; j++)
            buf_addf(&known, "%s%s", known.length ? ", " : "", plugin->probes[j].name);
    }
    dtkb_status status = err_set(err, DTKB_E_NOT_FOUND, "there is no probe '%s'; %s%s ('dtkb plugin list' shows where they come from)",
                                 name, known.length ? "there are " : "no plugin was found", buf_text(&known));
    buf_free(&known);
    return status;
}

static dtkb_status choose_named(struct session *session, const char *name, struct err *err)
{
    for (size_t i = 0; i < session->catalog.count; i++) {
        const struct plugin *plugin = &session->catalog.plugins[i];
        for (size_t j = 0; plugin->state == PLUGIN_GOOD && j < plugin->probe_count; j++)
            if (!strcmp(plugin->probes[j].name, name))
                return choose(session, plugin, &plugin->probes[j]) ? DTKB_OK : err_nomem(err);
    }
    return unknown_probe(&session->catalog, name, err);
}

static dtkb_status choose_all(struct session *session, struct err *err)
{
    for (size_t i = 0; i < session->catalog.count; i++) {
        const struct plugin *plugin = &session->catalog.plugins[i];
        for (size_t j = 0; plugin->state == PLUGIN_GOOD && j < plugin->probe_count; j++) {
            bool passive = !(plugin->probes[j].caps & (DTKB_CAP_ACTIVE | DTKB_CAP_MULTI_RANK));
            if ((passive || session->options->active) && !choose(session, plugin, &plugin->probes[j]))
                return err_nomem(err);
        }
    }
    return DTKB_OK;
}

/* ---- running ---- */

static bool take_line(struct job *job, const char *text, size_t length)
{
    struct task *task = job->context;
    return intake_line(&task->intake, text, length, job->mistake, sizeof job->mistake);
}

static uint64_t nanoseconds(double seconds)
{
    const double most = 86400.0 * 365;
    return (uint64_t)((seconds < most ? seconds : most) * (double)CLOCK_NS_PER_S);
}

static double timeout_of(const struct session *session, const struct plugin_probe *probe)
{
    if (session->options->timeout > 0)
        return session->options->timeout;
    return probe->timeout_ms ? probe->timeout_ms / 1000.0 : DEFAULT_TIMEOUT;
}

static dtkb_status prepare(struct session *session, struct err *err)
{
    session->jobs = calloc(session->count + 1, sizeof *session->jobs);
    if (!session->jobs)
        return err_nomem(err);
    for (size_t i = 0; i < session->count; i++) {
        struct task *task = &session->tasks[i];
        struct job *job = &session->jobs[i];
        /* Two that use GPUs at a time would disturb, and on an exclusive GPU refuse, each other. */
        const uint64_t alone = DTKB_CAP_ACTIVE | DTKB_CAP_GPU;
        *job = (struct job){.line = take_line, .context = task, .exclusive = (task->probe->caps & alone) == alone};
        const struct launch launch = {.helper = session->catalog.helper,
                                      .plugin = task->plugin,
                                      .probe = task->probe,
                                      .options = session->options,
                                      .timeout_ns = nanoseconds(timeout_of(session, task->probe))};
        if (!intake_start(&task->intake, session->vocabulary, task->plugin->name) || !launch_prepare(&launch, &session->arena, job))
            return err_nomem(err);
    }
    return DTKB_OK;
}

/* ---- results ---- */

struct verdict {
    enum probe_status status;
    char reason[512];
};

static const char *said_or(const struct task *task, const char *otherwise)
{
    return task->intake.reason.length ? buf_text(&task->intake.reason) : otherwise;
}

/* The probe ended by itself with status 0, or nobody knows with which: its own word counts. */
static void judge_result(const struct task *task, const struct job *job, struct verdict *verdict)
{
    static const struct {
        enum probe_status status;
        const char *reason;
    } meaning[] = {
        [RESULT_NONE] = {PROBE_CRASHED, "it ended before it gave a result"},
        [RESULT_OK] = {PROBE_OK, ""},
        [RESULT_FAULT] = {PROBE_FAULT, "it found a fault and does not say which"},
        [RESULT_SKIPPED] = {PROBE_SKIPPED, "it does not apply here, and does not say why"},
        [RESULT_UNAVAILABLE] = {PROBE_UNAVAILABLE, "it could not look, and does not say why"},
        [RESULT_STOPPED] = {PROBE_TIMED_OUT, "it stopped when its time was nearly up"},
        [RESULT_ERROR] = {PROBE_UNAVAILABLE, "it failed, and does not say at what"},
    };
    enum intake_result result = task->intake.result;
    verdict->status = meaning[result].status;
    if (result == RESULT_NONE && job->end == JOB_EXITED)
        (void)snprintf(verdict->reason, sizeof verdict->reason, "it ended its process with status %d before it gave a result", job->code);
    else
        (void)snprintf(verdict->reason, sizeof verdict->reason, "%s",
                       result == RESULT_NONE ? meaning[result].reason : said_or(task, meaning[result].reason));
}

static void judge(const struct task *task, const struct job *job, struct verdict *verdict)
{
    char *reason = verdict->reason;
    const size_t size = sizeof verdict->reason;
    switch (job->end) {
    case JOB_EXITED:
    case JOB_LOST:
        judge_result(task, job, verdict);
        if (job->end == JOB_EXITED && job->code && task->intake.result != RESULT_NONE) {
            verdict->status = PROBE_CRASHED;
            (void)snprintf(reason, size, "it ended with status %d after it had given its result", job->code);
        }
        break;
    case JOB_KILLED:
        verdict->status = PROBE_CRASHED;
        (void)snprintf(reason, size, "%s", strsignal(job->code));
        break;
    case JOB_TIMED_OUT:
        verdict->status = PROBE_TIMED_OUT;
        (void)snprintf(reason, size, "it did not end within %.3g s", job->seconds);
        break;
    case JOB_STUCK:
        verdict->status = PROBE_STUCK;
        (void)snprintf(reason, size, "it did not end within %.3g s, nor when it was killed: a driver or file system hangs", job->seconds);
        break;
    case JOB_REJECTED:
        verdict->status = PROBE_BAD_OUTPUT;
        (void)snprintf(reason, size, "%s", job->mistake);
        break;
    case JOB_CANCELLED:
        verdict->status = PROBE_SKIPPED;
        (void)snprintf(reason, size, "the run was cancelled");
        break;
    case JOB_NO_TIME:
        verdict->status = PROBE_SKIPPED;
        (void)snprintf(reason, size, "the time for all probes was used up before its turn came");
        break;
    case JOB_NOT_STARTED:
        verdict->status = PROBE_UNAVAILABLE;
        (void)snprintf(reason, size, "it could not be started: %s", strerror(job->code));
        break;
    }
}

static char *clean_copy(struct arena *arena, const char *text, size_t length)
{
    struct buf clean = {0};
    buf_add_clean(&clean, text, length);
    char *copy = clean.failed ? NULL : arena_strndup(arena, buf_text(&clean), clean.length);
    buf_free(&clean);
    return copy;
}

static char *printed(struct arena *arena, struct job *job)
{
    if (job->output_bytes > job->output.length)
        buf_addf(&job->output, "\n[%llu more bytes]\n", (unsigned long long)(job->output_bytes - job->output.length));
    return clean_copy(arena, buf_text(&job->output), job->output.length);
}

static bool report(struct session *session, size_t index, struct probe_result *result, struct arena *arena)
{
    struct task *task = &session->tasks[index];
    struct job *job = &session->jobs[index];
    struct verdict verdict = {.status = PROBE_OK};
    judge(task, job, &verdict);
    *result = (struct probe_result){
        .name = arena_strdup(arena, task->probe->name),
        .plugin = arena_strdup(arena, task->plugin->name),
        .path = arena_strdup(arena, task->plugin->path),
        .status = verdict.status,
        .reason = clean_copy(arena, verdict.reason, strcspn(verdict.reason, "\n")),
        .seconds = job->seconds,
        .signal = job->end == JOB_KILLED ? job->code : 0,
        .output = printed(arena, job),
        .evidence = arena_strdup(arena, buf_text(&task->intake.evidence)),
        .evidence_source = arena_strdup(arena, buf_text(&task->intake.evidence_source)),
        .log = arena_strdup(arena, buf_text(&task->intake.log)),
    };
    return result->name && result->plugin && result->path && result->reason && result->output && result->evidence &&
           result->evidence_source && result->log;
}

/* Where two probes saw the same thing, the first one's word stands. */
static bool add_facts(const struct session *session, struct fact_set *facts)
{
    json_t *seen = json_object();
    bool good = seen != NULL;
    for (size_t i = 0; good && i < facts->count; i++)
        good = json_object_set_new(seen, facts->facts[i].name, json_true()) == 0;
    for (size_t i = 0; i < session->count; i++) {
        const struct fact_set *own = &session->tasks[i].intake.facts;
        for (size_t j = 0; good && j < own->count; j++)
            if (!json_object_get(seen, own->facts[j].name))
                good = json_object_set_new(seen, own->facts[j].name, json_true()) == 0 && fact_set_add(facts, &own->facts[j]);
    }
    json_decref(seen);
    return good;
}

static dtkb_status collect(struct session *session, struct fact_set *facts, struct probe_results *out, struct err *err)
{
    struct probe_results results = {0};
    results.results = arena_alloc(&results.arena, (session->count + 1) * sizeof *results.results);
    bool good = results.results != NULL;
    for (size_t i = 0; good && i < session->count; i++, results.count++)
        good = report(session, i, &results.results[i], &results.arena);
    if (good && add_facts(session, facts)) {
        fact_set_sort(facts);
        *out = results;
        return DTKB_OK;
    }
    probe_results_free(&results);
    return err_nomem(err);
}

static void session_free(struct session *session)
{
    for (size_t i = 0; i < session->count; i++) {
        intake_free(&session->tasks[i].intake);
        if (session->jobs)
            buf_free(&session->jobs[i].output);
    }
    free(session->tasks);
    free(session->jobs);
    arena_free(&session->arena);
    catalog_free(&session->catalog);
}

void probe_results_free(struct probe_results *results)
{
    arena_free(&results->arena);
    *results = (struct probe_results){0};
}

static dtkb_status check_trials(const char *const *params, struct err *err)
{
    for (; params && *params; params++) {
        size_t key = strcspn(*params, "=");
        const char *name = memrchr(*params, '.', key);
        name = name ? name + 1 : *params;
        if (!strncmp(name, "trial=", 6) && !setting_is_well_formed(name + 6))
            return err_set(err, DTKB_E_USAGE, "'%.200s' is no trial: give NAME=VALUE, or several joined by commas", *params);
    }
    return DTKB_OK;
}

dtkb_status probe_run_checked(const struct vocabulary *vocabulary, const char *const *names, size_t count,
                              const struct probe_options *options, struct fact_set *facts, struct probe_results *results, struct err *err)
{
    static const struct probe_options none;
    struct session session = {.vocabulary = vocabulary, .options = options ? options : &none};
    struct err local = {0}; /* `err` may be NULL */
    err = err ? err : &local;
    dtkb_status status = check_trials(session.options->params, err);
    if (status == DTKB_OK)
        status = catalog_load(session.options, &session.catalog, err);
    if (status != DTKB_OK)
        return status;
    for (size_t i = 0; status == DTKB_OK && i < count; i++)
        status = choose_named(&session, names[i], err);
    if (status == DTKB_OK && !count)
        status = choose_all(&session, err);
    if (status == DTKB_OK)
        status = prepare(&session, err);
    if (status == DTKB_OK) {
        double budget = session.options->budget > 0 ? session.options->budget : DEFAULT_BUDGET;
        const struct supervise_options limits = {
            .budget_ns = nanoseconds(budget), .cancelled = session.options->cancelled, .context = session.options->context};
        status = supervise(session.jobs, session.count, &limits, err);
    }
    if (status == DTKB_OK)
        status = collect(&session, facts, results, err);
    session_free(&session);
    return status;
}

dtkb_status probe_run(struct kb *kb, const char *const *names, size_t count, const struct probe_options *options, struct fact_set *facts,
                      struct probe_results *results, struct err *err)
{
    struct vocabulary vocabulary = vocabulary_of(kb);
    return probe_run_checked(&vocabulary, names, count, options, facts, results, err);
}

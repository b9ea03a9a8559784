#include "probe/conformance.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dtkb/plugin.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "probe/check_run.h"
#include "probe/plugin_places.h"

enum clause {
    CLAUSE_LOADS,
    CLAUSE_NAMES,
    CLAUSE_TRUSTED,
    CLAUSE_UNIQUE,
    CLAUSE_RUNS,
    CLAUSE_RESULT,
    CLAUSE_FACTS,
    CLAUSE_DECLARED,
    CLAUSE_REPEATABLE,
    CLAUSE_BARE,
    CLAUSE_OFFLINE,
    CLAUSE_DEADLINE,
    CLAUSE_KILLED,
    CLAUSE_QUIET,
    CLAUSE_DESCRIPTORS,
    CLAUSE_PROCESSES,
    CLAUSE_FILES,
    CLAUSE_COUNT
};
static const struct {
    const char *id, *title;
} clauses[CLAUSE_COUNT] = {
    [CLAUSE_LOADS] = {"loads", "it loads and says completely what it is"},
    [CLAUSE_NAMES] = {"names", "every probe and parameter has a name and a summary"},
    [CLAUSE_TRUSTED] = {"trusted", "nobody but root and you can change the file or its directories"},
    [CLAUSE_UNIQUE] = {"unique", "no installed plugin has its name or one of its probes'"},
    [CLAUSE_RUNS] = {"runs", "every passive probe ends by itself with a result"},
    [CLAUSE_RESULT] = {"result", "a result other than ok comes with its reason"},
    [CLAUSE_FACTS] = {"facts", "facts are well-typed, in the vocabulary, and emitted once"},
    [CLAUSE_DECLARED] = {"declared", "no fact is emitted that the description does not name"},
    [CLAUSE_REPEATABLE] = {"repeatable", "two runs give facts of the same names"},
    [CLAUSE_BARE] = {"bare", "where there is nothing to see it still ends with a result"},
    [CLAUSE_OFFLINE] = {"offline", "without a network it still ends with a result"},
    [CLAUSE_DEADLINE] = {"deadline", "it returns when its time is up"},
    [CLAUSE_KILLED] = {"killed", "ended half-way, it ends at SIGTERM"},
    [CLAUSE_QUIET] = {"quiet", "it prints nothing to stdout and stderr"},
    [CLAUSE_DESCRIPTORS] = {"descriptors", "it leaves no descriptor open and no thread running"},
    [CLAUSE_PROCESSES] = {"processes", "it leaves no process behind"},
    [CLAUSE_FILES] = {"files", "it writes no file"},
};

enum clause_result { NOT_TESTED, PASS, WARN, FAIL };

struct check {
    const struct vocabulary *vocabulary;
    const struct probe_options *options;
    const char *file;
    struct catalog catalog;
    struct check_scratch scratch;
    bool can_go_offline;
    size_t facts; /* seen in all runs */
    struct {
        enum clause_result result;
        char reason[512];
    } found[CLAUSE_COUNT];
};

/* The gravest finding of a clause stays, and of equally grave ones the first. */
__attribute__((format(printf, 4, 5))) static void find(struct check *check, enum clause clause, enum clause_result result,
                                                       const char *format, ...)
{
    if (check->found[clause].result >= result && check->found[clause].result != NOT_TESTED)
        return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(check->found[clause].reason, sizeof check->found[clause].reason, format, args);
    va_end(args);
    check->found[clause].result = result;
}

static void pass(struct check *check, enum clause clause)
{
    find(check, clause, PASS, "%s", "");
}

/* ---- without running a probe ---- */

static const struct plugin *plugin_of(const struct check *check)
{
    return &check->catalog.plugins[0];
}

static void check_names(struct check *check)
{
    pass(check, CLAUSE_NAMES);
    for (size_t i = 0; i < plugin_of(check)->probe_count; i++) {
        const struct plugin_probe *probe = &plugin_of(check)->probes[i];
        size_t index;
        const json_t *param;
        json_array_foreach(probe->params, index, param)
        {
            const char *summary = json_string_value(json_object_get(param, "summary"));
            if (!summary || !*summary)
                find(check, CLAUSE_NAMES, FAIL, "parameter '%s' of probe '%s' has no summary",
                     json_string_value(json_object_get(param, "name")), probe->name);
        }
        if (!probe->fact_count)
            find(check, CLAUSE_DECLARED, WARN, "probe '%s' does not list the facts it may emit", probe->name);
    }
}

static void check_unique(struct check *check)
{
    struct catalog installed;
    struct err err;
    const struct plugin *plugin = plugin_of(check);
    if (catalog_load(check->options, &installed, &err) != DTKB_OK) {
        find(check, CLAUSE_UNIQUE, NOT_TESTED, "%s", err.text);
        return;
    }
    pass(check, CLAUSE_UNIQUE);
    for (size_t i = 0; i < installed.count; i++) {
        const struct plugin *other = &installed.plugins[i];
        if (other->state != PLUGIN_GOOD || !strcmp(other->path, plugin->path))
            continue;
        if (!strcmp(other->name, plugin->name))
            find(check, CLAUSE_UNIQUE, WARN, "%s has the name '%s' too: the first in the search path counts", other->path, other->name);
        for (size_t j = 0; j < other->probe_count; j++)
            for (size_t k = 0; k < plugin->probe_count; k++)
                if (strcmp(other->name, plugin->name) != 0 && !strcmp(other->probes[j].name, plugin->probes[k].name))
                    find(check, CLAUSE_UNIQUE, FAIL, "%s has a probe '%s' too", other->path, other->probes[j].name);
    }
    catalog_free(&installed);
}

static void check_file(struct check *check)
{
    const struct plugin *plugin = plugin_of(check);
    char why[512];
    if (places_trusted(plugin->path, why, sizeof why))
        pass(check, CLAUSE_TRUSTED);
    else
        find(check, CLAUSE_TRUSTED, FAIL, "%s", why);
    if (plugin->state != PLUGIN_GOOD) {
        find(check, CLAUSE_LOADS, FAIL, "%s", plugin->reason);
        return;
    }
    pass(check, CLAUSE_LOADS);
    check_names(check);
    check_unique(check);
}

/* ---- what one run shows ---- */

/* Did it end by itself with a result? `clause` is what is broken otherwise. */
static bool judge_end(struct check *check, const struct check_run *run, enum clause clause, const char *when)
{
    const struct job *job = &run->job;
    const char *name = run->probe->name;
    pass(check, clause);
    if (job->end == JOB_REJECTED) {
        find(check, CLAUSE_FACTS, FAIL, "probe '%s'%s: %s", name, when, job->mistake);
        return false;
    }
    if (job->end == JOB_KILLED)
        find(check, clause, FAIL, "probe '%s' crashed%s: %s", name, when, strsignal(job->code));
    else if (job->end == JOB_TIMED_OUT || job->end == JOB_STUCK)
        find(check, clause, FAIL, "probe '%s' did not end within %.3g s%s", name, job->seconds, when);
    else if (job->end == JOB_NOT_STARTED)
        find(check, clause, FAIL, "probe '%s' could not be started%s: %s", name, when, strerror(job->code));
    else if (job->end == JOB_EXITED && run->intake.result == RESULT_NONE)
        find(check, clause, FAIL, "probe '%s' ended its process with status %d%s before it gave a result", name, job->code, when);
    else if (job->end == JOB_EXITED && job->code)
        find(check, clause, FAIL, "probe '%s' ended with status %d%s after its result", name, job->code, when);
    return job->end == JOB_EXITED && !job->code && run->intake.result != RESULT_NONE;
}

static void judge_result(struct check *check, const struct check_run *run)
{
    pass(check, CLAUSE_RESULT);
    enum intake_result result = run->intake.result;
    if (result == RESULT_ERROR)
        find(check, CLAUSE_RESULT, run->intake.reason.length ? WARN : FAIL, "probe '%s' returned an error%s%s", run->probe->name,
             run->intake.reason.length ? ": " : " and no reason, or a value that is no result", buf_text(&run->intake.reason));
    else if (result != RESULT_OK && result != RESULT_STOPPED && result != RESULT_NONE && !run->intake.reason.length)
        find(check, CLAUSE_RESULT, FAIL, "probe '%s' gave no reason for its result", run->probe->name);
}

/* A '*' at the end of a declaration stands for any rest, elsewhere for one part. */
static bool is_declared(const struct plugin_probe *probe, const char *name)
{
    for (size_t i = 0; i < probe->fact_count; i++) {
        const char *pattern = probe->facts[i];
        size_t length = strlen(pattern);
        char start[DTKB_FACT_NAME_MAX + 1];
        if (fact_name_matches(pattern, name))
            return true;
        if (length < 2 || strcmp(pattern + length - 2, ".*") != 0)
            continue;
        /* Compare as many parts as the pattern has. */
        const char *end = name;
        for (const char *dot = pattern; end && (dot = strchr(dot, '.')) != NULL; dot++)
            end = (end = strchr(end, '.')) ? end + 1 : NULL;
        if (!end)
            continue;
        (void)snprintf(start, sizeof start, "%.*s*", (int)(end - name), name);
        if (fact_name_matches(pattern, start))
            return true;
    }
    return false;
}

static void judge_facts(struct check *check, const struct check_run *run)
{
    check->facts += run->intake.facts.count;
    if (!check->facts)
        return;
    pass(check, CLAUSE_FACTS);
    pass(check, CLAUSE_DECLARED);
    for (size_t i = 0; run->probe->fact_count && i < run->intake.facts.count; i++)
        if (!is_declared(run->probe, run->intake.facts.facts[i].name))
            find(check, CLAUSE_DECLARED, FAIL, "probe '%s' emits '%s'", run->probe->name, run->intake.facts.facts[i].name);
}

static void judge_leftovers(struct check *check, const struct check_run *run)
{
    const char *name = run->probe->name;
    pass(check, CLAUSE_QUIET);
    pass(check, CLAUSE_PROCESSES);
    pass(check, CLAUSE_FILES);
    if (run->job.output_bytes) {
        char line[160];
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(buf_text(&run->job.output), "\r\n"), buf_text(&run->job.output));
        find(check, CLAUSE_QUIET, WARN, "probe '%s' prints %llu bytes, the first line: %s", name, (unsigned long long)run->job.output_bytes,
             line);
    }
    if (run->left_processes)
        find(check, CLAUSE_PROCESSES, FAIL, "probe '%s' left %u processes running", name, run->left_processes);
    if (*run->left_file)
        find(check, CLAUSE_FILES, FAIL, "probe '%s' wrote '%s' to its working or temporary folder", name, run->left_file);
    if (run->plugin->kind == PLUGIN_PROGRAM) {
        find(check, CLAUSE_DESCRIPTORS, PASS, "a program's end closes them");
        return;
    }
    if (run->intake.result != RESULT_NONE)
        pass(check, CLAUSE_DESCRIPTORS);
    if (run->intake.left_descriptors > 0 || run->intake.left_threads > 0)
        find(check, CLAUSE_DESCRIPTORS, FAIL, "probe '%s' left %d descriptors open and %d threads running", name,
             run->intake.left_descriptors, run->intake.left_threads);
}

/* ---- the runs ---- */

static struct check_run new_run(const struct check *check, const struct plugin_probe *probe)
{
    uint64_t timeout = probe->timeout_ms ? probe->timeout_ms * CLOCK_NS_PER_MS : 10 * CLOCK_NS_PER_S;
    if (check->options->timeout > 0)
        timeout = (uint64_t)(check->options->timeout * 1e9);
    return (struct check_run){.scratch = &check->scratch,
                              .vocabulary = check->vocabulary,
                              .plugin = plugin_of(check),
                              .probe = probe,
                              .options = check->options,
                              .helper = check->catalog.helper,
                              .timeout_ns = timeout};
}

static bool same_names(const struct fact_set *left, const struct fact_set *right, const char **odd)
{
    const struct fact_set *sets[] = {left, right};
    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < sets[side]->count; i++)
            if (!fact_set_find(sets[1 - side], sets[side]->facts[i].name)) {
                *odd = sets[side]->facts[i].name;
                return false;
            }
    return true;
}

/* Twice as things are; `seconds` receives how long it takes. */
static dtkb_status run_here(struct check *check, const struct plugin_probe *probe, double *seconds, struct err *err)
{
    struct check_run runs[2] = {new_run(check, probe), new_run(check, probe)};
    bool ended = true;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; status == DTKB_OK && i < 2; i++) {
        status = check_run(&runs[i], err);
        if (status != DTKB_OK)
            break;
        ended = judge_end(check, &runs[i], CLAUSE_RUNS, "") && ended;
        if (ended) {
            judge_result(check, &runs[i]);
            judge_facts(check, &runs[i]);
        }
        judge_leftovers(check, &runs[i]);
        *seconds = runs[i].job.seconds;
        if (!ended)
            break;
    }
    const char *odd;
    if (status == DTKB_OK && ended) {
        pass(check, CLAUSE_REPEATABLE);
        if (!same_names(&runs[0].intake.facts, &runs[1].intake.facts, &odd))
            find(check, CLAUSE_REPEATABLE, FAIL, "probe '%s' emitted '%s' in one of two runs only", probe->name, odd);
    }
    check_run_free(&runs[0]);
    check_run_free(&runs[1]);
    return status;
}

/* Where there is nothing to see. */
static dtkb_status run_bare(struct check *check, const struct plugin_probe *probe, struct err *err)
{
    struct check_run run = new_run(check, probe);
    run.bare = true;
    run.offline = check->can_go_offline;
    dtkb_status status = check_run(&run, err);
    if (status == DTKB_OK) {
        if (judge_end(check, &run, CLAUSE_BARE, " with empty roots")) {
            judge_result(check, &run);
            judge_facts(check, &run);
        }
        judge_leftovers(check, &run);
        if (check->can_go_offline)
            (void)judge_end(check, &run, CLAUSE_OFFLINE, " without a network");
        else
            find(check, CLAUSE_OFFLINE, NOT_TESTED, "this user may not make a network namespace");
    }
    check_run_free(&run);
    return status;
}

/* Half of the time it takes: once told so, once not. */
static dtkb_status run_short(struct check *check, const struct plugin_probe *probe, double seconds, bool unwarned, struct err *err)
{
    /* Told of its deadline, it needs time to start (an interpreter more) and what the host keeps for itself of it. */
    double least = unwarned ? 0.002 : plugin_of(check)->kind == PLUGIN_SHARED ? 0.15 : 1.0;
    double half = seconds / 2 > least ? seconds / 2 : least;
    struct check_run run = new_run(check, probe);
    run.timeout_ns = (uint64_t)(half * 1e9);
    run.unwarned = unwarned;
    dtkb_status status = check_run(&run, err);
    if (status == DTKB_OK && unwarned) {
        pass(check, CLAUSE_KILLED);
        if (run.job.unheeded || run.job.end == JOB_STUCK)
            find(check, CLAUSE_KILLED, FAIL, "probe '%s' went on after SIGTERM", probe->name);
        if (run.left_processes)
            find(check, CLAUSE_PROCESSES, FAIL, "probe '%s', ended half-way, left %u processes running", probe->name, run.left_processes);
        if (*run.left_file)
            find(check, CLAUSE_FILES, FAIL, "probe '%s', ended half-way, left '%s'", probe->name, run.left_file);
    } else if (status == DTKB_OK) {
        pass(check, CLAUSE_DEADLINE);
        if (run.job.end == JOB_TIMED_OUT || run.job.end == JOB_STUCK)
            find(check, CLAUSE_DEADLINE, FAIL, "probe '%s', given %.3g s, did not return in time: ask should_stop() between steps",
                 probe->name, half);
    }
    check_run_free(&run);
    return status;
}

static dtkb_status check_probe(struct check *check, const struct plugin_probe *probe, struct err *err)
{
    dtkb_status status = DTKB_OK;
    double seconds = 0;
    bool passive = !(probe->caps & (DTKB_CAP_ACTIVE | DTKB_CAP_MULTI_RANK));
    if (passive)
        status = run_here(check, probe, &seconds, err);
    if (status == DTKB_OK)
        status = run_bare(check, probe, err);
    if (status == DTKB_OK && passive)
        status = run_short(check, probe, seconds, false, err);
    if (status == DTKB_OK && passive)
        status = run_short(check, probe, seconds, true, err);
    return status;
}

/* ---- the document ---- */

static json_t *clean_string(const char *text)
{
    struct buf clean = {0};
    buf_add_clean(&clean, text, strlen(text));
    json_t *string = json_string(buf_text(&clean));
    buf_free(&clean);
    return string;
}

static json_t *document(const struct check *check)
{
    static const char *const results[] = {[NOT_TESTED] = "not-tested", [PASS] = "pass", [WARN] = "warn", [FAIL] = "fail"};
    json_t *list = json_array();
    bool broken = false;
    for (size_t i = 0; i < CLAUSE_COUNT; i++) {
        const char *reason = check->found[i].reason;
        if (check->found[i].result == NOT_TESTED && !*reason)
            reason = check->found[CLAUSE_LOADS].result == FAIL ? "it does not load" : "nothing here put it to the test";
        broken = broken || check->found[i].result == FAIL;
        (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "id", clauses[i].id, "title", clauses[i].title, "result",
                                                    results[check->found[i].result], "reason", clean_string(reason)));
    }
    const struct plugin *plugin = plugin_of(check);
    return json_pack("{s:s, s:o, s:s?, s:s?, s:s, s:o}", "schema", "dtkb.plugin-check/1", "file", clean_string(plugin->path), "plugin",
                     plugin->name, "version", plugin->version, "verdict", broken ? "fault" : "no-fault", "clauses", list);
}

dtkb_status conformance_check(const struct vocabulary *vocabulary, const struct probe_options *options, const char *file, json_t **out,
                              struct err *err)
{
    struct check *check = calloc(1, sizeof *check);
    if (!check)
        return err_nomem(err);
    check->vocabulary = vocabulary;
    check->options = options;
    dtkb_status status = catalog_load_file(options, file, &check->catalog, err);
    if (status == DTKB_OK)
        status = check_scratch_make(&check->scratch, err);
    if (status == DTKB_OK) {
        const struct plugin *plugin = plugin_of(check);
        check->can_go_offline = check_can_go_offline(check->catalog.helper);
        check_file(check);
        for (size_t i = 0; status == DTKB_OK && plugin->state == PLUGIN_GOOD && i < plugin->probe_count; i++)
            status = check_probe(check, &plugin->probes[i], err);
        check_scratch_remove(&check->scratch);
    }
    json_t *tree = status == DTKB_OK ? document(check) : NULL;
    if (status == DTKB_OK && !tree)
        status = err_nomem(err);
    catalog_free(&check->catalog);
    free(check);
    if (status == DTKB_OK)
        *out = tree;
    return status;
}

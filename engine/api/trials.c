#include "api/trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/redact.h"
#include "base/setting.h"

#define RUNS_MAX 32u
#define EXPANSIONS_MAX 8u
#define CONFIRMATIONS 2u
#define PROBES_MAX 8u
#define DEFAULT_BUDGET 60.0

/* One run of one probe. */
struct outcome {
    enum probe_status status;
    const char *reason;
    double seconds;
};

/* A probe that carries out trials, and how it does without any. */
struct subject {
    const char *probe;
    bool known;
    struct outcome before;
};

struct session {
    struct dtkb_diagnosis *diagnosis;
    struct arena *arena; /* of the trial runs */
    double until;
    unsigned runs;
    bool works; /* a change was found that does */
    struct subject subjects[PROBES_MAX];
    size_t subject_count;
    struct err *err;
};

static double seconds_now(void)
{
    return (double)clock_ns() / (double)CLOCK_NS_PER_S;
}

static bool is_failure(enum probe_status status)
{
    return status == PROBE_FAULT || status == PROBE_TIMED_OUT || status == PROBE_CRASHED || status == PROBE_STUCK;
}

static bool is_spent(const struct session *session)
{
    return session->runs >= RUNS_MAX || seconds_now() >= session->until || diagnosis_cancelled(session->diagnosis);
}

/* ---- running ---- */

static const char *without_secrets(struct session *session, const char *text)
{
    struct redactor *redactor = redactor_new();
    struct buf clean = {0};
    if (!redactor)
        return NULL;
    (void)redact(redactor, text, &clean);
    const char *kept = clean.failed ? NULL : arena_strdup(session->arena, buf_text(&clean));
    buf_free(&clean);
    redactor_free(redactor);
    return kept;
}

/* The caller's parameters, and the change behind them; NULL when there is no memory. Free the list and *added. */
static const char **parameters_with(const dtkb_diagnose_options *options, const char *probe, const char *change, char **added)
{
    const char **list = calloc(options->parameter_count + 2, sizeof *list);
    *added = NULL;
    if (!list || (change && asprintf(added, "%s.trial=%s", probe, change) < 0)) {
        free(list);
        *added = NULL;
        return NULL;
    }
    for (size_t i = 0; i < options->parameter_count; i++)
        list[i] = options->parameters[i];
    list[options->parameter_count] = *added;
    return list;
}

/* One run; its facts are added to `facts` unless that is NULL. */
static dtkb_status run_once(struct session *session, const char *probe, const char *change, struct fact_set *facts, struct outcome *out)
{
    const dtkb_diagnose_options *options = &session->diagnosis->options;
    struct fact_set of_trial = {0};
    struct probe_results results = {0};
    char *added;
    *out = (struct outcome){PROBE_UNAVAILABLE, "", 0};
    const char **parameters = parameters_with(options, probe, change, &added);
    if (!parameters)
        return err_nomem(session->err);
    double left = session->until - seconds_now();
    struct probe_options how = {.plugin_path = options->plugin_path,
                                .params = parameters,
                                .timeout = options->probe_timeout,
                                .budget = left > 0.001 ? left : 0.001,
                                .cancelled = diagnosis_cancelled,
                                .context = session->diagnosis};
    session->runs++;
    dtkb_status status = probe_run(session->diagnosis->engine->kb, &probe, 1, &how, facts ? facts : &of_trial, &results, session->err);
    if (status == DTKB_OK && results.count) {
        *out = (struct outcome){results.results[0].status, without_secrets(session, results.results[0].reason), results.results[0].seconds};
        status = out->reason ? DTKB_OK : err_nomem(session->err);
    }
    probe_results_free(&results);
    fact_set_free(&of_trial);
    free(parameters);
    free(added);
    return status;
}

/* ---- what can be tried ---- */

/* The probes that carry out trials. */
static dtkb_status find_subjects(struct session *session)
{
    const struct probe_options how = {.plugin_path = session->diagnosis->options.plugin_path};
    json_t *plugins = NULL;
    size_t i, j, k;
    const json_t *plugin, *probe, *capability;
    dtkb_status status = probe_plugins(&how, &plugins, session->err);
    json_array_foreach(plugins, i, plugin) json_array_foreach(json_object_get(plugin, "probes"), j, probe)
        json_array_foreach(json_object_get(probe, "caps"), k, capability)
    {
        const char *name = json_string_value(json_object_get(probe, "name"));
        if (strcmp(json_string_value(capability), "trials") != 0 || session->subject_count == PROBES_MAX)
            continue;
        name = arena_strdup(session->arena, name);
        if (name)
            session->subjects[session->subject_count++] = (struct subject){.probe = name};
    }
    json_decref(plugins);
    return status;
}

static struct subject *find_subject(struct session *session, const char *probe)
{
    for (size_t i = 0; i < session->subject_count; i++)
        if (!strcmp(session->subjects[i].probe, probe))
            return &session->subjects[i];
    return NULL;
}

/* How the probe does as things are: what it said in this diagnosis, or a run of its own. */
static dtkb_status look_before(struct session *session, struct subject *subject)
{
    const struct probe_results *known = &session->diagnosis->probes;
    for (size_t i = 0; !subject->known && i < known->count; i++) {
        const struct probe_result *result = &known->results[i];
        if (strcmp(result->name, subject->probe) != 0)
            continue;
        subject->before = (struct outcome){result->status, arena_strdup(session->arena, result->reason), result->seconds};
        subject->known = true;
        return subject->before.reason ? DTKB_OK : err_nomem(session->err);
    }
    if (subject->known)
        return DTKB_OK;
    subject->known = true;
    return run_once(session, subject->probe, NULL, &session->diagnosis->facts, &subject->before);
}

/* What the job's environment says of the variable that a setting sets, NULL when nothing. */
static const char *own_value(const struct setting *setting)
{
    char name[128];
    if (setting->name_length >= sizeof name)
        return NULL;
    memcpy(name, setting->name, setting->name_length);
    name[setting->name_length] = '\0';
    return getenv(name);
}

static bool is_set_already(const char *change)
{
    struct setting setting;
    bool same = true;
    while (same && setting_next(&change, &setting)) {
        const char *value = own_value(&setting);
        value = value ? value : "";
        same = strlen(value) == setting.value_length && !strncmp(value, setting.value, setting.value_length);
    }
    return same;
}

/* The job's own values that a change replaces, NULL where it had none: "7", or "A=7,B=8" where the change is of several variables. */
static const char *replaced_by(struct session *session, const char *change)
{
    struct setting setting;
    struct buf all = {0};
    for (const char *rest = change; setting_next(&rest, &setting);) {
        const char *value = own_value(&setting);
        bool several = setting.name != change || *rest;
        if (!value)
            continue;
        if (several)
            buf_addf(&all, "%s%.*s=", all.length ? "," : "", (int)setting.name_length, setting.name);
        buf_adds(&all, value);
    }
    const char *clean = all.length ? without_secrets(session, buf_text(&all)) : NULL;
    buf_free(&all);
    return clean;
}

/* The facts that a place holder needs, where no probe has told them yet; the trial's own was looked at before. */
static dtkb_status gather_facts(struct session *session, const struct trial *trial)
{
    struct dtkb_diagnosis *diagnosis = session->diagnosis;
    const char *fact = trial_place_holder(trial->change, session->arena), *probe = fact ? kb_fact_probe(diagnosis->engine->kb, fact) : NULL;
    for (size_t i = 0; probe && i < diagnosis->facts.count; i++)
        if (fact_name_matches(fact, diagnosis->facts.facts[i].name))
            probe = NULL;
    if (!probe || !strcmp(probe, trial->probe) || is_spent(session))
        return DTKB_OK;
    const struct probe_options how = {.plugin_path = diagnosis->options.plugin_path,
                                      .params = NULL,
                                      .timeout = diagnosis->options.probe_timeout,
                                      .cancelled = diagnosis_cancelled,
                                      .context = diagnosis};
    struct probe_results results = {0};
    struct err ignored; /* a probe that is not there leaves the place holder empty */
    session->runs++;
    dtkb_status status = probe_run(diagnosis->engine->kb, &probe, 1, &how, &diagnosis->facts, &results, &ignored);
    probe_results_free(&results);
    return status == DTKB_E_NOMEM ? err_nomem(session->err) : DTKB_OK;
}

/* ---- trying ---- */

static dtkb_status keep(struct session *session, const struct trial_run *run)
{
    struct trial_runs *runs = &session->diagnosis->trials;
    struct trial_run *grown = arena_alloc(&runs->arena, (runs->count + 1) * sizeof *grown);
    if (!grown || !run->probe || !run->named || !run->rules_out || !run->change || !run->before_reason || !run->after_reason)
        return err_nomem(session->err);
    if (runs->count)
        memcpy(grown, runs->runs, runs->count * sizeof *grown);
    grown[runs->count++] = *run;
    runs->runs = grown;
    return DTKB_OK;
}

static void take_after(struct trial_run *run, const struct outcome *after)
{
    run->after = after->status;
    run->after_reason = after->reason;
    run->after_seconds = after->seconds;
    run->works = after->status == PROBE_OK;
}

/* A change that works must do so again, and the fault must still be there without it: some come and go. */
static dtkb_status confirm(struct session *session, struct trial_run *run)
{
    struct outcome again;
    dtkb_status status = DTKB_OK;
    while (status == DTKB_OK && run->works && run->confirmed < CONFIRMATIONS) {
        status = run_once(session, run->probe, run->change, NULL, &again);
        if (status == DTKB_OK)
            take_after(run, &again);
        run->confirmed += run->works;
    }
    if (status != DTKB_OK || !run->works)
        return status;
    status = run_once(session, run->probe, NULL, NULL, &again);
    if (status == DTKB_OK && again.status == PROBE_OK) {
        run->works = false;
        run->after_reason = "by now it works without the change as well: the fault comes and goes";
    }
    return status;
}

static dtkb_status try_change(struct session *session, const struct subject *subject, const struct trial *trial, const char *change)
{
    struct outcome after;
    dtkb_status status = run_once(session, subject->probe, change, NULL, &after);
    if (status != DTKB_OK)
        return status;
    struct trial_run run = {.probe = subject->probe,
                            .named = arena_strdup(session->arena, trial->change),
                            .rules_out = arena_strdup(session->arena, trial->rules_out ? trial->rules_out : ""),
                            .change = arena_strdup(session->arena, change),
                            .replaces = replaced_by(session, change),
                            .before = subject->before.status,
                            .before_reason = subject->before.reason,
                            .before_seconds = subject->before.seconds};
    take_after(&run, &after);
    status = confirm(session, &run);
    if (status == DTKB_OK)
        status = keep(session, &run);
    session->works = session->works || run.works;
    return status;
}

static dtkb_status try_trial(struct session *session, const struct trial *trial)
{
    struct subject *subject = find_subject(session, trial->probe);
    const char *changes[EXPANSIONS_MAX];
    if (!subject || is_spent(session) || trial_find(&session->diagnosis->trials, trial->probe, trial->change))
        return DTKB_OK;
    dtkb_status status = look_before(session, subject);
    if (status != DTKB_OK || !is_failure(subject->before.status))
        return status; /* nothing fails here: there is nothing to prove */
    status = gather_facts(session, trial);
    size_t count = trial_expand(trial->change, &session->diagnosis->facts, session->arena, changes, EXPANSIONS_MAX);
    for (size_t i = 0; status == DTKB_OK && !session->works && i < count && !is_spent(session); i++)
        if (!is_set_already(changes[i]))
            status = try_change(session, subject, trial, changes[i]);
    return status;
}

static dtkb_status try_causes_of(struct session *session, const json_t *report)
{
    dtkb_status status = DTKB_OK;
    const json_t *causes = json_object_get(report, "causes");
    for (size_t i = 0; status == DTKB_OK && !session->works && i < json_array_size(causes); i++) {
        const char *id = json_string_value(json_object_get(json_array_get(causes, i), "id"));
        const struct cause *cause;
        status = kb_cause_by_id(session->diagnosis->engine->kb, id ? id : "", &cause, session->err);
        for (size_t t = 0; status == DTKB_OK && !session->works && t < cause->trial_count; t++)
            status = try_trial(session, &cause->trials[t]);
    }
    return status;
}

/* ---- what the other causes name ---- */

struct idea {
    const struct trial *trial;
    unsigned causes; /* how many name it */
};

static int by_causes(const void *left, const void *right)
{
    const struct idea *l = left, *r = right;
    if (l->causes != r->causes)
        return l->causes > r->causes ? -1 : 1;
    return strcmp(l->trial->change, r->trial->change);
}

static bool add_idea(struct idea **ideas, size_t *count, const struct trial *trial)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp((*ideas)[i].trial->change, trial->change)) {
            (*ideas)[i].causes++;
            return true;
        }
    struct idea *grown = realloc(*ideas, (*count + 1) * sizeof *grown);
    if (!grown)
        return false;
    *ideas = grown;
    grown[(*count)++] = (struct idea){trial, 1};
    return true;
}

/* All that any cause names for this probe, the commonest first. */
static dtkb_status collect_ideas(struct session *session, const char *probe, struct idea **ideas, size_t *count)
{
    struct kb *kb = session->diagnosis->engine->kb;
    for (uint32_t i = 0; i < kb_cause_count(kb); i++) {
        const struct cause *cause;
        dtkb_status status = kb_cause(kb, i, &cause, session->err);
        if (status != DTKB_OK)
            return status;
        for (size_t t = 0; t < cause->trial_count; t++)
            if (!strcmp(cause->trials[t].probe, probe) && !add_idea(ideas, count, &cause->trials[t]))
                return err_nomem(session->err);
    }
    if (*count)
        qsort(*ideas, *count, sizeof **ideas, by_causes);
    return DTKB_OK;
}

static dtkb_status try_everything(struct session *session)
{
    const struct probe_results *results = &session->diagnosis->probes;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; status == DTKB_OK && !session->works && i < results->count; i++) {
        struct idea *ideas = NULL;
        size_t count = 0;
        if (!is_failure(results->results[i].status) || !find_subject(session, results->results[i].name))
            continue;
        status = collect_ideas(session, results->results[i].name, &ideas, &count);
        for (size_t k = 0; status == DTKB_OK && !session->works && k < count; k++)
            status = try_trial(session, ideas[k].trial);
        free(ideas);
    }
    return status;
}

dtkb_status trials_run(struct dtkb_diagnosis *diagnosis, const json_t *report, struct err *err)
{
    double budget = diagnosis->options.probe_budget > 0 ? diagnosis->options.probe_budget : DEFAULT_BUDGET;
    struct session session = {.diagnosis = diagnosis, .arena = &diagnosis->trials.arena, .until = seconds_now() + budget, .err = err};
    dtkb_status status = find_subjects(&session);
    if (status == DTKB_OK)
        status = try_causes_of(&session, report);
    if (status == DTKB_OK && !session.works)
        status = try_everything(&session);
    fact_set_sort(&diagnosis->facts);
    return status;
}

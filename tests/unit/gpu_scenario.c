#include "gpu_scenario.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../plugins/facts_xml.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

struct outcome {
    struct fact_set facts;
    struct probe_results results;
    char said[16384]; /* everything, for the message of a failure */
    size_t length;
    bool wrong;
    char wanted[1200]; /* the first thing that differs */
};

__attribute__((format(printf, 2, 3))) static void say(struct outcome *outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(outcome->said + outcome->length, sizeof outcome->said - outcome->length, format, args);
    va_end(args);
    if (n > 0 && outcome->length + (size_t)n < sizeof outcome->said)
        outcome->length += (size_t)n;
}

static void describe(struct outcome *outcome, const struct probe_result *result)
{
    char text[8192];
    say(outcome, "\n%s: %s in %.2f s: %s\nlog: %s\nprinted: %s\nevidence: %.4000s\n", result->name, probe_status_name(result->status),
        result->seconds, result->reason, result->log, result->output, result->evidence);
    for (size_t i = 0; i < outcome->facts.count; i++)
        say(outcome, "  %s = %s\n", outcome->facts.facts[i].name, fact_value_text(&outcome->facts.facts[i], text, sizeof text));
}

static bool fact_fits(const struct fact_set *facts, const char *wanted)
{
    char name[128], text[8192];
    size_t length = strcspn(wanted, "=~");
    (void)snprintf(name, sizeof name, "%.*s", (int)length, wanted);
    if (*wanted == '!')
        return !fact_set_find(facts, wanted + 1);
    const struct fact *fact = fact_set_find(facts, name);
    if (!fact)
        return false;
    const char *value = fact_value_text(fact, text, sizeof text);
    return wanted[length] == '=' ? !strcmp(value, wanted + length + 1) : strstr(value, wanted + length + 1) != NULL;
}

static void differ(struct outcome *outcome, const char *what, const char *wanted)
{
    if (!outcome->wrong)
        (void)snprintf(outcome->wanted, sizeof outcome->wanted, "expected %s: %s", what, wanted);
    outcome->wrong = true;
}

static bool any_wrong(const struct fact_set *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        if (facts->facts[i].wrong)
            return true;
    return false;
}

static void check(const struct scenario *scenario, struct outcome *outcome, const struct probe_result *result)
{
    char limit[32];
    if (result->status != scenario->status)
        differ(outcome, "status", probe_status_name(scenario->status));
    for (size_t i = 0; i < COUNT(scenario->reason) && scenario->reason[i]; i++)
        if (!strstr(result->reason, scenario->reason[i]))
            differ(outcome, "in the reason", scenario->reason[i]);
    for (size_t i = 0; i < COUNT(scenario->facts) && scenario->facts[i]; i++)
        if (!fact_fits(&outcome->facts, scenario->facts[i]))
            differ(outcome, "fact", scenario->facts[i]);
    if ((scenario->status == PROBE_FAULT) != any_wrong(&outcome->facts))
        differ(outcome, "facts marked as wrong", scenario->status == PROBE_FAULT ? "those that the fault consists in" : "none");
    if (scenario->evidence && !strstr(result->evidence, scenario->evidence))
        differ(outcome, "in the evidence", scenario->evidence);
    if (scenario->log && !strstr(result->log, scenario->log))
        differ(outcome, "in the log", scenario->log);
    (void)snprintf(limit, sizeof limit, "%.2f s", scenario->within);
    if (scenario->within > 0 && result->seconds > scenario->within)
        differ(outcome, "an end within", limit);
}

/* Runs the probe and compares; what differs stands in the outcome. */
static void perform(const struct scenario *scenario, struct outcome *outcome)
{
    xmlDoc *file = xmlReadFile(FACTS_XML, NULL, XML_PARSE_NONET);
    const struct vocabulary vocabulary = {.definition = facts_xml_definition, .context = file};
    const char *env[16] = {"PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0", ("TMPDIR=" FAKES)};
    size_t count = 3;
    for (size_t i = 0; i < COUNT(scenario->env) && scenario->env[i]; i++)
        env[count++] = scenario->env[i];
    const struct probe_options options = {.plugin_path = PLUGINS,
                                          .only_path = true,
                                          .env = env,
                                          .params = scenario->params[0] ? scenario->params : NULL,
                                          .timeout = scenario->timeout};
    struct err err = {.code = DTKB_OK};
    if (!file || probe_run_checked(&vocabulary, &scenario->probe, 1, &options, &outcome->facts, &outcome->results, &err) != DTKB_OK) {
        differ(outcome, "a run", err.text);
    } else {
        describe(outcome, &outcome->results.results[0]);
        check(scenario, outcome, &outcome->results.results[0]);
        probe_results_free(&outcome->results);
        fact_set_free(&outcome->facts);
    }
    xmlFreeDoc(file);
}

struct task {
    const struct scenario *scenario;
    struct outcome outcome;
    pthread_t thread;
};

static void *perform_task(void *argument)
{
    struct task *task = argument;
    perform(task->scenario, &task->outcome);
    return NULL;
}

void scenario_run_all(const struct scenario *scenarios, size_t count)
{
    struct task *tasks = calloc(count, sizeof *tasks);
    assert_non_null(tasks);
    xmlInitParser();
    for (size_t i = 0; i < count; i++) {
        tasks[i].scenario = &scenarios[i];
        assert_int_equal(pthread_create(&tasks[i].thread, NULL, perform_task, &tasks[i]), 0);
    }
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(tasks[i].thread, NULL);
    for (size_t i = 0; i < count; i++)
        if (tasks[i].outcome.wrong)
            fail_msg("%zu: %s%s", i, tasks[i].outcome.wanted, tasks[i].outcome.said);
    free(tasks);
}

void scenario_run(const struct scenario *scenario)
{
    scenario_run_all(scenario, 1);
}

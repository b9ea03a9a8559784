#include "gpu_scenario.h"

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

static void check(const struct scenario *scenario, struct outcome *outcome, const struct probe_result *result)
{
    if (result->status != scenario->status)
        fail_msg("expected %s%s", probe_status_name(scenario->status), outcome->said);
    for (size_t i = 0; i < COUNT(scenario->reason) && scenario->reason[i]; i++)
        if (!strstr(result->reason, scenario->reason[i]))
            fail_msg("expected '%s' in the reason%s", scenario->reason[i], outcome->said);
    for (size_t i = 0; i < COUNT(scenario->facts) && scenario->facts[i]; i++)
        if (!fact_fits(&outcome->facts, scenario->facts[i]))
            fail_msg("expected fact %s%s", scenario->facts[i], outcome->said);
    if (scenario->evidence && !strstr(result->evidence, scenario->evidence))
        fail_msg("expected evidence '%s'%s", scenario->evidence, outcome->said);
    if (scenario->log && !strstr(result->log, scenario->log))
        fail_msg("expected '%s' in the log%s", scenario->log, outcome->said);
    if (scenario->within > 0 && result->seconds > scenario->within)
        fail_msg("expected an end within %.2f s%s", scenario->within, outcome->said);
}

void scenario_run(const struct scenario *scenario)
{
    xmlDoc *file = xmlReadFile(FACTS_XML, NULL, XML_PARSE_NONET);
    assert_non_null(file);
    const struct vocabulary vocabulary = {.definition = facts_xml_definition, .context = file};
    const char *env[16] = {"PATH=/usr/bin:/bin", "ASAN_OPTIONS=detect_leaks=0"};
    size_t count = 2;
    for (size_t i = 0; i < COUNT(scenario->env) && scenario->env[i]; i++)
        env[count++] = scenario->env[i];
    const struct probe_options options = {.plugin_path = PLUGINS,
                                          .only_path = true,
                                          .env = env,
                                          .params = scenario->params[0] ? scenario->params : NULL,
                                          .timeout = scenario->timeout};
    struct outcome *outcome = calloc(1, sizeof *outcome);
    struct err err = {.code = DTKB_OK};
    assert_non_null(outcome);
    if (probe_run_checked(&vocabulary, &scenario->probe, 1, &options, &outcome->facts, &outcome->results, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    describe(outcome, &outcome->results.results[0]);
    check(scenario, outcome, &outcome->results.results[0]);
    probe_results_free(&outcome->results);
    fact_set_free(&outcome->facts);
    free(outcome);
    xmlFreeDoc(file);
}

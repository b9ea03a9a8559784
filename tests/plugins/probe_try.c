/* probe-try [--plugins DIR] [--proc DIR] [--sys DIR] [--dev DIR] [--env NAME=VALUE]... [--set KEY=VALUE]... [--timeout S] [NAME...]
 * Runs probes and prints what they said; without names every passive one. With --env the job's environment holds those variables only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fact.h"
#include "probe/probe.h"
#include "facts_xml.h"

struct words {
    const char *items[256];
    size_t count;
};

static void push(struct words *words, const char *word)
{
    if (words->count + 1 < sizeof words->items / sizeof *words->items)
        words->items[words->count++] = word;
}

static void print(const struct fact_set *facts, const struct probe_results *results)
{
    char text[8192];
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->facts[i];
        printf("%-40s %-6s %s%s%s  [%s: %s]\n", fact->name, fact_type_name(fact->type), fact_value_text(fact, text, sizeof text),
               *fact->unit ? " " : "", fact->unit, fact->plugin, fact->origin);
    }
    for (size_t i = 0; i < results->count; i++) {
        const struct probe_result *result = &results->results[i];
        printf("%s: %s in %.3f s: %s\n", result->name, probe_status_name(result->status), result->seconds, result->reason);
        if (*result->log)
            printf("  log: %s", result->log);
        if (*result->output)
            printf("  printed: %s\n", result->output);
        if (*result->evidence)
            printf("  evidence from %s:\n%s\n", result->evidence_source, result->evidence);
    }
}

int main(int argc, char **argv)
{
    struct words names = {.count = 0}, env = {.count = 0}, params = {.count = 0};
    struct probe_options options = {0};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (argv[i][0] != '-') {
            push(&names, argv[i]);
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--plugins"))
            options.plugin_path = value;
        else if (!strcmp(argv[i - 1], "--proc"))
            options.proc_root = value;
        else if (!strcmp(argv[i - 1], "--sys"))
            options.sys_root = value;
        else if (!strcmp(argv[i - 1], "--dev"))
            options.dev_root = value;
        else if (!strcmp(argv[i - 1], "--env"))
            push(&env, value);
        else if (!strcmp(argv[i - 1], "--set"))
            push(&params, value);
        else if (!strcmp(argv[i - 1], "--timeout"))
            options.timeout = atof(value);
        else
            return fprintf(stderr, "probe-try: unknown option %s\n", argv[i - 1]), 2;
    }
    options.env = env.count ? env.items : NULL;
    options.params = params.items;
    xmlDoc *vocabulary_file = xmlReadFile(FACTS_XML, NULL, XML_PARSE_NONET);
    if (!vocabulary_file)
        return 2;
    const struct vocabulary vocabulary = {.definition = facts_xml_definition, .context = vocabulary_file};
    struct fact_set facts = {0};
    struct probe_results results = {0};
    struct err err;
    if (probe_run_checked(&vocabulary, names.items, names.count, &options, &facts, &results, &err) != DTKB_OK)
        return fprintf(stderr, "probe-try: %s\n", err.text), 2;
    print(&facts, &results);
    probe_results_free(&results);
    fact_set_free(&facts);
    xmlFreeDoc(vocabulary_file);
    return 0;
}

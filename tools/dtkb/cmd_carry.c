/* The verbs that carry results elsewhere: collect and merge. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int run_collect(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    if (!options->output)
        return complain(command, EXIT_USAGE, "-o FILE is missing: where shall the bundle go?");
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    dtkb_diagnose_options how = diagnose_options(options);
    dtkb_diagnosis *diagnosis;
    dtkb_doc *report = NULL;
    dtkb_status done = dtkb_diagnosis_new(engine, &how, &diagnosis);
    if (done == DTKB_OK) {
        for (int i = 0; done == DTKB_OK && i < options->operand_count; i++)
            done = dtkb_feed_path(diagnosis, options->operands[i]);
        if (done == DTKB_OK)
            done = dtkb_conclude(diagnosis, &report); /* runs the probes whose facts belong into the bundle */
        if (done == DTKB_OK)
            done = dtkb_collect(diagnosis, options->output);
        dtkb_doc_free(report);
        dtkb_diagnosis_free(diagnosis);
    }
    if (done != DTKB_OK)
        status = engine_failed(command, engine, done);
    else
        fprintf(stderr, "%s: read by 'dtkb diagnose --from %s' on any machine\n", options->output, options->output);
    dtkb_close(engine);
    return status;
}

/* Reads a report that dtkb wrote as JSON; says on stderr why it can't. */
static dtkb_doc *read_report(const struct command *command, const char *path)
{
    char *text = NULL, why[DTKB_ERROR_TEXT_MAX];
    size_t length = 0, capacity = 0, got;
    dtkb_doc *doc = NULL;
    FILE *file = strcmp(path, "-") != 0 ? fopen(path, "r") : stdin;
    if (!file) {
        complain(command, 0, "%s: %s", path, strerror(errno));
        return NULL;
    }
    do {
        char *grown = length == capacity ? realloc(text, capacity = capacity ? capacity * 2 : 65536) : text;
        if (!grown)
            break;
        text = grown;
        got = fread(text + length, 1, capacity - length, file);
        length += got;
    } while (got);
    if (file != stdin)
        fclose(file);
    if (dtkb_doc_parse(text, length, &doc, why, sizeof why) != DTKB_OK)
        complain(command, 0, "%s: %s", path, why);
    free(text);
    return doc;
}

static int run_merge(const struct command *command, const struct options *options)
{
    size_t count = (size_t)options->operand_count;
    dtkb_doc **reports = calloc(count, sizeof *reports), *merged = NULL;
    char why[DTKB_ERROR_TEXT_MAX];
    int status = reports ? EXIT_CLEAN : EXIT_BROKEN;
    for (size_t i = 0; status == EXIT_CLEAN && i < count; i++)
        if (!(reports[i] = read_report(command, options->operands[i])))
            status = EXIT_USAGE;
    if (status == EXIT_CLEAN && dtkb_merge((const dtkb_doc *const *)reports, count, &merged, why, sizeof why) != DTKB_OK)
        status = complain(command, EXIT_USAGE, "%s", why);
    if (merged) {
        int verdict = verdict_exit(options, dtkb_doc_verdict(merged));
        status = write_document(command, options, merged);
        status = status ? status : verdict;
    }
    for (size_t i = 0; reports && i < count; i++)
        dtkb_doc_free(reports[i]);
    free(reports);
    return status;
}

const struct command command_collect = {
    .name = "collect",
    .operands = "[PATH...]",
    .summary = "write one bundle of evidence, facts and versions, secrets removed, to be diagnosed elsewhere",
    .details = "PATH as for diagnose. 'dtkb diagnose --from BUNDLE' answers on any machine as it would here.",
    .example = "dtkb collect train.log -o bundle.json",
    .options = OPTIONS_COMMON | OPTION(OPT_PROBE) | OPTION(OPT_TIMEOUT) | OPTION(OPT_BUDGET) | OPTION(OPT_SET) | OPTION(OPT_PLUGINS),
    .minimum = 0,
    .maximum = -1,
    .run = run_collect,
};
const struct command command_merge = {
    .name = "merge",
    .operands = "REPORT...",
    .summary = "join reports of several ranks or nodes (JSON) into one, and say what differs between them",
    .details = "REPORT is what --json printed; '-' is standard input. Exit status as of diagnose.",
    .example = "dtkb merge rank*.json",
    .options = OPTION(OPT_FORMAT) | OPTION(OPT_JSON) | OPTION(OPT_OUTPUT) | OPTION(OPT_COLOR) | OPTION(OPT_NAGIOS) | OPTION(OPT_HELP),
    .minimum = 1,
    .maximum = -1,
    .run = run_merge,
};

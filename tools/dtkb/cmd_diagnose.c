#include <stdio.h>
#include <unistd.h>

#include "cli.h"

static int conclude(const struct command *command, const struct options *options, dtkb *engine, dtkb_diagnosis *diagnosis)
{
    dtkb_doc *report;
    dtkb_status status = dtkb_conclude(diagnosis, &report);
    if (status != DTKB_OK)
        return failure_exit(options, engine_failed(command, engine, status));
    int verdict = verdict_exit(options, dtkb_doc_verdict(report));
    int written = write_document(command, options, report);
    return written ? failure_exit(options, written) : verdict;
}

static int feed(const struct command *command, const struct options *options, dtkb *engine, dtkb_diagnosis *diagnosis)
{
    dtkb_status status = options->from ? dtkb_feed_bundle(diagnosis, options->from) : DTKB_OK;
    for (int i = 0; status == DTKB_OK && i < options->operand_count; i++)
        status = dtkb_feed_path(diagnosis, options->operands[i]);
    /* Without an operand: what is piped in, or else the machine itself. */
    if (status == DTKB_OK && !options->operand_count && !options->from && !isatty(STDIN_FILENO))
        status = dtkb_feed_path(diagnosis, "-");
    return status == DTKB_OK ? -1 : failure_exit(options, engine_failed(command, engine, status));
}

static int run(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return failure_exit(options, status);
    dtkb_diagnose_options how = diagnose_options(options);
    dtkb_diagnosis *diagnosis;
    dtkb_status begun = dtkb_diagnosis_new(engine, &how, &diagnosis);
    if (begun != DTKB_OK) {
        status = failure_exit(options, engine_failed(command, engine, begun));
    } else {
        status = feed(command, options, engine, diagnosis);
        if (status < 0)
            status = conclude(command, options, engine, diagnosis);
        dtkb_diagnosis_free(diagnosis);
    }
    dtkb_close(engine);
    return status;
}

const struct command command_diagnose = {
    .name = "diagnose",
    .operands = "[PATH...]",
    .summary = "say what went wrong, how sure that is, what to do, and who met it before",
    .details = "PATH is a log, a directory of logs and dumps (one file per rank, say), a compressed file or an archive;\n"
               "'-' or nothing reads standard input; nothing on a terminal looks at the machine alone.\n"
               "Exit status: 0 nothing wrong found, 1 a fault found (also one whose cause is unknown), 2 wrong usage or\n"
               "unreadable input, 3 the knowledge base or the installation is broken.",
    .example = "dtkb diagnose train.log",
    .options = OPTIONS_COMMON | OPTION(OPT_PROBE) | OPTION(OPT_TIMEOUT) | OPTION(OPT_BUDGET) | OPTION(OPT_SET) | OPTION(OPT_TRY) |
               OPTION(OPT_NAGIOS) | OPTION(OPT_EXPLAIN) | OPTION(OPT_THREADS) | OPTION(OPT_PLUGINS) | OPTION(OPT_FROM),
    .minimum = 0,
    .maximum = -1,
    .run = run,
};

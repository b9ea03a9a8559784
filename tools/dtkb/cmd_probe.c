#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "launched.h"

static int run(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    launched_begin();
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return failure_exit(options, status);
    dtkb_diagnose_options how = diagnose_options(options);
    bool list = options->operand_count == 1 && !strcmp(options->operands[0], "list");
    char *names = options->operand_count ? join_operands(options, ",") : NULL;
    dtkb_doc *doc;
    dtkb_status done = list ? dtkb_plugins(engine, options->plugins, &doc) : dtkb_probe(engine, names, &how, &doc);
    if (done != DTKB_OK) {
        status = failure_exit(options, engine_failed(command, engine, done));
    } else {
        int verdict = list ? EXIT_CLEAN : verdict_exit(options, dtkb_doc_verdict(doc));
        int written = write_document(command, options, doc);
        status = written ? failure_exit(options, written) : verdict;
    }
    free(names);
    dtkb_close(engine);
    launched_end(status);
    return status;
}

const struct command command_probe = {
    .name = "probe",
    .operands = "[list | NAME...]",
    .summary = "look at the live machine: facts, what is broken, and the causes that explain it",
    .details = "Without a NAME every passive probe runs; active ones (small collectives, a GPU allocation) run when named.\n"
               "Under mpirun, srun or torchrun each rank writes its report: '-o rank-%r.json' names it by rank (%r) and host (%h), and\n"
               "'dtkb merge rank-*.json' joins them. Exit status as of diagnose.",
    .example = "dtkb probe host net --json",
    .options = OPTIONS_COMMON | OPTION(OPT_TIMEOUT) | OPTION(OPT_BUDGET) | OPTION(OPT_SET) | OPTION(OPT_TRY) | OPTION(OPT_NAGIOS) |
               OPTION(OPT_PLUGINS) | OPTION(OPT_EXPLAIN),
    .minimum = 0,
    .maximum = -1,
    .run = run,
};

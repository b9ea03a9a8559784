#include <string.h>

#include "cli.h"

static int run(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    const char *what = options->operands[0];
    bool list = !strcmp(what, "list"), check = !strcmp(what, "check") && options->operand_count == 2;
    if (!list && !check)
        return complain(command, EXIT_USAGE, "'%s': there are list and check FILE", what);
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    dtkb_doc *doc;
    dtkb_status done = list ? dtkb_plugins(engine, options->plugins, &doc) : dtkb_plugin_check(engine, options->operands[1], &doc);
    if (done != DTKB_OK) {
        status = engine_failed(command, engine, done);
    } else {
        bool broken = dtkb_doc_verdict(doc) == DTKB_VERDICT_FAULT;
        status = write_document(command, options, doc);
        if (!status && broken)
            status = EXIT_FOUND;
    }
    dtkb_close(engine);
    return status;
}

const struct command command_plugin = {
    .name = "plugin",
    .operands = "list | check FILE",
    .summary = "list the probe plugins, or run one against the whole contract",
    .details = "list    every plugin found, loadable or not, with path and reason\n"
               "check   each clause of the contract, passed or broken",
    .example = "dtkb plugin list",
    .options = OPTIONS_COMMON | OPTION(OPT_PLUGINS),
    .minimum = 1,
    .maximum = 2,
    .run = run,
};

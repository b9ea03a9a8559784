#include <string.h>

#include "cli.h"

/* Writes a project; says where. */
static int write_new(const struct command *command, const struct options *options)
{
    char why[DTKB_ERROR_TEXT_MAX];
    const char *name = options->operands[1];
    dtkb_status done = dtkb_plugin_new(name, options->language, options->output, why, sizeof why);
    if (done != DTKB_OK)
        return complain(command, status_exit(done), "%s", why);
    if (options->output)
        printf("%s: README.md says how to build and test it\n", options->output);
    else
        printf("dtkb-probe-%s: README.md says how to build and test it\n", name);
    return EXIT_CLEAN;
}

static dtkb_status ask(dtkb *engine, const struct options *options, dtkb_doc **doc)
{
    const char *what = options->operands[0], *operand = options->operands[1];
    if (!strcmp(what, "list"))
        return dtkb_plugins(engine, options->plugins, doc);
    if (!strcmp(what, "info"))
        return dtkb_plugin_info(engine, operand, options->plugins, doc);
    return dtkb_plugin_check(engine, operand, doc);
}

static int run(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    const char *what = options->operands[0];
    bool list = !strcmp(what, "list"), create = !strcmp(what, "new");
    bool known = list || create || !strcmp(what, "info") || !strcmp(what, "check");
    if (!known || options->operand_count != (list ? 1 : 2))
        return complain(command, EXIT_USAGE, "'%s': there are list, info NAME, check FILE and new NAME", what);
    if (create)
        return write_new(command, options);
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    dtkb_doc *doc;
    dtkb_status done = ask(engine, options, &doc);
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
    .operands = "list | info NAME | check FILE | new NAME",
    .summary = "list the probe plugins, run one against the whole contract, or begin one",
    .details = "list    every plugin found, loadable or not, with path and reason\n"
               "info    one of them, with its facts and parameters\n"
               "check   each clause of the contract, passed or broken\n"
               "new     a project to begin with (-o: its folder), with a knowledge pack and a test",
    .example = "dtkb plugin new fabric --lang python && sh dtkb-probe-fabric/test.sh",
    .options = OPTIONS_COMMON | OPTION(OPT_PLUGINS) | OPTION(OPT_LANG),
    .minimum = 1,
    .maximum = 2,
    .run = run,
};

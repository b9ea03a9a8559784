#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int run_info(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN;
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    dtkb_doc *doc;
    dtkb_status asked = dtkb_kb_info(engine, &doc);
    status = asked == DTKB_OK ? write_document(command, options, doc) : engine_failed(command, engine, asked);
    dtkb_close(engine);
    return status;
}

static int run_check(const struct command *command, const struct options *options, const char *const *paths, size_t count)
{
    char why[DTKB_ERROR_TEXT_MAX];
    dtkb_doc *doc = NULL;
    dtkb_status checked = dtkb_kb_check_healthy(paths, count, &options->healthy, options->healthy != NULL, &doc, why, sizeof why);
    if (!doc)
        return complain(command, status_exit(checked), "%s", why);
    int written = write_document(command, options, doc);
    return written ? written : checked == DTKB_OK ? EXIT_CLEAN : EXIT_FOUND;
}

static int run_build(const struct command *command, const struct options *options)
{
    char why[DTKB_ERROR_TEXT_MAX];
    if (options->operand_count != 2)
        return complain(command, EXIT_USAGE, "build: give the knowledge folder; -o names the file (default kb.db)");
    const char *file = options->output ? options->output : "kb.db";
    dtkb_status built = dtkb_kb_build(options->operands[1], file, why, sizeof why);
    return built == DTKB_OK ? EXIT_CLEAN : complain(command, status_exit(built), "%s", why);
}

/* How far a long import is, on a terminal only. */
static void show_progress(void *context, uint64_t done, uint64_t total)
{
    int *percent = context;
    int now = total ? (int)(100.0 * (double)done / (double)total) : 0;
    if (now == *percent)
        return;
    *percent = now;
    fprintf(stderr, "\r%3d %%", now);
    fflush(stderr);
}

/* A dump into a layer of the user's own. */
static int run_import_dump(const struct command *command, const struct options *options)
{
    int status = EXIT_CLEAN, percent = -1;
    if (options->operand_count != 2 || !options->output)
        return complain(command, EXIT_USAGE, "import: give one dump, and with -o the layer to write; or --study for the study's sheet");
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    bool terminal = isatty(STDERR_FILENO);
    dtkb_doc *doc;
    dtkb_status done = dtkb_kb_import(engine, options->operands[1], options->output, terminal ? show_progress : NULL, &percent, &doc);
    if (terminal && percent >= 0)
        fputs("\r     \r", stderr);
    if (done == DTKB_OK) {
        puts(dtkb_doc_json(doc));
        dtkb_doc_free(doc);
    } else {
        status = engine_failed(command, engine, done);
    }
    dtkb_close(engine);
    return status;
}

static int run_import(const struct command *command, const struct options *options)
{
    char why[DTKB_ERROR_TEXT_MAX];
    if (!options->study)
        return run_import_dump(command, options);
    if (!options->notes || !options->taxonomy || options->operand_count != 2)
        return complain(command, EXIT_USAGE,
                        "import: give --study FILE.xlsx --notes FILE.jsonl --taxonomy FILE.xml and the folder to write");
    dtkb_status done = dtkb_kb_import_study(options->study, options->notes, options->taxonomy, options->operands[1], why, sizeof why);
    return done == DTKB_OK ? EXIT_CLEAN : complain(command, status_exit(done), "%s", why);
}

static int run(const struct command *command, const struct options *options)
{
    const char *what = options->operands[0];
    if (!strcmp(what, "info"))
        return run_info(command, options);
    if (!strcmp(what, "check") && options->operand_count > 1)
        return run_check(command, options, (const char *const *)options->operands + 1, (size_t)options->operand_count - 1);
    if (!strcmp(what, "check"))
        return complain(command, EXIT_USAGE, "check: name the packs or the knowledge folder to check");
    if (!strcmp(what, "build"))
        return run_build(command, options);
    if (!strcmp(what, "import"))
        return run_import(command, options);
    return complain(command, EXIT_USAGE, "no action '%s'; there are info, check, build, import", what);
}

const struct command command_kb = {
    .name = "kb",
    .operands = "info | check PATH... | build FOLDER | import DUMP | import FOLDER",
    .summary = "make and check knowledge bases and packs",
    .details =
        "info    what the knowledge base in use holds\n"
        "check   packs or a knowledge folder: grammar, labels, facts, samples and near misses, signatures that fire on others' samples,\n"
        "        and with --healthy on logs of jobs that ran well\n"
        "build   compile a knowledge folder into the file that -o names\n"
        "import  Posts.xml of a Stack Exchange dump, or issues as GitHub's REST interface gives them, into the layer that -o names\n"
        "import  the study's sheet (--study) and reading notes (--notes) into reviewed text",
    .example = "dtkb kb check my-pack.xml",
    .options = OPTIONS_COMMON | OPTION(OPT_STUDY) | OPTION(OPT_NOTES) | OPTION(OPT_TAXONOMY) | OPTION(OPT_HEALTHY),
    .minimum = 1,
    .maximum = -1,
    .run = run,
};

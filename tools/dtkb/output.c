/* From the library's documents to stdout, and from its statuses to ours. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "launched.h"

int status_exit(dtkb_status status)
{
    switch (status) {
    case DTKB_OK:
        return EXIT_CLEAN;
    case DTKB_E_KB:
    case DTKB_E_KB_NEWER:
    case DTKB_E_NOMEM:
    case DTKB_E_INTERNAL:
        return EXIT_BROKEN;
    default:
        return EXIT_USAGE;
    }
}

int engine_failed(const struct command *command, dtkb *engine, dtkb_status status)
{
    return complain(command, status_exit(status), "%s", dtkb_error(engine));
}

dtkb *open_engine(const struct command *command, const struct options *options, int *status)
{
    dtkb_open_options open = DTKB_OPEN_OPTIONS_INIT;
    char why[DTKB_ERROR_TEXT_MAX];
    dtkb *engine = NULL;
    open.kb = options->kb;
    open.packs = options->packs;
    open.pack_count = options->pack_count;
    dtkb_status opened = dtkb_open(&engine, &open, why, sizeof why);
    if (opened != DTKB_OK)
        *status = complain(command, status_exit(opened), "%s", why);
    return engine;
}

static unsigned terminal_width(FILE *stream)
{
    struct winsize size;
    if (isatty(fileno(stream)) && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col < 120 ? size.ws_col : 120;
    return 100;
}

static int wants_color(const struct options *options, FILE *stream)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (strcmp(options->color, "auto") != 0)
        return !strcmp(options->color, "always");
    return !options->output && isatty(fileno(stream)) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

static int write_bytes(void *context, const void *bytes, size_t length)
{
    return fwrite(bytes, 1, length, context) != length;
}

int write_document(const struct command *command, const struct options *options, dtkb_doc *doc)
{
    return write_document_to(command, options, doc, stdout);
}

int write_document_to(const struct command *command, const struct options *options, dtkb_doc *doc, FILE *stream)
{
    dtkb_write_options how = DTKB_WRITE_OPTIONS_INIT;
    how.width = terminal_width(stream);
    how.color = wants_color(options, stream);
    char name[PATH_MAX];
    FILE *out = options->output ? fopen(launched_file_name(options->output, name, sizeof name), "w") : stream;
    if (!out) {
        dtkb_doc_free(doc);
        return complain(command, EXIT_USAGE, "%s: %s", name, strerror(errno));
    }
    dtkb_status status = dtkb_doc_write(doc, options->format, &how, write_bytes, out);
    int failed = ferror(out) || fflush(out) != 0;
    if (options->output)
        failed = fclose(out) != 0 || failed;
    dtkb_doc_free(doc);
    if (status == DTKB_E_UNSUPPORTED)
        return complain(command, EXIT_USAGE, "this result has no such format; text and json always work");
    if (failed || status != DTKB_OK)
        return complain(command, EXIT_USAGE, "%s: could not be written", options->output ? options->output : "standard output");
    return EXIT_CLEAN;
}

int verdict_exit(const struct options *options, dtkb_verdict verdict)
{
    static const int nagios[] = {3, 0, 2, 3};
    if (options->nagios)
        return nagios[verdict];
    return verdict == DTKB_VERDICT_NO_FAULT ? EXIT_CLEAN : EXIT_FOUND;
}

int failure_exit(const struct options *options, int status)
{
    return options->nagios ? 3 : status;
}

dtkb_diagnose_options diagnose_options(const struct options *options)
{
    dtkb_diagnose_options out = DTKB_DIAGNOSE_OPTIONS_INIT;
    out.probes = options->probe ? options->probe : "auto";
    out.plugin_path = options->plugins;
    out.parameters = options->parameters;
    out.parameter_count = options->parameter_count;
    out.probe_timeout = options->timeout;
    out.probe_budget = options->budget;
    out.try_fixes = options->try_fixes;
    out.threads = options->threads;
    out.explain_scores = options->explain;
    return out;
}

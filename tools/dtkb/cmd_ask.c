/* The verbs that ask the knowledge base: search, show, explain, stats, taxonomy. */
#include <stdlib.h>

#include "cli.h"

/* Opens the engine, lets `ask` make a document, and writes it. */
static int answer(const struct command *command, const struct options *options,
                  dtkb_status (*ask)(dtkb *, const struct options *, dtkb_doc **))
{
    int status = EXIT_CLEAN;
    dtkb *engine = open_engine(command, options, &status);
    if (!engine)
        return status;
    dtkb_doc *doc;
    dtkb_status asked = ask(engine, options, &doc);
    status = asked == DTKB_OK ? write_document(command, options, doc) : engine_failed(command, engine, asked);
    dtkb_close(engine);
    return status;
}

static dtkb_status ask_search(dtkb *engine, const struct options *options, dtkb_doc **doc)
{
    dtkb_query query = DTKB_QUERY_INIT;
    char *text = join_operands(options, " ");
    if (!text)
        return DTKB_E_NOMEM;
    query.text = text;
    query.framework = options->framework;
    query.stage = options->stage;
    query.symptom = options->symptom;
    query.fix = options->fix;
    query.kind = options->kind;
    query.source = options->source;
    query.limit = options->limit;
    dtkb_status status = dtkb_search(engine, &query, doc);
    free(text);
    return status;
}

static dtkb_status ask_show(dtkb *engine, const struct options *options, dtkb_doc **doc)
{
    return dtkb_show(engine, options->operands[0], doc);
}

static dtkb_status ask_explain(dtkb *engine, const struct options *options, dtkb_doc **doc)
{
    return dtkb_explain(engine, options->operands[0], doc);
}

static dtkb_status ask_stats(dtkb *engine, const struct options *options, dtkb_doc **doc)
{
    (void)options;
    return dtkb_stats(engine, doc);
}

static dtkb_status ask_taxonomy(dtkb *engine, const struct options *options, dtkb_doc **doc)
{
    (void)options;
    return dtkb_taxonomy(engine, doc);
}

static int run_search(const struct command *command, const struct options *options)
{
    return answer(command, options, ask_search);
}

static int run_show(const struct command *command, const struct options *options)
{
    return answer(command, options, ask_show);
}

static int run_explain(const struct command *command, const struct options *options)
{
    return answer(command, options, ask_explain);
}

static int run_stats(const struct command *command, const struct options *options)
{
    return answer(command, options, ask_stats);
}

static int run_taxonomy(const struct command *command, const struct options *options)
{
    return answer(command, options, ask_taxonomy);
}

const struct command command_search = {
    .name = "search",
    .operands = "QUERY...",
    .summary = "search the issues: words, \"phrases\", -without, field:word; or paste an error line",
    .details = "Fields: title, error, cause, fix, component. All words are wanted; where no issue has them all, the best fits are\n"
               "shown. Any text is a valid query. A filter that matches nothing is an error.",
    .example = "dtkb search --framework horovod \"libcudart cannot open shared object\"",
    .options = OPTIONS_COMMON | OPTION(OPT_LIMIT) | OPTION(OPT_FRAMEWORK) | OPTION(OPT_STAGE) | OPTION(OPT_SYMPTOM) | OPTION(OPT_FIX) |
               OPTION(OPT_KIND) | OPTION(OPT_SOURCE),
    .minimum = 1,
    .maximum = -1,
    .run = run_search,
};
const struct command command_show = {
    .name = "show",
    .operands = "ID",
    .summary = "show one issue of the knowledge base, by id or URL",
    .details = "What nobody has read yet is shown with its labels only.",
    .example = "dtkb show horovod-1370",
    .options = OPTIONS_COMMON,
    .minimum = 1,
    .maximum = 1,
    .run = run_show,
};
const struct command command_explain = {
    .name = "explain",
    .operands = "CAUSE",
    .summary = "explain one cause: what happens, how it shows, what to do",
    .details = "CAUSE is an id as the reports name it.",
    .example = "dtkb explain shm-too-small-nccl",
    .options = OPTIONS_COMMON,
    .minimum = 1,
    .maximum = 1,
    .run = run_explain,
};
const struct command command_stats = {
    .name = "stats",
    .operands = "",
    .summary = "the study's tables: faults by stage and symptom, fixes by symptom, how-to topics",
    .details = "Counts are of the issues in the knowledge base, packs included.",
    .example = "dtkb stats --json",
    .options = OPTIONS_COMMON,
    .run = run_stats,
};
const struct command command_taxonomy = {
    .name = "taxonomy",
    .operands = "",
    .summary = "stages, symptoms, fix patterns and topics with their definitions",
    .details = "These ids are what filters take and reports name.",
    .example = "dtkb taxonomy",
    .options = OPTIONS_COMMON,
    .run = run_taxonomy,
};

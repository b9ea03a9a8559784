/* The command line: what its verbs share. A verb is one file and one row in main.c. */
#ifndef DTKB_CLI_H
#define DTKB_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <dtkb/dtkb.h>

/* Exit statuses (also in the man page): of diagnose and probe the first two carry the verdict. */
enum { EXIT_CLEAN = 0, EXIT_FOUND = 1, EXIT_USAGE = 2, EXIT_BROKEN = 3 };

/* Every option of every verb, parsed into one struct; a verb takes those whose bit is in its mask. */
enum option_id {
    OPT_FORMAT,
    OPT_JSON,
    OPT_OUTPUT,
    OPT_KB,
    OPT_PACK,
    OPT_COLOR,
    OPT_PROBE,
    OPT_TIMEOUT,
    OPT_BUDGET,
    OPT_SET,
    OPT_TRY,
    OPT_NAGIOS,
    OPT_EXPLAIN,
    OPT_THREADS,
    OPT_LIMIT,
    OPT_FRAMEWORK,
    OPT_STAGE,
    OPT_SYMPTOM,
    OPT_FIX,
    OPT_KIND,
    OPT_SOURCE,
    OPT_STUDY,
    OPT_NOTES,
    OPT_TAXONOMY,
    OPT_HEALTHY,
    OPT_PLUGINS,
    OPT_FROM,
    OPT_STALL,
    OPT_LANG,
    OPT_HELP,
    OPT_COUNT
};
#define OPTION(id) (1ull << (id))
#define OPTIONS_COMMON \
    (OPTION(OPT_FORMAT) | OPTION(OPT_JSON) | OPTION(OPT_OUTPUT) | OPTION(OPT_KB) | OPTION(OPT_PACK) | OPTION(OPT_COLOR) | OPTION(OPT_HELP))

#define LIST_MAX 64
struct options {
    dtkb_format format;
    const char *output, *kb, *color, *probe, *framework, *stage, *symptom, *fix, *kind, *source, *study, *notes, *taxonomy, *healthy,
        *plugins, *from, *language;
    const char *packs[LIST_MAX], *parameters[LIST_MAX];
    size_t pack_count, parameter_count;
    double timeout, budget, stall;
    unsigned threads;
    size_t limit;
    bool nagios, explain, try_fixes;
    char **operands;
    int operand_count;
};

struct command {
    const char *name, *operands, *summary, *details, *example;
    unsigned long long options;
    int minimum, maximum; /* operands; maximum -1: any */
    bool command_line;    /* the operands are a command: options end at the first of them */
    int (*run)(const struct command *command, const struct options *options);
};

/* One line on stderr, "dtkb VERB: text"; returns `status`, so that `return complain(...)` reads well. */
__attribute__((format(printf, 3, 4))) int complain(const struct command *command, int status, const char *format, ...);

/* The exit status that a failed library call means. */
int status_exit(dtkb_status status);

/* Parses argv[1..] of a verb. Returns -1 to go on, else the exit status (help was shown, or a mistake was named). */
int options_parse(const struct command *command, int argc, char **argv, struct options *out);
/* The operands as one text; the caller frees it. NULL when out of memory. */
char *join_operands(const struct options *options, const char *separator);
void command_help(const struct command *command);

/* Opens the knowledge base the options name; says on stderr why it can't. NULL then, and `*status` is the exit status. */
dtkb *open_engine(const struct command *command, const struct options *options, int *status);

/* Renders a document to stdout or -o FILE and frees it. Returns 0, or the exit status of a failure. */
int write_document(const struct command *command, const struct options *options, dtkb_doc *doc);

/* The same with another stream than stdout where no -o is given. */
int write_document_to(const struct command *command, const struct options *options, dtkb_doc *doc, FILE *stream);

/* Says on stderr what went wrong on the handle, and returns the exit status for it. */
int engine_failed(const struct command *command, dtkb *engine, dtkb_status status);

/* 0, 1 or, with --nagios, 0..3, by the verdict. */
int verdict_exit(const struct options *options, dtkb_verdict verdict);

/* The exit status of a failure of our own: as it is, or 3 (unknown) with --nagios. */
int failure_exit(const struct options *options, int status);

/* What the options say, for dtkb_diagnosis_new() and dtkb_probe(). */
dtkb_diagnose_options diagnose_options(const struct options *options);

extern const struct command *const commands[];
extern const size_t command_count;

/* An option as help, manual and completion show it. */
struct option_text {
    const char *name, *argument, *help; /* argument: NULL when it takes none */
    char letter;                        /* 0 for none */
};
struct option_text option_text(enum option_id id);

extern const struct command command_diagnose, command_probe, command_search, command_show, command_explain, command_stats, command_taxonomy,
    command_kb, command_plugin, command_run, command_mcp, command_collect, command_merge;

#endif

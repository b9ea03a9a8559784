/* Options: one table, from which parsing, --help and the mask of each verb come. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct option_text table[OPT_COUNT] = {
    [OPT_FORMAT] = {"format", "FORMAT", "text (default), json, markdown, sarif, junit, html or github", 'f'},
    [OPT_JSON] = {"json", NULL, "short for --format json", 0},
    [OPT_OUTPUT] = {"output", "FILE", "write the result to FILE instead of stdout", 'o'},
    [OPT_KB] = {"kb", "FILE", "use this knowledge base (else DTKB_KB, else the installed one)", 0},
    [OPT_PACK] = {"pack", "FILE", "lay this knowledge pack over it; may be given again", 0},
    [OPT_COLOR] = {"color", "WHEN", "auto (default), always or never; NO_COLOR is honoured", 0},
    [OPT_PROBE] = {"probe", "WHICH", "auto (those that would tell causes apart), none, all, or names joined by commas", 'p'},
    [OPT_TIMEOUT] = {"timeout", "SECONDS", "deadline of each probe", 0},
    [OPT_BUDGET] = {"budget", "SECONDS", "time for all probes together (default 60)", 0},
    [OPT_SET] = {"set", "KEY=VALUE", "parameter for probes, or PROBE.KEY=VALUE for one; may be given again", 0},
    [OPT_TRY] = {"try", NULL, "run the trials of the causes: one change at a time, on a small collective", 0},
    [OPT_NAGIOS] = {"nagios", NULL, "exit 0 ok, 1 warning, 2 critical, 3 unknown, as monitoring systems read it", 0},
    [OPT_EXPLAIN] = {"explain-scores", NULL, "show every term of the scores", 0},
    [OPT_THREADS] = {"threads", "N", "threads for large logs (default: as many as pay)", 0},
    [OPT_LIMIT] = {"limit", "N", "at most N results (default 10)", 'n'},
    [OPT_FRAMEWORK] = {"framework", "NAME", "only issues of this framework: horovod, pytorch, tensorflow, keras", 0},
    [OPT_STAGE] = {"stage", "ID", "only issues of this stage", 0},
    [OPT_SYMPTOM] = {"symptom", "ID", "only issues with this symptom ('dtkb taxonomy' lists them)", 0},
    [OPT_FIX] = {"fix", "ID", "only issues cured by this fix pattern", 0},
    [OPT_KIND] = {"kind", "KIND", "only fault or how-to", 0},
    [OPT_SOURCE] = {"source", "NAME", "only github or stackoverflow", 0},
    [OPT_STUDY] = {"study", "FILE.xlsx", "the study's sheet to import", 0},
    [OPT_NOTES] = {"notes", "FILE.jsonl", "reading notes to join with it", 0},
    [OPT_TAXONOMY] = {"taxonomy", "FILE.xml", "the taxonomy whose spellings normalise the labels", 0},
    [OPT_HEALTHY] = {"healthy", "DIR", "logs of jobs that ran well (*.log): which signatures fire there, or are looked at too often", 0},
    [OPT_PLUGINS] = {"plugin-path", "DIRS", "directories to search first for plugins, joined by ':'", 0},
    [OPT_FROM] = {"from", "BUNDLE", "diagnose a bundle made by 'dtkb collect' instead of a log", 0},
    [OPT_STALL] = {"stall", "SECONDS", "after so long without output say what the job's processes wait in", 0},
    [OPT_LANG] = {"lang", "LANGUAGE", "of a new plugin: c (default), sh or python", 0},
    [OPT_HELP] = {"help", NULL, "this text", 'h'},
};

int complain(const struct command *command, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "dtkb %s: ", command->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

struct option_text option_text(enum option_id id)
{
    return table[id];
}

void command_help(const struct command *command)
{
    printf("usage: dtkb %s [OPTION...]%s%s\n\n%s\n\n%s\n\nOptions:\n", command->name, *command->operands ? " " : "", command->operands,
           command->summary, command->details);
    for (int id = 0; id < OPT_COUNT; id++) {
        char left[64], letter[8] = "    ";
        if (!(command->options & OPTION(id)))
            continue;
        if (table[id].letter)
            (void)snprintf(letter, sizeof letter, "-%c, ", table[id].letter);
        (void)snprintf(left, sizeof left, "%s--%s%s%s", letter, table[id].name, table[id].argument ? " " : "",
                       table[id].argument ? table[id].argument : "");
        printf("  %-26s %s\n", left, table[id].help);
    }
    printf("\nExample:\n  %s\n", command->example);
}

static int parse_format(const char *text, dtkb_format *out)
{
    static const char *const names[] = {"text", "json", "markdown", "sarif", "junit", "html", "github"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i]))
            return *out = (dtkb_format)i, 1;
    return 0;
}

/* A positive number up to `limit`; 0 and a message otherwise. */
static double parse_number(const struct command *command, enum option_id id, const char *text, double limit)
{
    char *end;
    double value = strtod(text, &end);
    if (*end || end == text || !(value > 0) || value > limit) {
        complain(command, 0, "--%s: '%s' is no number above 0 and up to %g", table[id].name, text, limit);
        return 0;
    }
    return value;
}

static int add_to_list(const struct command *command, enum option_id id, const char **list, size_t *count, const char *value)
{
    if (*count == LIST_MAX - 1)
        return complain(command, 0, "--%s: more than %d of them", table[id].name, LIST_MAX - 1);
    list[(*count)++] = value;
    return 1;
}

/* Stores one option; 0 when it makes no sense (said on stderr). */
static int store(const struct command *command, enum option_id id, const char *value, struct options *out)
{
    const char **strings[OPT_COUNT] = {
        [OPT_OUTPUT] = &out->output,   [OPT_KB] = &out->kb,           [OPT_PROBE] = &out->probe,   [OPT_FRAMEWORK] = &out->framework,
        [OPT_STAGE] = &out->stage,     [OPT_SYMPTOM] = &out->symptom, [OPT_FIX] = &out->fix,       [OPT_KIND] = &out->kind,
        [OPT_SOURCE] = &out->source,   [OPT_STUDY] = &out->study,     [OPT_NOTES] = &out->notes,   [OPT_TAXONOMY] = &out->taxonomy,
        [OPT_PLUGINS] = &out->plugins, [OPT_FROM] = &out->from,       [OPT_LANG] = &out->language, [OPT_HEALTHY] = &out->healthy,
    };
    if (strings[id])
        return *strings[id] = value, 1;
    switch (id) {
    case OPT_FORMAT:
        return parse_format(value, &out->format) ||
               complain(command, 0, "--format: no format '%s'; there are %s", value, table[OPT_FORMAT].help);
    case OPT_JSON:
        return out->format = DTKB_FORMAT_JSON, 1;
    case OPT_COLOR:
        if (strcmp(value, "auto") != 0 && strcmp(value, "always") != 0 && strcmp(value, "never") != 0)
            return complain(command, 0, "--color: '%s' is none of auto, always, never", value);
        return out->color = value, 1;
    case OPT_PACK:
        return add_to_list(command, id, out->packs, &out->pack_count, value);
    case OPT_SET:
        if (!strchr(value, '='))
            return complain(command, 0, "--set: '%s' is no KEY=VALUE", value);
        return add_to_list(command, id, out->parameters, &out->parameter_count, value);
    case OPT_TIMEOUT:
        return (out->timeout = parse_number(command, id, value, 86400)) > 0;
    case OPT_BUDGET:
        return (out->budget = parse_number(command, id, value, 86400)) > 0;
    case OPT_STALL:
        return (out->stall = parse_number(command, id, value, 86400)) > 0;
    case OPT_THREADS:
        return (out->threads = (unsigned)parse_number(command, id, value, 256)) > 0;
    case OPT_LIMIT:
        return (out->limit = (size_t)parse_number(command, id, value, 1000000)) > 0;
    case OPT_NAGIOS:
        return out->nagios = true, 1;
    case OPT_EXPLAIN:
        return out->explain = true, 1;
    case OPT_TRY:
        return out->try_fixes = true, 1;
    default:
        return 1;
    }
}

char *join_operands(const struct options *options, const char *separator)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    for (int i = 0; out && i < options->operand_count; i++)
        fprintf(out, "%s%s", i ? separator : "", options->operands[i]);
    if (out && fclose(out) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static int check_operands(const struct command *command, const struct options *options)
{
    if (options->operand_count < command->minimum)
        return complain(command, EXIT_USAGE, "%s is missing; 'dtkb %s --help' explains", command->operands, command->name);
    if (command->maximum >= 0 && options->operand_count > command->maximum)
        return complain(command, EXIT_USAGE, "'%s' is one operand too many; 'dtkb %s --help' explains", options->operands[command->maximum],
                        command->name);
    return -1;
}

int options_parse(const struct command *command, int argc, char **argv, struct options *out)
{
    struct option longs[OPT_COUNT + 1];
    char shorts[3 * OPT_COUNT + 3] = ":";
    int long_count = 0;
    if (command->command_line)
        strcpy(shorts, "+:");
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!(command->options & OPTION(id)))
            continue;
        longs[long_count++] = (struct option){table[id].name, table[id].argument ? required_argument : no_argument, NULL, 256 + id};
        if (table[id].letter)
            (void)snprintf(shorts + strlen(shorts), sizeof shorts - strlen(shorts), "%c%s", table[id].letter,
                           table[id].argument ? ":" : "");
    }
    longs[long_count] = (struct option){0};
    *out = (struct options){.color = "auto"};
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (code == '?' || code == ':')
            return complain(command, EXIT_USAGE, code == ':' ? "'%s' needs a value" : "no option '%s'; 'dtkb COMMAND --help' lists them",
                            argv[optind - 1]);
        int id = code - 256;
        for (int i = 0; code < 256 && i < OPT_COUNT; i++)
            if (table[i].letter == code)
                id = i;
        if (id == OPT_HELP) {
            command_help(command);
            return EXIT_CLEAN;
        }
        if (!store(command, (enum option_id)id, optarg, out))
            return EXIT_USAGE;
    }
    out->operands = argv + optind;
    out->operand_count = argc - optind;
    return check_operands(command, out);
}

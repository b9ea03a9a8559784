/* dtkb-eval: how often the answers are right, on cases with known answers. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"

static const char usage[] =
    "usage: dtkb-eval [--kb FILE [--against FILE]] [--wrong] [--recorded FILE [--record]] CASES...\n\n"
    "CASES   a .jsonl file with one case a line, an index.json beside its logs, a knowledge pack with reports (.xml), or a folder\n"
    "        of logs without a fault\n"
    "--kb        the knowledge base to measure (default: the one dtkb uses)\n"
    "--against   a second knowledge base, measured on the same cases\n"
    "--wrong     print each wrong answer\n"
    "--recorded  figures that must not drop; exit status 1 when one does\n"
    "--record    write the figures to that file instead\n";

struct settings {
    const char *kb, *against, *recorded;
    bool wrong, record;
};

static bool measure(const char *kb, const struct settings *settings, char **cases, int count, struct figures *figures)
{
    dtkb_open_options open = DTKB_OPEN_OPTIONS_INIT;
    char why[DTKB_ERROR_TEXT_MAX];
    dtkb *engine;
    open.kb = kb;
    open.no_default_packs = 1;
    if (dtkb_open(&engine, &open, why, sizeof why) != DTKB_OK)
        return fprintf(stderr, "dtkb-eval: %s\n", why), false;
    bool ok = true;
    for (int i = 0; i < count; i++)
        ok = eval_file(engine, cases[i], &figures[i], settings->wrong ? stdout : NULL) && ok;
    dtkb_close(engine);
    return ok;
}

/* Recorded figures are named by the last two parts of the path, so that they hold in every checkout. */
static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    while (slash && slash > path && *--slash != '/')
        ;
    return slash && *slash == '/' ? slash + 1 : path;
}

static int against_recorded(const struct settings *settings, char **cases, int count, const struct figures *figures)
{
    if (settings->record) {
        json_t *all = json_object();
        for (int i = 0; i < count; i++)
            json_object_set_new(all, short_name(cases[i]), figures_json(&figures[i]));
        int failed = json_dump_file(all, settings->recorded, JSON_INDENT(2));
        json_decref(all);
        return failed ? (perror(settings->recorded), 2) : 0;
    }
    json_error_t where;
    json_t *recorded = json_load_file(settings->recorded, 0, &where);
    if (!recorded)
        return fprintf(stderr, "dtkb-eval: %s:%d: %s\n", settings->recorded, where.line, where.text), 2;
    size_t dropped = 0;
    for (int i = 0; i < count; i++)
        dropped += compare_figures(recorded, short_name(cases[i]), &figures[i]);
    json_decref(recorded);
    return dropped ? 1 : 0;
}

static int evaluate(const struct settings *settings, char **cases, int count)
{
    struct figures *figures = calloc((size_t)count * 2, sizeof *figures);
    if (!figures)
        return 2;
    struct figures *second = figures + count;
    bool ok = measure(settings->kb, settings, cases, count, figures);
    ok = (!settings->against || measure(settings->against, settings, cases, count, second)) && ok;
    for (int i = 0; i < count; i++) {
        print_figures(stdout, short_name(cases[i]), &figures[i]);
        if (settings->against)
            print_figures(stdout, settings->against, &second[i]);
    }
    int status = ok ? 0 : 2;
    if (ok && settings->recorded)
        status = against_recorded(settings, cases, count, figures);
    free(figures);
    return status;
}

int main(int argc, char **argv)
{
    enum { KB = 1, AGAINST, WRONG, RECORDED, RECORD, HELP };
    static const struct option longs[] = {{"kb", 1, NULL, KB},
                                          {"against", 1, NULL, AGAINST},
                                          {"wrong", 0, NULL, WRONG},
                                          {"recorded", 1, NULL, RECORDED},
                                          {"record", 0, NULL, RECORD},
                                          {"help", 0, NULL, HELP},
                                          {0}};
    struct settings settings = {0};
    for (int code; (code = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        if (code == KB)
            settings.kb = optarg;
        else if (code == AGAINST)
            settings.against = optarg;
        else if (code == WRONG)
            settings.wrong = true;
        else if (code == RECORDED)
            settings.recorded = optarg;
        else if (code == RECORD)
            settings.record = true;
        else
            return fputs(usage, code == '?' ? stderr : stdout), code == '?' ? 2 : 0;
    }
    if (optind == argc)
        return fputs(usage, stderr), 2;
    return evaluate(&settings, argv + optind, argc - optind);
}

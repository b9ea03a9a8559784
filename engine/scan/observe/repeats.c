/*
 * The same line again and again: once for each rank, since nothing asks who prints. Lines of training, or of what leads to it, that come
 * exactly as often as there are processes; a warning that each process of a job gives once is healthy, and so is a bar that is redrawn.
 */
#include <ctype.h>
#include <string.h>

#include "scan/observe/ranks.h"

#define LINES_LEAST 3 /* different lines, each of them printed as often */
#define WORDS_LEAST 12
#define BARS_LEAST 3
#define LENGTH_MOST 300

/* Of "4/50 [00:09<01:48, 2.36s/it]" what stands before the bracket: without speed and clock. */
static uint64_t said(const struct line *line, bool *bar)
{
    const char *speed = line->length < LENGTH_MOST ? strstr(line->text, " [") : NULL;
    *bar = speed && (strstr(speed, "it/s") || strstr(speed, "s/it") || strstr(speed, "/s]") || strstr(speed, "?it"));
    if (!line->length || line->length >= LENGTH_MOST)
        return 0;
    return observe_hash(OBSERVE_HASH, line->text, *bar ? (size_t)(speed - line->text) : line->length) | 1;
}

/* May this line come again for no other reason than that every rank prints it? */
static bool counts(const struct line *line)
{
    static const char *const healthy[] = {"warn",   "nccl",    "error",  "deprecat", "traceback", "rank",    "init",   "cuda",
                                          "device", "loadavg", "token",  "version",  "import",    "W0",      "config", "download",
                                          "gpu",    "git",     "seeing", "stuck",    "connect",   "timeout", NULL};
    size_t letters = 0;
    for (size_t i = 0; i < line->length; i++)
        letters += isalpha((unsigned char)line->text[i]) ? 1U : 0U;
    return !strchr("$>| \t", *line->text) && letters >= WORDS_LEAST && line->rank < 0 && !observe_any(line->text, healthy);
}

/* A block of equal lines is over. */
static void close_block(struct observe_repeats *repeats)
{
    if (repeats->bar && repeats->count < BARS_LEAST)
        repeats->count = 0; /* drawn again */
    if (repeats->count > 1 && repeats->count == repeats->times) {
        repeats->lines += repeats->line != repeats->first;
        repeats->working += repeats->line != repeats->first && repeats->works;
    } else if (repeats->count > 1) {
        repeats->others += repeats->times != 0;
        if (repeats->lines < 2) {
            repeats->times = repeats->count;
            repeats->lines = 1;
            repeats->working = repeats->works;
            repeats->first = repeats->line;
        }
    }
    repeats->count = 0;
}

void repeats_line(struct observe_repeats *repeats, const struct line *line, const struct place *place, bool progress)
{
    bool bar = false;
    uint64_t now = said(line, &bar);
    if (repeats->count && now == repeats->line) {
        repeats->count += repeats->count > 1 || bar || counts(line); /* else the block stays one line long */
        repeats->at = *place;
        return;
    }
    close_block(repeats);
    repeats->line = now;
    repeats->count = now != 0;
    repeats->bar = bar;
    repeats->works = bar || progress;
}

void repeats_conclude(const struct observe_repeats *repeats, unsigned started, struct collect *collect)
{
    struct observe_repeats all = *repeats;
    close_block(&all);
    bool each = all.times == started && started > 1;
    if (all.others > all.lines / 2 || all.times < 2 || all.lines < (each && all.working ? LINES_LEAST - 1 : LINES_LEAST) ||
        (!each && (!all.working || all.times < 3)))
        return;
    observe_tell(collect, &all.at, "lines: %u of them come %u times in a row each", all.lines, all.times);
}

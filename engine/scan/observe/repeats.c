/*
 * The same line again and again: once for each rank, since nothing asks who prints. Lines of training, or of what leads to it, that come
 * exactly as often as there are processes; a warning that each process of a job gives once is healthy, and so is a bar that is redrawn.
 */
#include <ctype.h>
#include <string.h>

#include "scan/observe/observe.h"

#define LINES_LEAST 3 /* different lines, each of them printed as often */
#define WORDS_LEAST 12
#define BARS_LEAST 3

/* What a line says, without speed and clock: of "4/50 [00:09<01:48, 2.36s/it]" what stands before the bracket. 0: it counts for nothing. */
static uint64_t said(const struct line *line, bool *bar)
{
    static const char *const of_all[] = {"warn",   "nccl",     "error", "deprecat", "traceback", "rank",     "init",    "cuda",
                                         "device", "loadavg",  "token", "version",  "import",    "download", "W0",      "gpu",
                                         "config", "listened", "git",   "seeing",   "stuck",     "connect",  "timeout", NULL};
    const char *text = line->text, *speed = strstr(text, " [");
    size_t length = line->length, letters = 0;
    *bar = speed && (strstr(speed, "it/s") || strstr(speed, "s/it") || strstr(speed, "/s]") || strstr(speed, "?it"));
    if (*bar)
        length = (size_t)(speed - text);
    for (size_t i = 0; i < length; i++)
        letters += isalpha((unsigned char)text[i]) ? 1U : 0U;
    if (*text == '$' || *text == '>' || *text == '|' || (!*bar && isspace((unsigned char)*text)) || (!*bar && letters < WORDS_LEAST) ||
        (!*bar && (line->rank >= 0 || observe_any(text, of_all))))
        return 0;
    return observe_hash(OBSERVE_HASH, text, length) | 1;
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
    uint64_t now = line->length < 300 ? said(line, &bar) : 0;
    if (repeats->count && now == repeats->line) {
        repeats->count++;
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

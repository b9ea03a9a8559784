/* Ranks whose time ran out in a collective: what the job was at when that happened, and whether all of them waited in the same one. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/stall.h"

static bool begins_with_any(const char *text, const char *end, const char *const *words)
{
    for (; text < end && !isalpha((unsigned char)*text); text++)
        ;
    for (size_t i = 0; words[i]; i++)
        if (!strncasecmp(text, words[i], strlen(words[i])))
            return true;
    return false;
}

static bool has_any(const struct line *line, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (line_find(line, words[i]))
            return true;
    return false;
}

/* "Count pairs       ██████        421337   /  1304921": as the tokenizers library draws them; -1 where the line is no such bar */
static int block_percent(const char *text, const char **number)
{
    const char *block = strstr(text, "\xe2\x96\x88"), *slash = block ? strstr(block, " / ") : NULL;
    const char *begin = block ? block + strcspn(block, "0123456789") : NULL;
    if (!slash || !*begin || begin > slash)
        return -1;
    const char *behind = slash + 3 + strspn(slash + 3, " ");
    double done = strtod(begin, NULL), all = strtod(behind, NULL);
    if (!isdigit((unsigned char)*behind) || !(all >= 1 && all < 1e15) || done > all)
        return -1;
    *number = begin;
    return (int)(100 * done / all);
}

/* "Map (num_proc=8):   2%|2    | 241000/14868862 [...": how far, and where the number begins; -1 where the line is no such bar */
static int bar_percent(const char *text, const char **number)
{
    for (const char *p = text; (p = strchr(p, '%')); p++) {
        const char *begin = p;
        while (begin > text && isdigit((unsigned char)begin[-1]))
            begin--;
        if (begin < p && p - begin < 4 && (p[1] == '|' || !strncmp(p + 1, " Completed", 10))) {
            *number = begin;
            return (int)strtol(begin, NULL, 10);
        }
    }
    return block_percent(text, number);
}

static enum job_doing doing_of_bar(const char *text, const char *number)
{
    static const char *const preparing[] = {"map",      "tokeniz",     "running tokenizer",  "convert",     "generating",
                                            "filter",   "download",    "preprocess",         "processing",  "grouping",
                                            "caching",  "packing",     "saving the dataset", "scanning",    "loading",
                                            "building", "count pairs", "compute merges",     "pre-process", "pre-tokeniz",
                                            NULL};
    static const char *const evaluating[] = {"val", "eval", "test", "predict", NULL};
    if (begins_with_any(text, number, preparing))
        return DOING_PREPARATION;
    return begins_with_any(text, number, evaluating) ? DOING_EVALUATION : DOING_NOTHING;
}

static void read_doing(struct observe_waits *waits, const struct line *line, bool progress, const struct place *place)
{
    static const char *const evaluating[] = {"validating",         "evaluating",         "val batch", "running prediction",
                                             "running evaluation", "running validation", NULL};
    static const char *const saving[] = {" saving ", "begin to save", NULL};
    const char *text = line->text, *number;
    int percent = bar_percent(text, &number);
    enum job_doing doing = DOING_NOTHING;
    if (percent >= 0)
        doing = percent < 100 ? doing_of_bar(text, number) : DOING_NOTHING;
    else if (has_any(line, evaluating))
        doing = DOING_EVALUATION;
    else if (!strncasecmp(text, "saving ", 7) || has_any(line, saving))
        doing = DOING_SAVING;
    else if (!progress)
        return; /* a line that tells nothing of it */
    waits->doing = doing;
    waits->percent = percent;
    waits->doing_at = *place;
}

static bool number_behind(const char *text, const char *name, unsigned long *value)
{
    const char *p = strstr(text, name);
    if (!p || !isdigit((unsigned char)p[strlen(name)]))
        return false;
    *value = strtoul(p + strlen(name), NULL, 10);
    return true;
}

/* Transfers between two of the ranks say nothing of the others: one's SEND is the other's RECV, and each pair counts its own. */
static bool of_all_ranks(const char *operation)
{
    return strcmp(operation, "SEND") != 0 && strcmp(operation, "RECV") != 0 && strcmp(operation, "COALESCED") != 0;
}

/* How much each rank brings must be the same where all bring as much; 0 where it need not be. */
static unsigned long size_of(const char *text, const char *operation)
{
    static const char *const equal[] = {"ALLREDUCE", "BROADCAST", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"};
    unsigned long size = 0;
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        if (!strcmp(operation, equal[i]) && number_behind(text, "NumelIn=", &size))
            return size;
    return 0;
}

/* "[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=91744, OpType=ALLREDUCE, NumelIn=1, ...": ranks that wait in
 * different ones have come apart. Each group of ranks counts its collectives for itself, so a line that names its group is left out, and of
 * a rank the first one counts. */
static void read_collective(struct observe_waits *waits, const struct line *line, const struct place *place)
{
    struct wait_collective now = {.rank = line->rank};
    unsigned long rank;
    const char *operation = strstr(line->bare, "OpType=");
    if (number_behind(line->bare, "[Rank ", &rank) && rank < 1000000)
        now.rank = (int32_t)rank;
    if (now.rank < 0 || !operation || !number_behind(line->bare, "SeqNum=", &now.number) ||
        sscanf(operation, "OpType=%23[A-Z_a-z]", now.operation) != 1 || strstr(line->bare, "[PG") || !of_all_ranks(now.operation))
        return;
    now.size = size_of(line->bare, now.operation);
    for (unsigned i = 0; i < waits->count; i++) {
        const struct wait_collective *other = &waits->list[i];
        if (other->rank == now.rank)
            return; /* its later ones are of other groups */
        if (other->number != now.number || strcmp(other->operation, now.operation) != 0 || other->size != now.size) {
            waits->apart[0] = waits->apart[0].operation[0] ? waits->apart[0] : *other;
            waits->apart[1] = waits->apart[1].operation[0] ? waits->apart[1] : now;
            waits->apart_at = *place;
        }
    }
    if (waits->count < sizeof waits->list / sizeof *waits->list)
        waits->list[waits->count++] = now;
}

void waits_line(struct observe_waits *waits, const struct line *line, const struct place *place, bool progress)
{
    if (!strncmp(line->text, "$ ", 2)) {
        waits->doing = waits->over ? waits->doing : DOING_NOTHING;
        return;
    }
    bool watchdog = line_find_exact(line, "ollective operation timeout: Work") != NULL;
    if (watchdog || line_find_exact(line, "got error: Socket Timeout") || line_find_exact(line, "wait timeout after ")) {
        waits->over = true;
        if (watchdog)
            read_collective(waits, line, place);
    } else if (!waits->over) {
        read_doing(waits, line, progress, place);
    }
}

void waits_conclude(const struct observe_waits *waits, struct collect *collect)
{
    if (waits->over && waits->doing == DOING_PREPARATION && waits->percent >= 0)
        observe_tell(collect, &waits->doing_at, "time-out: while data or weights were prepared, %d %% done, the ranks that waited gave up",
                     waits->percent);
    else if (waits->over && waits->doing == DOING_EVALUATION)
        observe_tell(collect, &waits->doing_at, "time-out: while the job evaluated, the ranks that waited gave up");
    else if (waits->over && waits->doing == DOING_SAVING)
        observe_tell(collect, &waits->doing_at, "time-out: while the job saved, the ranks that waited gave up");
    const struct wait_collective *one = &waits->apart[0], *other = &waits->apart[1];
    if (!other->operation[0])
        return;
    bool sizes = one->number == other->number && !strcmp(one->operation, other->operation);
    if (sizes)
        observe_tell(collect, &waits->apart_at, "time-out: rank %d waited in %s %lu, rank %d in one of another size (%lu and %lu)",
                     one->rank, one->operation, one->number, other->rank, one->size, other->size);
    else
        observe_tell(collect, &waits->apart_at, "time-out: rank %d waited in %s %lu, rank %d in %s %lu", one->rank, one->operation,
                     one->number, other->rank, other->operation, other->number);
}

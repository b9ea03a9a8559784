/* "waiting for 2 reservations" again and again: something is counted down that never comes. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scan/observe/stall.h"

#define AWAITED_TIMES 3 /* that the same number is told */

static const char *const things[] = {"reservations", "workers", "nodes",    "executors", "hosts",     "ranks",  "peers",   "replicas",
                                     "processes",    "slots",   "trainers", "pods",      "instances", "agents", "members", "clients"};

/* What "waiting for 2 more workers" counts; NULL: nothing. */
static const char *read_awaited(const char *text, double *count)
{
    const char *p = text + strspn(text, " ");
    if (!observe_number(&p, count) || *count < 1 || *count > 1e6 || *count != floor(*count))
        return NULL;
    p += strspn(p, " ");
    p += strncmp(p, "more ", 5) ? 0 : 5;
    p += strncmp(p, "other ", 6) ? 0 : 6;
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        size_t length = strlen(things[i]);
        if (!strncmp(p, things[i], length - 1)) /* one of them has no plural's s */
            return things[i];
    }
    return NULL;
}

static bool has_come(const struct line *line)
{
    static const char *const words[] = {"completed", " joined", " ready", " connected", " registered", " available"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (line_find_exact(line, words[i]))
            return true;
    return false;
}

void awaited_line(struct observe_awaited *awaited, const struct line *line, const struct place *place, bool progress)
{
    double count;
    const char *waits = line_find(line, "waiting for ");
    const char *what = waits ? read_awaited(waits + strlen("waiting for "), &count) : NULL;
    if (!what) {
        if (awaited->times && (progress || has_come(line)))
            awaited->times = 0;
        return;
    }
    if (awaited->times && place->rank != awaited->at.rank)
        return; /* ranks that wait side by side tell the same number once each */
    bool same = awaited->times && what == awaited->what && count == awaited->count;
    awaited->times = same ? awaited->times + 1 : 1;
    awaited->what = what;
    awaited->count = count;
    awaited->at = *place;
}

void awaited_conclude(const struct observe_awaited *awaited, struct collect *collect)
{
    if (awaited->times >= AWAITED_TIMES)
        observe_tell(collect, &awaited->at, "waits: the number of %s that are waited for stays at %.0f", awaited->what, awaited->count);
}

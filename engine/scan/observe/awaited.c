/*
 * Something is waited for that never comes: "waiting for 2 reservations" with one number again and again, or a name that is looked up for ever.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scan/observe/stall.h"

#define AWAITED_TIMES 3 /* that the same number is told */
/* Every rank of a healthy job may look a name up in vain once, where it has an address of the other kind only; one that waits does it for long. */
#define SOUGHT_TIMES 4
#define SOUGHT_SECONDS 5.0

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

/* Seconds of the day in "[W1201 05:31:07.397105118 socket.cpp:764] ", which names no year and so is no time of the line; NAN. */
static double clock_of(const char *bare)
{
    int hours, minutes, seconds;
    const char *stamp = strpbrk(bare, "0123456789");
    if (!stamp || sscanf(stamp, "%*4d %2d:%2d:%2d", &hours, &minutes, &seconds) != 3)
        return NAN;
    return hours * 3600.0 + minutes * 60.0 + seconds;
}

/* "[c10d] The IPv6 network addresses of (node-0, 29500) cannot be retrieved (gai error: -2 - Name or service not known)." */
static void read_lookup(struct observe_awaited *awaited, const struct line *line, const struct place *place)
{
    static const char mark[] = "network addresses of (";
    const char *found = line_find_exact(line, mark);
    if (!found || !strstr(found, "cannot be retrieved"))
        return;
    const char *name = found + sizeof mark - 1;
    size_t length = strcspn(name, ",) ");
    double now = clock_of(line->bare);
    if (isnan(now) || !length || length >= sizeof awaited->name)
        return;
    if (strncmp(awaited->name, name, length) != 0 || awaited->name[length]) {
        memcpy(awaited->name, name, length);
        awaited->name[length] = '\0';
        awaited->sought = 0;
    }
    awaited->first = awaited->sought++ ? awaited->first : now;
    awaited->last = now;
    awaited->sought_at = *place;
}

void awaited_line(struct observe_awaited *awaited, const struct line *line, const struct place *place, bool progress)
{
    read_lookup(awaited, line, place);
    awaited->sought = progress ? 0 : awaited->sought;
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
    if (awaited->sought >= SOUGHT_TIMES && awaited->last - awaited->first >= SOUGHT_SECONDS)
        observe_tell(collect, &awaited->sought_at, "waits: the name %s is looked up in vain for %.0f s", awaited->name,
                     awaited->last - awaited->first);
}

/* Lists that are printed one below the other, of each rank or of each epoch, and should not be equal. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/observe.h"

#define RANKS_ALIKE 3
#define EPOCHS_ALIKE 3
#define LIST_MEMBERS 3

/* "[3, 1, 2]" or "['a', 'b']" at `text`: hash of what stands in it; 0: none, too short, or all members the same */
static uint64_t list_hash(const char *text)
{
    size_t length = strcspn(text, "]");
    unsigned commas = 0;
    uint64_t hash = OBSERVE_HASH;
    bool varied = false;
    if (*text != '[' || text[length] != ']')
        return 0;
    const char *first = text + 1, *member = first;
    for (const char *p = first; p <= text + length; p++) {
        hash = observe_hash(hash, p, 1);
        if (*p != ',' && *p != ']')
            continue;
        varied = varied || strncmp(member, first, (size_t)(p - member)) != 0;
        member = p + 1 + (p[1] == ' ');
        commas += *p == ',';
    }
    return commas + 1 >= LIST_MEMBERS && varied ? hash : 0;
}

/* `number`: of the rank or epoch, counted on from the one before */
static void extend(struct list_run *run, unsigned *longest, long number, uint64_t hash, const struct place *place, struct place *at)
{
    bool follows = run->count && number == run->last + 1;
    if (!follows)
        *run = (struct list_run){.first_hash = hash, .same = true};
    run->last = number;
    run->count++;
    run->same = run->same && hash == run->first_hash;
    if (run->same && run->count > *longest) {
        *longest = run->count;
        *at = *place;
    }
}

void lists_line(struct observe_ranks *ranks, const char *text, const struct place *place)
{
    char *end;
    if (isdigit((unsigned char)*text)) {
        long number = strtol(text, &end, 10);
        uint64_t hash = *end == ' ' || *end == ':' ? list_hash(end + strspn(end, ": ")) : 0;
        if (hash && number >= 0 && number < 100000)
            extend(&ranks->lists, &ranks->same_lists, number, hash, place, &ranks->lists_at);
        return;
    }
    if (strncasecmp(text, "epoch ", 6) != 0 || !isdigit((unsigned char)text[6]))
        return;
    long epoch = strtol(text + 6, &end, 10);
    uint64_t hash = *end == ':' ? list_hash(end + 1 + strspn(end + 1, " ")) : 0;
    if (hash && epoch >= 0 && epoch < 100000)
        extend(&ranks->epochs, &ranks->same_epochs, epoch, hash, place, &ranks->epochs_at);
}

void lists_conclude(const struct observe_ranks *ranks, struct collect *collect)
{
    if (ranks->same_lists >= RANKS_ALIKE)
        observe_tell(collect, &ranks->lists_at, "ranks: several ranks work on the same data");
    if (ranks->same_epochs >= EPOCHS_ALIKE)
        observe_tell(collect, &ranks->epochs_at, "ranks: the data come in the same order in each of %u epochs", ranks->same_epochs);
}

/* Lists that are printed one below the other, of each rank or of each epoch, and should not be equal. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/ranks.h"

#define RANKS_ALIKE 3
#define EPOCHS_ALIKE 3
#define LIST_MEMBERS 3
#define SET_MEMBERS 6
#define CYCLE_LISTS 8   /* lists in all, at least */
#define CYCLE_REPEATS 4 /* how often they have to come */

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

/* "[5, 6]" and nothing else on the line: hash of it; 0: something else */
static uint64_t bare_list_hash(const char *text)
{
    size_t length = strlen(text), numbers = strspn(text + (*text == '['), "0123456789, ");
    if (*text != '[' || length < 6 || numbers + 2 != length || text[length - 1] != ']' || !strchr(text, ','))
        return 0;
    return observe_hash(OBSERVE_HASH, text, length);
}

/* Do the first lists come again, in the same order? One and the same list again and again is a shape, say, and no order. */
static void follow_cycle(struct list_cycle *cycle, uint64_t hash, const struct place *place)
{
    if (!cycle->period && cycle->count > 1 && hash == cycle->hashes[0])
        cycle->period = cycle->count;
    if (cycle->period ? hash != cycle->hashes[cycle->count % cycle->period]
                      : cycle->count == LIST_CYCLE_MAX || (cycle->count && hash == cycle->hashes[0])) {
        *cycle = (struct list_cycle){.shuffled = cycle->shuffled, .hashes = {hash}, .count = 1};
        return;
    }
    if (!cycle->period)
        cycle->hashes[cycle->count] = hash;
    cycle->count++;
    if (cycle->period && cycle->count >= CYCLE_LISTS && cycle->count / cycle->period >= CYCLE_REPEATS) {
        cycle->repeats = cycle->count / cycle->period;
        cycle->at = *place;
    }
}

/* "a1b2c3", "Mallard_0130", "31040,": letters and digits, or a long number: a sample's name, or a hash of several */
static bool is_name(const char *word, size_t length)
{
    unsigned digits = 0, letters = 0;
    for (size_t i = 0; i < length; i++) {
        digits += isdigit((unsigned char)word[i]) ? 1U : 0U;
        letters += isalpha((unsigned char)word[i]) ? 1U : 0U;
        bool ends_name = word[i] == '.' && i + 1 < length && isalpha((unsigned char)word[i + 1]); /* "0411.png" */
        if (strchr("=/%.:", word[i]) && !ends_name)
            return false;
    }
    return length >= 6 && digits > 0 && (letters > 0 || digits >= 8);
}

/* Does it name samples? A list of several, several names, or one word that is a hash. */
static bool names_samples(const char *text)
{
    unsigned names = 0, words = 0;
    const char *list = strchr(text, '[');
    if (list && list_hash(list) && list - text < 24)
        return true;
    for (const char *p = text + strspn(text, " :"); *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        names += is_name(p, length);
        words++;
        p += length;
    }
    return names && (words == 1 || (names >= LIST_MEMBERS && names * 2 > words));
}

/* "rank 2 epoch 3 90aa3e", "r0 epoch 1: Mallard_0130 Bobolink_0079 ...": the same
 * in several epochs that follow one another. */
static void read_epoch(struct observe_ranks *ranks, const char *text, const char *word, const struct place *place)
{
    char *end;
    if (word > text && isalnum((unsigned char)word[-1]))
        return;
    long epoch = strtol(word + 6, &end, 10);
    if (epoch < 0 || epoch > 100000 || *end == '/' || *end == '.' || !names_samples(end))
        return;
    uint64_t what = observe_hash(OBSERVE_HASH, end, strlen(end));
    struct order *order = NULL;
    for (unsigned i = 0; i < ORDERS_MAX && !order; i++)
        order = ranks->orders[i].what == what ? &ranks->orders[i] : NULL;
    if (!order) {
        order = &ranks->orders[ranks->order_next++ % ORDERS_MAX];
        *order = (struct order){.what = what};
    }
    extend(&order->epochs, &ranks->same_epochs, epoch, what, place, &ranks->epochs_at);
}

/* "epoch 2 rank0 ids: 16 0 28 4 36 8": the same samples in each epoch, in other orders. What is dealt out was not shuffled before. */
static void read_set(struct observe_ranks *ranks, const char *word, const struct place *place)
{
    const char *rank = strcasestr(word, "rank");
    if (!rank || rank - word > 16)
        return;
    const char *list = rank + 4 + strspn(rank + 4, " _"), *colon = strchr(list, ':');
    if (*list != '0' || isdigit((unsigned char)list[1]) || !colon)
        return;
    uint64_t sum = 0;
    unsigned members = 0;
    const char *p = colon + 1;
    for (p += strspn(p, " ,["); isdigit((unsigned char)*p); p += strspn(p, " ,]")) {
        char *end;
        unsigned long member = strtoul(p, &end, 10);
        sum += observe_hash(OBSERVE_HASH, (const char *)&member, sizeof member);
        members++;
        p = end;
    }
    if (*p || members < SET_MEMBERS)
        return;
    uint64_t order = observe_hash(OBSERVE_HASH, colon, strlen(colon));
    if (!ranks->sets.count || sum != ranks->sets.first_hash) {
        ranks->set_order = order;
        ranks->set_shuffled = false;
    }
    ranks->set_shuffled = ranks->set_shuffled || order != ranks->set_order;
    extend(&ranks->sets, &ranks->same_sets, strtol(word + 6, NULL, 10), sum, place, &ranks->sets_at);
}

void lists_line(struct observe_ranks *ranks, const struct line *line, const struct place *place)
{
    const char *text = line->text;
    char *end;
    ranks->cycle.shuffled = ranks->cycle.shuffled || line_find(line, "shuffle") || line_find_exact(line, "Sampler");
    uint64_t bare = ranks->cycle.repeats ? 0 : bare_list_hash(text);
    if (bare)
        follow_cycle(&ranks->cycle, bare, place);
    if (isdigit((unsigned char)*text)) {
        long number = strtol(text, &end, 10);
        uint64_t hash = *end == ' ' || *end == ':' ? list_hash(end + strspn(end, ": ")) : 0;
        if (hash && number >= 0 && number < 100000)
            extend(&ranks->lists, &ranks->same_lists, number, hash, place, &ranks->lists_at);
        return;
    }
    const char *word = line_find(line, "epoch ");
    if (!word || word - text > 40 || !isdigit((unsigned char)word[6]))
        return;
    read_epoch(ranks, text, word, place);
    read_set(ranks, word, place);
}

void lists_conclude(const struct observe_ranks *ranks, struct collect *collect)
{
    if (ranks->same_lists >= RANKS_ALIKE)
        observe_tell(collect, &ranks->lists_at, "ranks: several ranks work on the same data");
    if (ranks->same_epochs >= EPOCHS_ALIKE)
        observe_tell(collect, &ranks->epochs_at, "order: the data come as they came before in each of %u epochs", ranks->same_epochs);
    else if (ranks->same_sets >= EPOCHS_ALIKE && ranks->set_shuffled)
        observe_tell(collect, &ranks->sets_at, "order: what a rank is given stays the same in each of %u epochs", ranks->same_sets);
    else if (ranks->cycle.repeats && ranks->cycle.shuffled)
        observe_tell(collect, &ranks->cycle.at, "order: the data come as they came before in each of %u epochs", ranks->cycle.repeats);
}

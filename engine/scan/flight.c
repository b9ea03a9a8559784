#include "scan/flight.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define VERDICTS_MAX 256
#define RANKS_SHOWN 64

/* Where a rank stands in a group. */
struct standing {
    const struct flight_dump *dump; /* NULL: no dump of this rank */
    int64_t enqueued, completed;    /* -1: not known */
};

/* What a group says: ranks that hold up a collective, and those that wait for them. */
struct jam {
    uint32_t group;
    const struct flight_entry *entry; /* the collective that is stuck, as one of the ranks has recorded it */
    int64_t sequence;
    size_t behind_count;
    bool never_came; /* the ranks behind did not ask for it; else they asked but never finished it */
    int32_t *behind, *waiting;
    size_t waiting_count;
};

static int by_rank(const void *left, const void *right)
{
    const struct flight_dump *l = left, *r = right;
    if (l->rank != r->rank)
        return l->rank < r->rank ? -1 : 1;
    return (l->file > r->file) - (l->file < r->file);
}

/* Dumps are in the order of their ranks. */
static const struct flight_dump *dump_of(const struct flight *flight, int32_t rank)
{
    size_t low = 0, high = flight->dump_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (flight->dumps[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flight->dump_count && flight->dumps[low].rank == rank ? &flight->dumps[low] : NULL;
}

/* A rank without entries in a group does not tell which of its numbers is the group's; members of a group mostly number it alike. */
static const char *id_of(const struct flight *flight, const struct flight_dump *dump, uint32_t group)
{
    for (size_t i = 0; i < dump->id_count; i++)
        if (dump->ids[i].group == group)
            return dump->ids[i].id;
    const struct flight_group *whole = &flight->groups[group];
    for (size_t i = 0; i < whole->rank_count; i++) {
        const struct flight_dump *other = dump_of(flight, whole->ranks[i]);
        for (size_t k = 0; other && k < other->id_count; k++)
            if (other->ids[k].group == group)
                return other->ids[k].id;
    }
    return NULL;
}

static struct standing standing_of(const struct flight *flight, int32_t rank, uint32_t group)
{
    struct standing standing = {.dump = dump_of(flight, rank), .enqueued = -1, .completed = -1};
    if (!standing.dump)
        return standing;
    const char *id = id_of(flight, standing.dump, group);
    for (size_t i = 0; id && i < standing.dump->status_count; i++)
        if (!strcmp(standing.dump->statuses[i].id, id)) {
            standing.enqueued = standing.dump->statuses[i].enqueued;
            standing.completed = standing.dump->statuses[i].completed;
        }
    for (size_t i = 0; i < standing.dump->entry_count; i++) { /* entries are what was recorded; the status may be older, or missing */
        const struct flight_entry *entry = &standing.dump->entries[i];
        if (entry->group != group)
            continue;
        if (entry->sequence > standing.enqueued)
            standing.enqueued = entry->sequence;
        if (entry->state == FLIGHT_COMPLETED && entry->sequence > standing.completed)
            standing.completed = entry->sequence;
    }
    return standing;
}

/* The record of a collective, by any of the group's ranks. */
static const struct flight_entry *entry_of(const struct flight *flight, uint32_t group, int64_t sequence)
{
    const struct flight_group *whole = &flight->groups[group];
    for (size_t i = 0; i < whole->rank_count; i++) {
        const struct flight_dump *dump = dump_of(flight, whole->ranks[i]);
        for (size_t k = 0; dump && k < dump->entry_count; k++)
            if (dump->entries[k].group == group && dump->entries[k].sequence == sequence)
                return &dump->entries[k];
    }
    return NULL;
}

/* Does any rank hold up the others of this group? */
static bool find_jam(const struct flight *flight, uint32_t group, struct arena *arena, struct jam *jam)
{
    const struct flight_group *whole = &flight->groups[group];
    if (whole->point_to_point || whole->rank_count < 2)
        return false;
    struct standing *standings = arena_alloc(arena, whole->rank_count * sizeof *standings);
    *jam = (struct jam){.group = group};
    jam->behind = arena_alloc(arena, whole->rank_count * sizeof *jam->behind);
    jam->waiting = arena_alloc(arena, whole->rank_count * sizeof *jam->waiting);
    if (!standings || !jam->behind || !jam->waiting)
        return false;
    /* The first collective that someone waits for. */
    int64_t stuck = INT64_MAX, most_completed = -1;
    for (size_t i = 0; i < whole->rank_count; i++) {
        standings[i] = standing_of(flight, whole->ranks[i], group);
        if (standings[i].enqueued > standings[i].completed && standings[i].completed >= 0 && standings[i].completed + 1 < stuck)
            stuck = standings[i].completed + 1;
        if (standings[i].completed > most_completed)
            most_completed = standings[i].completed;
    }
    for (size_t i = 0; i < whole->rank_count && stuck == INT64_MAX; i++)
        for (size_t k = 0; standings[i].dump && k < standings[i].dump->entry_count; k++) {
            const struct flight_entry *entry = &standings[i].dump->entries[k];
            if (entry->group == group && entry->state != FLIGHT_COMPLETED && entry->sequence < stuck)
                stuck = entry->sequence;
        }
    if (stuck == INT64_MAX)
        return false;
    bool some_behind = most_completed >= stuck;
    for (size_t i = 0; i < whole->rank_count; i++) {
        const struct standing *standing = &standings[i];
        if (!standing->dump)
            continue;
        bool never_came = standing->enqueued < stuck;
        bool unfinished = some_behind && standing->completed < stuck && standing->completed >= 0;
        jam->never_came = jam->never_came || never_came;
        if (never_came || unfinished)
            jam->behind[jam->behind_count++] = whole->ranks[i];
        else
            jam->waiting[jam->waiting_count++] = whole->ranks[i];
    }
    jam->sequence = stuck;
    jam->entry = entry_of(flight, group, stuck);
    return jam->behind_count && jam->waiting_count;
}

/* ---- words ---- */

static void add_ranks(struct buf *buf, const int32_t *ranks, size_t count)
{
    for (size_t i = 0; i < count && i < RANKS_SHOWN; i++)
        buf_addf(buf, "%s%" PRId32, i ? ", " : "", ranks[i]);
    if (count > RANKS_SHOWN)
        buf_addf(buf, " and %zu more", count - RANKS_SHOWN);
}

struct words {
    struct buf text, behind, waiting, sequence;
    struct evidence_field fields[10];
    size_t count;
};

static void words_free(struct words *words)
{
    buf_free(&words->text);
    buf_free(&words->behind);
    buf_free(&words->waiting);
    buf_free(&words->sequence);
}

static void field(struct words *words, const char *name, const char *value)
{
    words->fields[words->count++] = (struct evidence_field){name, value};
}

static void emit(const struct flight *flight, struct collect *collect, struct words *words, int32_t rank, uint64_t order)
{
    const struct flight_dump *dump = dump_of(flight, rank);
    uint32_t file = dump ? dump->file : flight->dumps[0].file;
    struct evidence evidence = {.kind = EV_DUMP,
                                .role = ROLE_INITIATING,
                                .signature = SIGNATURE_NONE,
                                .file = file,
                                .sequence = ((uint64_t)flight->dumps[0].file << 40) + order,
                                .rank = rank,
                                .time = NAN,
                                .text = buf_text(&words->text),
                                .fields = words->fields,
                                .field_count = words->count};
    if (words->text.failed || words->behind.failed || words->waiting.failed)
        collect->failed = true;
    else
        collect_add(collect, &evidence, order);
}

static void group_fields(struct words *words, const struct flight_group *group, const struct flight_entry *entry, int64_t sequence)
{
    buf_addf(&words->sequence, "%" PRId64, sequence);
    field(words, "group", group->name);
    field(words, "group_name", group->description);
    field(words, "collective", entry ? entry->collective : "unknown");
    field(words, "sequence", buf_text(&words->sequence));
    if (entry) {
        field(words, "sizes", entry->sizes);
        field(words, "dtype", entry->dtypes);
    }
}

static void tell_jam(const struct flight *flight, struct collect *collect, const struct jam *jam, int32_t rank, uint64_t order)
{
    const struct flight_group *group = &flight->groups[jam->group];
    struct words words = {0};
    field(&words, "finding", jam->never_came ? "never-came" : "not-finished");
    group_fields(&words, group, jam->entry, jam->sequence);
    add_ranks(&words.behind, jam->behind, jam->behind_count);
    add_ranks(&words.waiting, jam->waiting, jam->waiting_count);
    field(&words, "missing_ranks", buf_text(&words.behind));
    field(&words, "waiting_ranks", buf_text(&words.waiting));
    buf_addf(&words.text, "%s number %" PRId64 " of process group %s%s%s: rank%s %s %s; rank%s %s %s",
             jam->entry ? jam->entry->collective : "collective", jam->sequence, group->name, *group->description ? " " : "",
             group->description, jam->behind_count > 1 ? "s" : "", buf_text(&words.behind),
             jam->never_came ? "never came" : "did not finish it", jam->waiting_count > 1 ? "s" : "", buf_text(&words.waiting),
             jam->never_came ? (jam->waiting_count > 1 ? "wait" : "waits") : "went on");
    emit(flight, collect, &words, rank, order);
    words_free(&words);
}

/* ---- verdicts ---- */

/* The jam that tells most: that holds the most ranks, and of those the one that began first. */
static int by_weight(const void *left, const void *right)
{
    const struct jam *l = left, *r = right;
    if (l->behind_count != r->behind_count)
        return l->behind_count > r->behind_count ? -1 : 1;
    int64_t lt = l->entry ? l->entry->created_ns : INT64_MAX, rt = r->entry ? r->entry->created_ns : INT64_MAX;
    if (lt != rt)
        return lt < rt ? -1 : 1;
    return (l->group > r->group) - (l->group < r->group);
}

static bool holds(const struct jam *jam, int32_t rank)
{
    for (size_t i = 0; i < jam->behind_count; i++)
        if (jam->behind[i] == rank)
            return true;
    return false;
}

/* One piece of evidence for each rank that holds others up, with the jam that shows it best. */
static uint64_t tell_jams(const struct flight *flight, struct collect *collect, struct jam *jams, size_t count)
{
    uint64_t order = 0;
    qsort(jams, count, sizeof *jams, by_weight);
    for (size_t i = 0; i < count && order < VERDICTS_MAX; i++)
        for (size_t k = 0; k < jams[i].behind_count && order < VERDICTS_MAX; k++) {
            bool told = false;
            for (size_t j = 0; j < i && !told; j++)
                told = holds(&jams[j], jams[i].behind[k]);
            if (!told)
                tell_jam(flight, collect, &jams[i], jams[i].behind[k], order++);
        }
    return order;
}

/* Collectives whose ranks bring data of different sizes by right. */
static bool may_differ(const char *collective)
{
    static const char *const names[] = {"all_to_all", "alltoall", "scatter", "gather", "coalesced", "allgather_into", "ALLTOALL"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strstr(collective, names[i]))
            return true;
    return false;
}

static const char *difference(const struct flight_entry *left, const struct flight_entry *right)
{
    if (strcmp(left->collective, right->collective) != 0)
        return "collective";
    if (strcmp(left->dtypes, right->dtypes) != 0)
        return "dtype";
    return may_differ(left->collective) || !strcmp(left->sizes, right->sizes) ? NULL : "size";
}

static void tell_mismatch(const struct flight *flight, struct collect *collect, const struct flight_dump *left,
                          const struct flight_entry *le, const struct flight_dump *right, const struct flight_entry *re, const char *what,
                          uint64_t order)
{
    const struct flight_group *group = &flight->groups[le->group];
    struct words words = {0};
    const char *lv = !strcmp(what, "collective") ? le->collective : !strcmp(what, "dtype") ? le->dtypes : le->sizes;
    const char *rv = !strcmp(what, "collective") ? re->collective : !strcmp(what, "dtype") ? re->dtypes : re->sizes;
    field(&words, "finding", "mismatch");
    field(&words, "differs", what);
    group_fields(&words, group, le, le->sequence);
    buf_addf(&words.behind, "%" PRId32 ", %" PRId32, left->rank, right->rank);
    field(&words, "missing_ranks", buf_text(&words.behind));
    buf_addf(&words.text, "%s number %" PRId64 " of process group %s %s: %s differs: rank %" PRId32 " has %s, rank %" PRId32 " has %s",
             le->collective, le->sequence, group->name, group->description, what, left->rank, lv, right->rank, rv);
    emit(flight, collect, &words, right->rank, order);
    words_free(&words);
}

static int by_number(const void *left, const void *right)
{
    const struct flight_entry *l = *(const struct flight_entry *const *)left, *r = *(const struct flight_entry *const *)right;
    return (l->sequence > r->sequence) - (l->sequence < r->sequence);
}

/* A dump's entries of one group, by number. */
static size_t entries_of(const struct flight_dump *dump, uint32_t group, const struct flight_entry **out)
{
    size_t count = 0;
    for (size_t i = 0; dump && i < dump->entry_count; i++)
        if (dump->entries[i].group == group)
            out[count++] = &dump->entries[i];
    qsort((void *)out, count, sizeof *out, by_number);
    return count;
}

/* The first collective that two ranks did not ask for alike; both lists go up by number. */
static bool first_difference(const struct flight_entry **left, size_t left_count, const struct flight_entry **right, size_t right_count,
                             size_t *l, const char **what)
{
    size_t r = 0;
    for (*l = 0; *l < left_count && r < right_count;) {
        int64_t order = left[*l]->sequence - right[r]->sequence;
        if (order == 0 && (*what = difference(left[*l], right[r])))
            return true;
        if (order <= 0)
            ++*l;
        if (order >= 0)
            r++;
    }
    return false;
}

/* Each rank of a group against the first one that left a dump. */
static bool find_mismatch(const struct flight *flight, struct collect *collect, uint32_t group, const struct flight_entry **ours,
                          const struct flight_entry **theirs, uint64_t order)
{
    const struct flight_group *whole = &flight->groups[group];
    const struct flight_dump *first = NULL;
    size_t our_count = 0, at;
    for (size_t i = 0; i < whole->rank_count; i++) {
        const struct flight_dump *dump = dump_of(flight, whole->ranks[i]);
        const char *what;
        if (!dump)
            continue;
        if (!first) {
            first = dump;
            our_count = entries_of(dump, group, ours);
            continue;
        }
        size_t their_count = entries_of(dump, group, theirs);
        if (!first_difference(ours, our_count, theirs, their_count, &at, &what))
            continue;
        const struct flight_entry *other = theirs[0];
        for (size_t k = 0; k < their_count; k++)
            if (theirs[k]->sequence == ours[at]->sequence)
                other = theirs[k];
        tell_mismatch(flight, collect, first, ours[at], dump, other, what, order);
        return true;
    }
    return false;
}

static uint64_t tell_mismatches(const struct flight *flight, struct collect *collect, uint64_t order)
{
    const struct flight_entry **ours = malloc(FLIGHT_ENTRIES_MAX * sizeof *ours), **theirs = malloc(FLIGHT_ENTRIES_MAX * sizeof *theirs);
    for (size_t i = 0; ours && theirs && i < flight->group_count && order < VERDICTS_MAX; i++)
        order += find_mismatch(flight, collect, (uint32_t)i, ours, theirs, order);
    collect->failed = collect->failed || !ours || !theirs;
    free((void *)ours);
    free((void *)theirs);
    return order;
}

static void tell_missing_dumps(const struct flight *flight, struct collect *collect, uint64_t order)
{
    const struct flight_group *world = NULL;
    for (size_t i = 0; i < flight->group_count; i++)
        if (!world || flight->groups[i].rank_count > world->rank_count)
            world = &flight->groups[i];
    struct words words = {0};
    int32_t first = RANK_UNKNOWN;
    size_t missing = 0;
    for (size_t i = 0; world && i < world->rank_count; i++) {
        if (dump_of(flight, world->ranks[i]))
            continue;
        if (first == RANK_UNKNOWN)
            first = world->ranks[i];
        if (missing++ < RANKS_SHOWN)
            buf_addf(&words.behind, "%s%" PRId32, missing > 1 ? ", " : "", world->ranks[i]);
    }
    if (missing) {
        field(&words, "finding", "missing-dump");
        field(&words, "missing_ranks", buf_text(&words.behind));
        buf_addf(&words.text, "%zu of %zu ranks left no Flight Recorder dump: %s", missing, world->rank_count, buf_text(&words.behind));
        emit(flight, collect, &words, first, order);
    }
    words_free(&words);
}

void flight_conclude(struct flight *flight, struct collect *collect)
{
    if (flight_is_empty(flight))
        return;
    qsort(flight->dumps, flight->dump_count, sizeof *flight->dumps, by_rank);
    if (!flight_settle(flight)) {
        collect->failed = true;
        return;
    }
    struct arena arena = {0};
    struct jam *jams = calloc(flight->group_count + 1, sizeof *jams);
    size_t count = 0;
    if (!jams) {
        collect->failed = true;
        return;
    }
    for (size_t i = 0; i < flight->dump_count; i++)
        collect_rank(collect, flight->dumps[i].rank);
    for (size_t i = 0; i < flight->group_count; i++) {
        if (flight->groups[i].rank_count > collect->world_size)
            collect->world_size = (uint32_t)flight->groups[i].rank_count;
        if (find_jam(flight, (uint32_t)i, &arena, &jams[count]))
            count++;
    }
    collect->training_log = true;
    uint64_t order = tell_jams(flight, collect, jams, count);
    order = tell_mismatches(flight, collect, order);
    tell_missing_dumps(flight, collect, order);
    free(jams);
    arena_free(&arena);
}

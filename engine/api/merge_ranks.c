/* Of joined reports: which ranks there are, which never arrived, which were lost, which pairs fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/merge.h"

#define WORLD_MAX 65536

static void mark(json_t *set, int64_t rank)
{
    char key[24];
    (void)snprintf(key, sizeof key, "%lld", (long long)rank);
    json_object_set_new(set, key, json_integer(rank));
}

/* "2,5,7" as facts have it. */
static void mark_all(json_t *set, const char *list)
{
    for (const char *p = list; *p;) {
        char *end;
        long rank = strtol(p, &end, 10);
        if (end == p)
            break;
        if (rank >= 0 && rank < WORLD_MAX)
            mark(set, rank);
        p = end + (*end == ',');
    }
}

static int by_number(const void *left, const void *right)
{
    json_int_t l = *(const json_int_t *)left, r = *(const json_int_t *)right;
    return (l > r) - (l < r);
}

static json_t *sorted(json_t *set)
{
    size_t count = 0;
    const char *key;
    json_t *value, *list = json_array();
    json_int_t *numbers = calloc(json_object_size(set) + 1, sizeof *numbers);
    json_object_foreach(set, key, value) if (numbers) numbers[count++] = json_integer_value(value);
    if (count)
        qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(numbers[i]));
    free(numbers);
    json_decref(set);
    return list;
}

static void add_rank(json_t *ranks, const struct source *source)
{
    const json_t *job = json_object_get(source->report, "job");
    if (source->rank >= 0)
        json_array_append_new(ranks, json_pack("{s:I, s:s, s:s}", "rank", (json_int_t)source->rank, "host", merge_string(job, "host"),
                                               "verdict", merge_string(source->report, "verdict")));
}

struct told {
    json_t *missing, *lost, *pairs, *ranks;
};

static void take_facts(const struct source *source, struct told *told)
{
    size_t i;
    const json_t *fact;
    json_array_foreach(json_object_get(source->report, "facts"), i, fact)
    {
        const char *name = merge_string(fact, "name"), *value = merge_string(fact, "value"), *part = strchr(name, '.');
        if (!part || !*value)
            continue;
        if (!strcmp(part, ".missing_ranks"))
            mark_all(told->missing, value);
        else if (!strcmp(part, ".lost_ranks"))
            mark_all(told->lost, value);
        else if (!strcmp(part, ".bad_ranks") && !json_object_get(told->ranks, value))
            json_object_set_new(told->ranks, value, json_pack("{s:s, s:s}", "ranks", value, "report", source->name));
        else if (!strcmp(part, ".bad_pair") && !json_object_get(told->pairs, value))
            json_object_set_new(told->pairs, value, json_pack("{s:s, s:s}", "pair", value, "report", source->name));
    }
}

static json_t *listed(json_t *by_value)
{
    const char *key;
    json_t *entry, *list = json_array();
    json_object_foreach(by_value, key, entry) json_array_append(list, entry);
    json_decref(by_value);
    return list;
}

json_t *merge_ranks(const struct source *sources, size_t count)
{
    json_int_t world = 0;
    json_t *ranks = json_array(), *there = json_object(), *absent = json_object();
    struct told told = {json_object(), json_object(), json_object(), json_object()};
    for (size_t i = 0; i < count; i++) {
        json_int_t size = json_integer_value(json_object_get(json_object_get(sources[i].report, "job"), "world_size"));
        world = size > world && size <= WORLD_MAX ? size : world;
        add_rank(ranks, &sources[i]);
        if (sources[i].rank >= 0)
            mark(there, sources[i].rank);
        take_facts(&sources[i], &told);
    }
    for (json_int_t rank = 0; rank < world; rank++) {
        char name[24];
        (void)snprintf(name, sizeof name, "%lld", (long long)rank);
        if (!json_object_get(there, name))
            mark(absent, rank);
    }
    json_decref(there);
    return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "reports", (json_int_t)count, "world_size", world, "ranks", ranks,
                     "without_report", sorted(absent), "missing_ranks", sorted(told.missing), "lost_ranks", sorted(told.lost), "bad_pairs",
                     listed(told.pairs), "bad_ranks", listed(told.ranks));
}

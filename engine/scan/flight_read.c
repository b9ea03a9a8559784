/* One dump's tree into the few things that the verdict needs, so that a thousand ranks' dumps fit in memory. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scan/flight.h"

#define DUMPS_MAX 65536
#define GROUPS_MAX 65536
#define TEXT_MAX 200

struct flight *flight_new(void)
{
    return calloc(1, sizeof(struct flight));
}

void flight_free(struct flight *flight)
{
    if (!flight)
        return;
    free(flight->dumps);
    free(flight->groups);
    arena_free(&flight->arena);
    free(flight);
}

bool flight_is_empty(const struct flight *flight)
{
    return !flight || flight->dump_count == 0;
}

bool flight_is_dump(const json_t *root)
{
    return json_is_array(json_object_get(root, "entries")) &&
           (json_is_object(json_object_get(root, "pg_config")) || json_is_object(json_object_get(root, "pg_status")) ||
            json_object_get(root, "version"));
}

int32_t flight_rank_of_name(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    const char *end = name + strlen(name), *dot = strrchr(name, '.');
    if (dot && dot > name && isdigit((unsigned char)dot[-1]) && !isdigit((unsigned char)dot[1]))
        end = dot;
    const char *p = end;
    while (p > name && isdigit((unsigned char)p[-1]))
        p--;
    return p == end || end - p > 7 ? RANK_UNKNOWN : (int32_t)strtol(p, NULL, 10);
}

/* Text of untrusted origin: bounded, without controls. */
static const char *clean_text(struct arena *arena, const char *text)
{
    size_t length = strlen(text);
    if (length > TEXT_MAX)
        length = TEXT_MAX;
    char *copy = arena_alloc(arena, length + 1);
    if (copy)
        copy[line_strip(text, length, copy)] = '\0';
    return copy;
}

/* Anything as short text: "[[4096, 1, 5120]]". */
static const char *value_text(struct arena *arena, const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    const char *copy = clean_text(arena, text ? text : "");
    free(text);
    return copy;
}

/* "[0, 2]" as text, or a list. */
static bool read_ranks(struct arena *arena, const json_t *value, struct flight_group *group)
{
    char *text = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY);
    if (!text)
        return false;
    size_t count = 0;
    for (const char *p = text; *p; p++)
        count += isdigit((unsigned char)*p) && (p == text || !isdigit((unsigned char)p[-1]));
    group->ranks = arena_alloc(arena, (count + 1) * sizeof *group->ranks);
    group->ranks_text = arena_strdup(arena, text);
    for (const char *p = text; group->ranks && *p;) {
        if (!isdigit((unsigned char)*p)) {
            p++;
            continue;
        }
        char *end;
        long rank = strtol(p, &end, 10);
        group->ranks[group->rank_count++] = rank < 10000000 ? (int32_t)rank : RANK_UNKNOWN;
        p = end;
    }
    free(text);
    return group->ranks && group->ranks_text;
}

/* Its index, UINT32_MAX when memory or room is short. */
static uint32_t add_group(struct flight *flight, struct flight_group group, const char *name, const char *description)
{
    if (flight->group_count == GROUPS_MAX)
        return UINT32_MAX;
    if ((flight->group_count & (flight->group_count - 1)) == 0) {
        size_t capacity = flight->group_count ? flight->group_count * 2 : 1;
        struct flight_group *more = realloc(flight->groups, capacity * sizeof *more);
        if (!more)
            return UINT32_MAX;
        flight->groups = more;
    }
    group.name = clean_text(&flight->arena, name);
    group.description = clean_text(&flight->arena, description);
    if (!group.name || !group.description)
        return UINT32_MAX;
    flight->groups[flight->group_count] = group;
    return (uint32_t)flight->group_count++;
}

/* Groups of the same name and ranks are one. */
static uint32_t group_of(struct flight *flight, const char *name, const char *description, const json_t *ranks)
{
    struct flight_group group = {0};
    if (!read_ranks(&flight->arena, ranks, &group))
        return UINT32_MAX;
    for (size_t i = 0; i < flight->group_count; i++)
        if (!strcmp(flight->groups[i].name, name) && !strcmp(flight->groups[i].ranks_text, group.ranks_text))
            return (uint32_t)i;
    return add_group(flight, group, name, description);
}

/* Gloo's recorder (seen in PyTorch 2.15) keeps one group without a name, whichever was made last; its entries name theirs. Of these the
 * default group is certain: everybody is of it. */
static uint32_t default_group(struct flight *flight)
{
    for (size_t i = 0; i < flight->group_count; i++)
        if (flight->groups[i].of_all_dumps)
            return (uint32_t)i;
    return add_group(flight, (struct flight_group){.ranks_text = "", .of_all_dumps = true}, "0", "default_pg");
}

bool flight_settle(struct flight *flight)
{
    for (size_t i = 0; i < flight->group_count; i++) {
        struct flight_group *group = &flight->groups[i];
        if (!group->of_all_dumps)
            continue;
        group->ranks = arena_alloc(&flight->arena, (flight->dump_count + 1) * sizeof *group->ranks);
        group->rank_count = 0;
        for (size_t k = 0; group->ranks && k < flight->dump_count; k++)
            if (flight->dumps[k].rank != RANK_UNKNOWN && (!k || flight->dumps[k].rank != flight->dumps[k - 1].rank))
                group->ranks[group->rank_count++] = flight->dumps[k].rank;
        if (!group->ranks)
            return false;
    }
    return true;
}

static dtkb_status read_groups(struct flight *flight, struct flight_dump *dump, const json_t *config, struct err *err)
{
    const char *name;
    json_t *value;
    size_t count = json_object_size(config);
    dump->member_of = arena_alloc(&flight->arena, (count + 1) * sizeof *dump->member_of);
    if (!dump->member_of)
        return err_nomem(err);
    json_object_foreach((json_t *)config, name, value)
    {
        const char *description = json_string_value(json_object_get(value, "desc"));
        const json_t *ranks = json_object_get(value, "ranks");
        uint32_t group = UINT32_MAX;
        if (!*name)
            group = default_group(flight);
        else if (ranks)
            group = group_of(flight, name, description ? description : "", ranks);
        if (group != UINT32_MAX)
            dump->member_of[dump->member_count++] = group;
    }
    return DTKB_OK;
}

static dtkb_status read_statuses(struct flight *flight, struct flight_dump *dump, const json_t *statuses, struct err *err)
{
    const char *id;
    json_t *value;
    dump->statuses = arena_alloc(&flight->arena, (json_object_size(statuses) + 1) * sizeof *dump->statuses);
    if (!dump->statuses)
        return err_nomem(err);
    json_object_foreach((json_t *)statuses, id, value)
    {
        struct flight_status *status = &dump->statuses[dump->status_count++];
        status->id = clean_text(&flight->arena, id);
        status->enqueued = json_integer_value(json_object_get(value, "last_enqueued_collective"));
        status->completed = json_integer_value(json_object_get(value, "last_completed_collective"));
        if (!status->id)
            return err_nomem(err);
    }
    return DTKB_OK;
}

static uint32_t member_group(const struct flight *flight, const struct flight_dump *dump, const char *name)
{
    for (size_t i = 0; i < dump->member_count; i++)
        if (!strcmp(flight->groups[dump->member_of[i]].name, name))
            return dump->member_of[i];
    return UINT32_MAX;
}

static void note_id(struct flight *flight, struct flight_dump *dump, uint32_t group, const json_t *id)
{
    for (size_t i = 0; i < dump->id_count; i++)
        if (dump->ids[i].group == group)
            return;
    char number[32];
    (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    const char *copy = json_is_integer(id) && dump->id_count < dump->member_count ? arena_strdup(&flight->arena, number) : NULL;
    if (copy)
        dump->ids[dump->id_count++] = (struct flight_id){group, copy};
}

static bool read_entry(struct flight *flight, struct flight_dump *dump, const json_t *value)
{
    const char *name = json_string_value(json_array_get(json_object_get(value, "process_group"), 0));
    const char *collective = json_string_value(json_object_get(value, "profiling_name"));
    const char *state = json_string_value(json_object_get(value, "state"));
    uint32_t group = name ? member_group(flight, dump, name) : UINT32_MAX;
    if (group == UINT32_MAX || !collective)
        return true;
    note_id(flight, dump, group, json_object_get(value, "pg_id"));
    if (json_is_true(json_object_get(value, "is_p2p"))) {
        flight->groups[group].point_to_point = true;
        return true;
    }
    const json_t *sequence = json_object_get(value, "collective_seq_id");
    if (!sequence)
        sequence = json_object_get(value, "seq_id"); /* version 1 */
    const char *colon = strchr(collective, ':');
    struct flight_entry *entry = &dump->entries[dump->entry_count];
    *entry = (struct flight_entry){.group = group,
                                   .sequence = json_integer_value(sequence),
                                   .created_ns = json_integer_value(json_object_get(value, "time_created_ns")),
                                   .collective = clean_text(&flight->arena, colon ? colon + 1 : collective),
                                   .sizes = value_text(&flight->arena, json_object_get(value, "input_sizes")),
                                   .dtypes = value_text(&flight->arena, json_object_get(value, "input_dtypes")),
                                   .state = FLIGHT_SCHEDULED};
    if (state && !strcmp(state, "started"))
        entry->state = FLIGHT_STARTED;
    else if (state && !strcmp(state, "completed"))
        entry->state = FLIGHT_COMPLETED;
    if (!strncmp(collective, "gloo:", 5) && json_is_true(json_object_get(value, "retired"))) /* it never says more than "scheduled" */
        entry->state = FLIGHT_COMPLETED;
    dump->entry_count++;
    return entry->collective && entry->sizes && entry->dtypes;
}

dtkb_status flight_add(struct flight *flight, const json_t *root, uint32_t file, int32_t rank, struct err *err)
{
    if (flight->dump_count == DUMPS_MAX)
        return err_set(err, DTKB_E_LIMIT, "more than %d Flight Recorder dumps", DUMPS_MAX);
    if ((flight->dump_count & (flight->dump_count - 1)) == 0) {
        size_t capacity = flight->dump_count ? flight->dump_count * 2 : 1;
        struct flight_dump *more = realloc(flight->dumps, capacity * sizeof *more);
        if (!more)
            return err_nomem(err);
        flight->dumps = more;
    }
    const json_t *own = json_object_get(root, "rank"); /* newer dumps name their rank */
    struct flight_dump dump = {.file = file, .rank = json_is_integer(own) ? (int32_t)json_integer_value(own) : rank};
    dtkb_status status = read_groups(flight, &dump, json_object_get(root, "pg_config"), err);
    if (status == DTKB_OK)
        status = read_statuses(flight, &dump, json_object_get(root, "pg_status"), err);
    if (status != DTKB_OK)
        return status;
    const json_t *entries = json_object_get(root, "entries");
    size_t count = json_array_size(entries), first = count > FLIGHT_ENTRIES_MAX ? count - FLIGHT_ENTRIES_MAX : 0;
    dump.entries = arena_alloc(&flight->arena, (count - first + 1) * sizeof *dump.entries);
    dump.ids = arena_alloc(&flight->arena, (dump.member_count + 1) * sizeof *dump.ids);
    if (!dump.entries || !dump.ids)
        return err_nomem(err);
    for (size_t i = first; i < count; i++)
        if (!read_entry(flight, &dump, json_array_get(entries, i)))
            return err_nomem(err);
    flight->dumps[flight->dump_count++] = dump;
    return DTKB_OK;
}

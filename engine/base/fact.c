#include "base/fact.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    [FACT_BOOL] = "bool", [FACT_I64] = "i64", [FACT_U64] = "u64", [FACT_F64] = "f64", [FACT_STRING] = "string",
};

const char *fact_type_name(enum fact_type type)
{
    return type >= FACT_BOOL && type <= FACT_STRING ? type_names[type] : "";
}

enum fact_type fact_type_by_name(const char *name)
{
    for (int type = FACT_BOOL; name && type <= FACT_STRING; type++)
        if (!strcmp(type_names[type], name))
            return (enum fact_type)type;
    return (enum fact_type)0;
}

bool fact_set_add(struct fact_set *set, const struct fact *fact)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? set->capacity * 2 : 64;
        struct fact *facts = realloc(set->facts, capacity * sizeof *facts);
        if (!facts)
            return false;
        set->facts = facts;
        set->capacity = capacity;
    }
    struct fact copy = *fact;
    copy.name = arena_strdup(&set->arena, fact->name);
    copy.unit = arena_strdup(&set->arena, fact->unit ? fact->unit : "");
    copy.origin = arena_strdup(&set->arena, fact->origin ? fact->origin : "");
    copy.plugin = arena_strdup(&set->arena, fact->plugin ? fact->plugin : "");
    if (fact->type == FACT_STRING) {
        copy.value.string = arena_strdup(&set->arena, fact->value.string ? fact->value.string : "");
        if (!copy.value.string)
            return false;
    }
    if (!copy.name || !copy.unit || !copy.origin || !copy.plugin)
        return false;
    set->facts[set->count++] = copy;
    return true;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct fact *)left)->name, ((const struct fact *)right)->name);
}

void fact_set_sort(struct fact_set *set)
{
    if (set->count)
        qsort(set->facts, set->count, sizeof *set->facts, by_name);
}

const struct fact *fact_set_find(const struct fact_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (!strcmp(set->facts[i].name, name))
            return &set->facts[i];
    return NULL;
}

void fact_set_free(struct fact_set *set)
{
    free(set->facts);
    arena_free(&set->arena);
    *set = (struct fact_set){0};
}

bool fact_name_matches(const char *pattern, const char *name)
{
    for (;;) {
        size_t p = strcspn(pattern, "."), n = strcspn(name, ".");
        bool wild = (p == 1 && *pattern == '*') || (p > 2 && *pattern == '{' && pattern[p - 1] == '}');
        if (wild ? n == 0 : p != n || memcmp(pattern, name, n) != 0)
            return false;
        if (!pattern[p] || !name[n])
            return pattern[p] == name[n];
        pattern += p + 1;
        name += n + 1;
    }
}

const char *fact_value_text(const struct fact *fact, char *out, size_t size)
{
    switch (fact->type) {
    case FACT_BOOL:
        (void)snprintf(out, size, "%s", fact->value.boolean ? "true" : "false");
        break;
    case FACT_I64:
        (void)snprintf(out, size, "%" PRId64, fact->value.i64);
        break;
    case FACT_U64:
        if (fact->value.u64 == UINT64_MAX)
            (void)snprintf(out, size, "unlimited");
        else
            (void)snprintf(out, size, "%" PRIu64, fact->value.u64);
        break;
    case FACT_F64:
        (void)snprintf(out, size, "%g", fact->value.f64);
        break;
    case FACT_STRING:
        (void)snprintf(out, size, "%s", fact->value.string);
        break;
    }
    return out;
}

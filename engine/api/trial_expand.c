/* Place holders of changes: NCCL_SOCKET_IFNAME={net.iface.*.ipv4} stands for one change per interface that has an address. */
#include <stdio.h>
#include <string.h>

#include "api/trials.h"

#define VALUE_MAX 256

/* What the first '*' of `pattern` stands for in `name`; `prefix` receives the length of what is before and of the part itself. */
static const char *wild_part(const char *pattern, const char *name, struct arena *arena, size_t *prefix)
{
    const char *start = name;
    for (;;) {
        size_t p = strcspn(pattern, "."), n = strcspn(name, ".");
        if (p == 1 && *pattern == '*') {
            *prefix = (size_t)(name - start) + n;
            return arena_strndup(arena, name, n);
        }
        if (!pattern[p] || !name[n])
            return NULL;
        pattern += p + 1;
        name += n + 1;
    }
}

/* Of an interface or device that is down, is the loopback or belongs to containers, the neighbouring facts say so. */
static bool is_usable(const struct fact_set *facts, const char *name, size_t prefix)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->facts[i];
        if (strncmp(fact->name, name, prefix) != 0)
            continue;
        if (!strcmp(fact->name + prefix, ".up") && fact->type == FACT_BOOL && !fact->value.boolean)
            return false;
        if (!strcmp(fact->name + prefix, ".kind") && fact->type == FACT_STRING &&
            (!strcmp(fact->value.string, "loopback") || !strcmp(fact->value.string, "container")))
            return false;
    }
    return true;
}

const char *trial_place_holder(const char *change, struct arena *arena)
{
    const char *open = strchr(change, '{'), *close = open ? strchr(open, '}') : NULL;
    if (!close)
        return NULL;
    open += 1 + (open[1] == '=');
    return arena_strndup(arena, open, (size_t)(close - open));
}

static bool is_new(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i], text))
            return false;
    return true;
}

/* The text to put in for one fact, NULL when it has none. */
static const char *substitute(const struct fact_set *facts, const struct fact *fact, const char *pattern, bool by_value,
                              struct arena *arena)
{
    char value[VALUE_MAX];
    size_t prefix = 0;
    if (fact->type == FACT_BOOL && !fact->value.boolean)
        return NULL;
    const char *part = wild_part(pattern, fact->name, arena, &prefix);
    if (part && !is_usable(facts, fact->name, prefix))
        return NULL;
    if (by_value)
        part = arena_strdup(arena, fact_value_text(fact, value, sizeof value));
    return part && *part ? part : NULL;
}

size_t trial_expand(const char *change, const struct fact_set *facts, struct arena *arena, const char **out, size_t limit)
{
    const char *open = strchr(change, '{'), *close = open ? strchr(open, '}') : NULL, *pattern = trial_place_holder(change, arena);
    size_t count = 0;
    if (!close) {
        out[0] = change;
        return limit > 0;
    }
    for (size_t i = 0; pattern && i < facts->count && count < limit; i++) {
        const struct fact *fact = &facts->facts[i];
        const char *part = fact_name_matches(pattern, fact->name) ? substitute(facts, fact, pattern, open[1] == '=', arena) : NULL;
        size_t before = (size_t)(open - change), length = part ? strlen(part) : 0, after = strlen(close + 1);
        char *text = part ? arena_alloc(arena, before + length + after + 1) : NULL;
        if (!text)
            continue;
        memcpy(text, change, before);
        memcpy(text + before, part, length);
        memcpy(text + before + length, close + 1, after + 1);
        if (is_new(out, count, text))
            out[count++] = text;
    }
    return count;
}

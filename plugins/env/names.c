/* Names of settings: those that no program reads any more, and those that no program ever read. */
#include <stdio.h>
#include <string.h>

#include "env.h"

#define NAME_MAX_LENGTH 64u

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t env_distance(const char *a, const char *b, size_t limit)
{
    size_t rows[3][NAME_MAX_LENGTH + 1], m = strlen(a), n = strlen(b);
    if (m > NAME_MAX_LENGTH || n > NAME_MAX_LENGTH || (m > n ? m - n : n - m) > limit)
        return limit + 1;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *beyond = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], beyond[j - 2] + 1);
        }
    }
    return least(rows[m % 3][n], limit + 1);
}

static const struct env_variable *find_known(const char *name)
{
    for (size_t i = 0; i < env_variable_count; i++)
        if (!strcmp(env_variables[i].name, name))
            return &env_variables[i];
    return NULL;
}

static const struct env_removed *find_removed(const char *name)
{
    for (size_t i = 0; i < env_removed_count; i++)
        if (!strcmp(env_removed[i].name, name))
            return &env_removed[i];
    return NULL;
}

static const struct env_family *find_family(const char *name)
{
    for (size_t i = 0; i < env_family_count; i++)
        if (!strncmp(name, env_families[i].prefix, strlen(env_families[i].prefix)))
            return &env_families[i];
    return NULL;
}

/* The known name nearest to it; NULL when none is near. A short name has many neighbours, so it must be nearer. */
static const char *nearest(const char *name)
{
    size_t limit = strlen(name) > 14 ? 2 : 1, best = limit + 1;
    const char *found = NULL;
    for (size_t i = 0; i < env_variable_count; i++) {
        size_t distance = env_distance(name, env_variables[i].name, limit);
        if (distance < best) {
            best = distance;
            found = env_variables[i].name;
        }
    }
    return found;
}

static void check_removed(struct env *env, const struct env_removed *removed)
{
    if (!*removed->now)
        env_problem(env, removed->name, "removed", "%s is read by no program since %s: unset it", removed->name, removed->since);
    else if (kit_env(&env->kit, removed->now))
        env_problem(env, removed->name, "removed", "%s is the old name of %s (since %s), which is set too: unset the old one",
                    removed->name, removed->now, removed->since);
    else
        env_problem(env, removed->name, "removed", "%s is called %s since %s: set that instead", removed->name, removed->now,
                    removed->since);
}

static void check_name(struct env *env, const char *name, const char *value)
{
    const struct env_removed *removed = find_removed(name);
    if (removed) {
        check_removed(env, removed);
        return;
    }
    const struct env_variable *known = find_known(name);
    if (known) {
        env_value_check(env, known, value);
        return;
    }
    const struct env_family *family = find_family(name);
    const char *near = nearest(name);
    if (near && !kit_env(&env->kit, near))
        env_problem(env, name, "misspelt", "no program reads %s; %s is meant?", name, near);
    else if (family && family->closed)
        env_problem(env, name, "unknown", "no program is known to read %s", name);
}

void env_names_check(struct env *env)
{
    char name[NAME_MAX_LENGTH + 1];
    for (const char *const *entry = env->kit.call->env; entry && *entry && !kit_stop(&env->kit); entry++) {
        const char *equals = strchr(*entry, '=');
        size_t length = equals ? (size_t)(equals - *entry) : 0;
        if (!length || length >= sizeof name)
            continue;
        memcpy(name, *entry, length);
        name[length] = '\0';
        if (kit_env(&env->kit, name) == equals + 1 && env_may_leave(name, length))
            check_name(env, name, equals + 1);
    }
}

/* Values that the program which reads the setting will not take as meant. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "env.h"

static bool word_of(const char *words, const char *value, size_t length)
{
    while (*words) {
        size_t word = strcspn(words, " ");
        if (word == length && !strncasecmp(words, value, length))
            return true;
        words += word;
        words += strspn(words, " ");
    }
    return false;
}

static bool is_flag(const char *value)
{
    return word_of("0 1 true false t f y n yes no on off", value, strlen(value));
}

static bool all_words(const char *words, const char *value)
{
    value += *value == '^';
    while (*value) {
        size_t length = strcspn(value, ",");
        size_t skip = length && (*value == '^' || *value == '+'); /* one entry may be excluded or added */
        if (!word_of(words, value + skip, length - skip))
            return false;
        value += length;
        value += *value == ',';
    }
    return true;
}

static bool is_size(const char *value)
{
    size_t digits = strspn(value, "0123456789");
    const char *rest = value + digits;
    return digits && (!*rest || (strchr("kKmMgGtT", *rest) && (!rest[1] || !strcasecmp(rest + 1, "b") || !strcasecmp(rest + 1, "ib"))));
}

void env_value_check(struct env *env, const struct env_variable *variable, const char *value)
{
    int64_t number;
    const char *name = variable->name;
    if (!*value)
        return; /* as good as unset */
    switch (variable->kind) {
    case ENV_INT:
        if (!env_integer(value, &number))
            env_problem(env, name, "value", "%s=%.80s is no whole number", name, value);
        else if (number < variable->minimum || number > variable->maximum)
            env_problem(env, name, "range", "%s=%lld is out of range: %lld to %lld", name, (long long)number, (long long)variable->minimum,
                        (long long)variable->maximum);
        break;
    case ENV_BOOL:
        if (!env_integer(value, &number) || number < 0 || number > 1)
            env_problem(env, name, "value", "%s=%.80s: 0 or 1 is read, other words count as 0", name, value);
        break;
    case ENV_FLAG:
        if (!is_flag(value))
            env_problem(env, name, "value", "%s=%.80s is neither on nor off", name, value);
        break;
    case ENV_WORDS:
        if (!word_of(variable->words, value, strlen(value)))
            env_problem(env, name, "value", "%s=%.80s is none of: %s", name, value, variable->words);
        break;
    case ENV_LIST:
        if (!all_words(variable->words, value))
            env_problem(env, name, "value", "%s=%.80s holds a word that is none of: %s", name, value, variable->words);
        break;
    case ENV_BYTES:
        if (!is_size(value))
            env_problem(env, name, "value", "%s=%.80s is no size in bytes", name, value);
        break;
    case ENV_ANY:
        break;
    }
}

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

void env_problem(struct env *env, const char *variable, const char *kind, const char *format, ...)
{
    char text[768], part[96], code[DTKB_FACT_NAME_MAX];
    (void)snprintf(code, sizeof code, "%s-%s", kit_part(part, 72, variable), kind);
    for (size_t i = 0; i < env->problems; i++)
        if (!strcmp(env->codes[i], code))
            return;
    char *kept = env->problems < ENV_PROBLEMS_MAX ? kit_memory(&env->kit, strlen(code) + 1) : NULL;
    if (!kept)
        return;
    env->codes[env->problems++] = memcpy(kept, code, strlen(code) + 1);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kit_wrong(&env->kit, true);
    kit_string(&env->kit, text, variable, "env.problem.%s", code);
}

bool env_integer(const char *text, int64_t *out)
{
    char *end;
    if (!text || !*text)
        return false;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || *end || end == text)
        return false;
    *out = number;
    return true;
}

bool env_number(const struct env *env, const char *name, int64_t *out)
{
    return env_integer(kit_env(&env->kit, name), out);
}

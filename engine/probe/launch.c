#include "probe/launch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dtkb/plugin.h>

#include "base/clock.h"
#include "base/setting.h"

struct env {
    char **items;
    size_t count, capacity;
    struct arena *arena;
    bool failed;
};

static void push(struct env *env, char *entry)
{
    if (entry && env->count + 1 < env->capacity)
        env->items[env->count++] = entry;
    else
        env->failed = true;
}

__attribute__((format(printf, 2, 3))) static void push_formatted(struct env *env, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *entry = length >= 0 ? arena_alloc(env->arena, (size_t)length + 1) : NULL;
    if (entry)
        (void)vsnprintf(entry, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    push(env, entry);
}

static size_t name_length(const char *entry)
{
    return strcspn(entry, "=");
}

/* Sets NAME=VALUE of `entry`, in place of an earlier one. */
static void assign(struct env *env, const char *entry)
{
    size_t length = name_length(entry);
    for (size_t i = 0; i < env->count; i++)
        if (!strncmp(env->items[i], entry, length) && env->items[i][length] == '=') {
            env->items[i] = arena_strdup(env->arena, entry);
            env->failed = env->failed || !env->items[i];
            return;
        }
    push(env, arena_strdup(env->arena, entry));
}

static void remove_variable(struct env *env, const char *name, size_t length)
{
    size_t kept = 0;
    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->items[i], name, length) != 0 || env->items[i][length] != '=')
            env->items[kept++] = env->items[i];
    while (env->count > kept)
        env->items[--env->count] = NULL;
}

/* A trial changes the job's environment: here, so that no probe has to. */
static void apply_trial(struct env *env, const char *trial)
{
    struct setting setting;
    while (setting_next(&trial, &setting)) {
        size_t length = (size_t)(setting.value + setting.value_length - setting.name);
        char *entry = arena_strndup(env->arena, setting.name, length);
        if (!entry)
            env->failed = true;
        else if (setting.value_length)
            assign(env, entry);
        else
            remove_variable(env, setting.name, setting.name_length);
    }
}

static size_t list_length(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

/* Variables of our own that a surrounding run left in the environment must not leak into this one. */
static bool is_reserved(const char *entry)
{
    static const char *const names[] = {"DTKB_FD",        "DTKB_PROBE",    "DTKB_DEADLINE_MS", "DTKB_TIMEOUT_MS",
                                        "DTKB_PROC_ROOT", "DTKB_SYS_ROOT", "DTKB_DEV_ROOT",    "DTKB_COUNT_LEFT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name_length(entry) == strlen(names[i]) && !strncmp(entry, names[i], strlen(names[i])))
            return true;
    return !strncmp(entry, "DTKB_PARAM_", 11);
}

/* "key=value" for every probe, "probe.key=value" for one: returns "key=value" where it is meant for `probe`, else NULL. */
static const char *parameter_for(const char *parameter, const char *probe)
{
    size_t key = name_length(parameter), length = strlen(probe);
    const char *dot = memchr(parameter, '.', key);
    if (!parameter[key])
        return NULL;
    if (!dot)
        return parameter;
    return (size_t)(dot - parameter) == length && !strncmp(parameter, probe, length) ? dot + 1 : NULL;
}

static void push_parameter(struct env *env, const char *parameter)
{
    static const char prefix[] = "DTKB_PARAM_";
    size_t length = name_length(parameter);
    char *entry = arena_alloc(env->arena, sizeof prefix + strlen(parameter));
    if (entry) {
        memcpy(entry, prefix, sizeof prefix - 1);
        memcpy(entry + sizeof prefix - 1, parameter, strlen(parameter) + 1);
        for (char *p = entry; p < entry + sizeof prefix - 1 + length; p++)
            if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *p))
                *p = '_';
        /* Given twice, the later one counts. */
        assign(env, entry);
    } else {
        env->failed = true;
    }
}

static void push_parameters(struct env *env, const struct launch *launch)
{
    for (const char *const *p = launch->options->params; p && *p; p++) {
        const char *parameter = parameter_for(*p, launch->probe->name);
        if (!parameter)
            continue;
        push_parameter(env, parameter);
        if (!strncmp(parameter, "trial=", 6) && (launch->probe->caps & DTKB_CAP_TRIALS))
            apply_trial(env, parameter + 6);
    }
}

static void push_run(struct env *env, const struct launch *launch, struct job *job)
{
    const struct probe_options *options = launch->options;
    push_formatted(env, "DTKB_PROBE=%s", launch->probe->name);
    push_formatted(env, "DTKB_PROC_ROOT=%s", options->proc_root ? options->proc_root : "/proc");
    push_formatted(env, "DTKB_SYS_ROOT=%s", options->sys_root ? options->sys_root : "/sys");
    push_formatted(env, "DTKB_DEV_ROOT=%s", options->dev_root ? options->dev_root : "/dev");
    push_formatted(env, "DTKB_TIMEOUT_MS=%llu", (unsigned long long)(launch->timeout_ns / CLOCK_NS_PER_MS));
    job->deadline_text = arena_alloc(env->arena, DEADLINE_TEXT_SIZE);
    push(env, job->deadline_text);
    push_parameters(env, launch);
}

/* Variables that trials among the parameters may add. */
static size_t settings_in(const char *const *params)
{
    size_t count = 0;
    struct setting setting;
    for (; params && *params; params++) {
        const char *value = strchr(*params, '=');
        for (value = value ? value + 1 : ""; setting_next(&value, &setting);)
            count++;
    }
    return count;
}

static bool set_env(const struct launch *launch, struct arena *arena, struct job *job)
{
    const struct probe_options *options = launch->options;
    const char *const *job_env = options->env ? options->env : (const char *const *)environ;
    struct env env = {.arena = arena};
    env.capacity = list_length(job_env) + list_length(options->params) + settings_in(options->params) + list_length(launch->extra) + 16;
    env.items = arena_alloc(arena, env.capacity * sizeof *env.items);
    if (!env.items)
        return false;
    bool has_path = false;
    for (size_t i = 0; job_env[i]; i++) {
        if (is_reserved(job_env[i]))
            continue;
        push(&env, (char *)job_env[i]);
        has_path = has_path || !strncmp(job_env[i], "PATH=", 5);
    }
    const char *path = getenv("PATH");
    if (!has_path && path && launch->plugin->kind == PLUGIN_PROGRAM)
        push_formatted(&env, "PATH=%s", path); /* a script that begins with "#!/usr/bin/env python3" needs one */
    push_formatted(&env, "DTKB_FD=%d", CHILD_WIRE_FD);
    if (launch->probe)
        push_run(&env, launch, job);
    for (const char *const *extra = launch->extra; extra && *extra; extra++)
        assign(&env, *extra);
    job->env = env.items;
    return !env.failed;
}

static bool set_argv(const struct launch *launch, struct arena *arena, struct job *job)
{
    char **argv = arena_alloc(arena, 8 * sizeof *argv);
    if (!argv)
        return false;
    size_t count = 0;
    const struct plugin *plugin = launch->plugin;
    if (launch->offline) {
        argv[count++] = (char *)launch->helper;
        argv[count++] = (char *)"offline";
    }
    if (plugin->kind == PLUGIN_SHARED) {
        argv[count++] = (char *)launch->helper;
        argv[count++] = (char *)(launch->probe ? "run" : "describe");
    }
    argv[count++] = (char *)plugin->path;
    if (launch->probe)
        argv[count++] = (char *)launch->probe->name;
    else if (plugin->kind == PLUGIN_PROGRAM)
        argv[count++] = (char *)"--describe";
    job->argv = argv;
    return true;
}

bool launch_prepare(const struct launch *launch, struct arena *arena, struct job *job)
{
    job->timeout_ns = launch->timeout_ns;
    return set_argv(launch, arena, job) && set_env(launch, arena, job);
}

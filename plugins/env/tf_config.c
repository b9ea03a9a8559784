/* TF_CONFIG: a JSON object {"cluster": {JOB: [HOST:PORT...]}, "task": {"type": JOB, "index": N}}, the same cluster on each host. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

__attribute__((format(printf, 2, 3))) static void wrong(struct env *env, const char *format, ...)
{
    char text[384];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    env_problem(env, "TF_CONFIG", "invalid", "TF_CONFIG: %s", text);
    kit_wrong(&env->kit, true);
    kit_bool(&env->kit, false, "TF_CONFIG", "env.tf_config.valid");
    kit_fault(&env->kit, "TF_CONFIG: %s; each host needs the same cluster and a task of its own in it", text);
}

static bool is_endpoint(const char *text)
{
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1])
        return false;
    char *end;
    long port = strtol(colon + 1, &end, 10);
    return !*end && port > 0 && port < 65536;
}

/* Each job a list of HOST:PORT, none of them twice. Returns their number, 0 after a complaint. */
static size_t cluster_check(struct env *env, const json_t *cluster)
{
    size_t total = 0, index;
    const char *job;
    json_t *hosts, *host;
    json_t *seen = json_object();
    json_object_foreach((json_t *)cluster, job, hosts)
    {
        if (!json_is_array(hosts)) {
            wrong(env, "cluster.%.40s is no list of HOST:PORT", job);
            total = 0;
            goto done;
        }
        json_array_foreach(hosts, index, host)
        {
            const char *text = json_string_value(host);
            if (!text || !is_endpoint(text)) {
                wrong(env, "entry %zu of cluster.%.40s, '%.80s', is no HOST:PORT", index, job, text ? text : "");
                total = 0;
                goto done;
            }
            if (json_object_get(seen, text)) {
                wrong(env, "%.80s stands in the cluster twice", text);
                total = 0;
                goto done;
            }
            (void)json_object_set_new(seen, text, json_true());
            total++;
        }
    }
    if (!total)
        wrong(env, "the cluster is empty");
done:
    json_decref(seen);
    return total;
}

/* An index may be a number or, as TensorFlow allows, a string of digits. */
static bool task_index(const json_t *value, int64_t *out)
{
    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    return json_is_string(value) && env_integer(json_string_value(value), out);
}

static void task_check(struct env *env, const json_t *cluster, const json_t *task, size_t total)
{
    const char *type = json_string_value(json_object_get(task, "type"));
    int64_t index;
    if (!type || !task_index(json_object_get(task, "index"), &index)) {
        wrong(env, "task has no type or no index");
        return;
    }
    const json_t *hosts = json_object_get(cluster, type);
    if (!hosts && strcmp(type, "evaluator") != 0) { /* an evaluator stands outside of the cluster */
        wrong(env, "task.type '%.40s' is no job of the cluster", type);
        return;
    }
    if (hosts && (index < 0 || (size_t)index >= json_array_size(hosts))) {
        wrong(env, "task.index %lld, but cluster.%.40s has %zu entries", (long long)index, type, json_array_size(hosts));
        return;
    }
    const char *own = json_string_value(json_array_get(hosts, (size_t)index));
    char task_text[96];
    (void)snprintf(task_text, sizeof task_text, "%.60s:%lld", type, (long long)index);
    kit_bool(&env->kit, true, "TF_CONFIG", "env.tf_config.valid");
    kit_u64(&env->kit, total, "tasks", "TF_CONFIG", "env.tf_config.tasks");
    kit_string(&env->kit, task_text, "TF_CONFIG", "env.tf_config.task");
    if (own)
        kit_string(&env->kit, own, "TF_CONFIG", "env.tf_config.own_address");
}

void env_tf_config_check(struct env *env)
{
    const char *text = kit_env(&env->kit, "TF_CONFIG");
    if (!text || !*text)
        return;
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    const json_t *cluster = json_object_get(root, "cluster"), *task = json_object_get(root, "task");
    if (!root)
        wrong(env, "no JSON at character %d: %.120s", error.position, error.text);
    else if (!json_is_object(root))
        wrong(env, "no JSON object");
    else if (json_object_size(root) && !json_is_object(cluster))
        wrong(env, "it has no object 'cluster'");
    else if (json_object_size(root) && !json_is_object(task))
        wrong(env, "it has no object 'task'");
    else if (json_object_size(root)) { /* {} stands for a single worker */
        size_t total = cluster_check(env, cluster);
        if (total)
            task_check(env, cluster, task, total);
    }
    json_decref(root);
}

/* Settings that are each right and together are not. */
#include <stdio.h>
#include <string.h>

#include "env.h"

static bool is_on(const struct env *env, const char *name)
{
    int64_t number;
    return env_number(env, name, &number) && number != 0;
}

static bool is_off(const struct env *env, const char *name)
{
    int64_t number;
    return env_number(env, name, &number) && number == 0;
}

static bool is_set(const struct env *env, const char *name)
{
    const char *value = kit_env(&env->kit, name);
    return value && *value;
}

static void nccl_check(struct env *env)
{
    const char *net = kit_env(&env->kit, "NCCL_NET");
    int64_t a, b;
    if (is_on(env, "NCCL_IB_DISABLE") && net && !strcasecmp(net, "IB")) {
        env_problem(env, "NCCL_NET", "conflict", "NCCL_NET=IB asks for what NCCL_IB_DISABLE=1 forbids");
        kit_fault(&env->kit, "NCCL_NET=IB asks for what NCCL_IB_DISABLE=1 forbids, so NCCL finds no network: unset one of them");
    }
    if (is_on(env, "NCCL_IB_DISABLE") && is_set(env, "NCCL_IB_HCA"))
        env_problem(env, "NCCL_IB_HCA", "conflict", "NCCL_IB_HCA has no effect beside NCCL_IB_DISABLE=1");
    if (net && !strcasecmp(net, "Socket") && is_set(env, "NCCL_IB_HCA"))
        env_problem(env, "NCCL_IB_HCA", "conflict", "NCCL_IB_HCA has no effect beside NCCL_NET=Socket");
    if (is_on(env, "NCCL_P2P_DISABLE") && is_set(env, "NCCL_P2P_LEVEL"))
        env_problem(env, "NCCL_P2P_LEVEL", "conflict", "NCCL_P2P_LEVEL has no effect beside NCCL_P2P_DISABLE=1");
    if (env_number(env, "NCCL_MIN_CTAS", &a) && env_number(env, "NCCL_MAX_CTAS", &b) && a > b)
        env_problem(env, "NCCL_MIN_CTAS", "conflict", "NCCL_MIN_CTAS=%lld is above NCCL_MAX_CTAS=%lld", (long long)a, (long long)b);
    if (env_number(env, "NCCL_MIN_NCHANNELS", &a) && env_number(env, "NCCL_MAX_NCHANNELS", &b) && a > b)
        env_problem(env, "NCCL_MIN_NCHANNELS", "conflict", "NCCL_MIN_NCHANNELS=%lld is above NCCL_MAX_NCHANNELS=%lld", (long long)a,
                    (long long)b);
    if (env_number(env, "NCCL_SOCKET_NTHREADS", &a) && env_number(env, "NCCL_NSOCKS_PERTHREAD", &b) && a > 0 && b > 64 / a)
        env_problem(env, "NCCL_NSOCKS_PERTHREAD", "conflict", "NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD is above 64");
    if (is_off(env, "NCCL_CUMEM_ENABLE") && is_on(env, "NCCL_MNNVL_ENABLE"))
        env_problem(env, "NCCL_MNNVL_ENABLE", "conflict", "multi-node NVLink needs what NCCL_CUMEM_ENABLE=0 turns off");
    const char *subsystems = kit_env(&env->kit, "NCCL_DEBUG_SUBSYS"), *debug = kit_env(&env->kit, "NCCL_DEBUG");
    if (subsystems && *subsystems && (!debug || (strcasecmp(debug, "INFO") != 0 && strcasecmp(debug, "TRACE") != 0)))
        env_problem(env, "NCCL_DEBUG_SUBSYS", "conflict", "NCCL_DEBUG_SUBSYS filters what only NCCL_DEBUG=INFO or TRACE prints");
}

static void torch_check(struct env *env)
{
    if (is_on(env, "TORCH_NCCL_DUMP_ON_TIMEOUT") && !is_on(env, "TORCH_FR_BUFFER_SIZE") && !is_on(env, "TORCH_NCCL_TRACE_BUFFER_SIZE") &&
        (is_off(env, "TORCH_FR_BUFFER_SIZE") || is_off(env, "TORCH_NCCL_TRACE_BUFFER_SIZE")))
        env_problem(env, "TORCH_NCCL_DUMP_ON_TIMEOUT", "conflict", "there is nothing to dump with a trace buffer of size 0");
    if (is_off(env, "TORCH_NCCL_ASYNC_ERROR_HANDLING") && !is_on(env, "TORCH_NCCL_BLOCKING_WAIT"))
        env_problem(env, "TORCH_NCCL_ASYNC_ERROR_HANDLING", "conflict",
                    "with TORCH_NCCL_ASYNC_ERROR_HANDLING=0 and no blocking wait a lost rank hangs the others for ever");
    if (is_on(env, "TORCH_NCCL_BLOCKING_WAIT") && is_on(env, "TORCH_NCCL_ASYNC_ERROR_HANDLING"))
        env_problem(env, "TORCH_NCCL_BLOCKING_WAIT", "conflict",
                    "TORCH_NCCL_BLOCKING_WAIT=1 makes each wait() block the host; TORCH_NCCL_ASYNC_ERROR_HANDLING alone suffices");
}

/* PYTORCH_CUDA_ALLOC_CONF: key:value,... ; an unknown key or a boolean in lower case ends the program at its first allocation. */
static void allocator_check(struct env *env, const char *variable)
{
    static const char *const keys[] = {"max_split_size_mb",
                                       "garbage_collection_threshold",
                                       "expandable_segments",
                                       "roundup_power2_divisions",
                                       "backend",
                                       "release_lock_on_cudamalloc",
                                       "release_lock_on_hipmalloc",
                                       "pinned_use_cuda_host_register",
                                       "pinned_use_hip_host_register",
                                       "pinned_num_register_threads",
                                       "pinned_use_background_threads",
                                       "max_non_split_rounding_mb",
                                       "per_process_memory_fraction",
                                       "graph_capture_record_stream_reuse",
                                       "pinned_reserve_segment_size_mb"};
    const char *text = kit_env(&env->kit, variable);
    for (int depth = 0; text && *text;) {
        size_t key = strcspn(text, ":,[]");
        bool known = depth > 0; /* within [64:8,256:4] */
        for (size_t i = 0; i < sizeof keys / sizeof *keys && !known; i++)
            known = strlen(keys[i]) == key && !strncmp(text, keys[i], key);
        if (!known && key) {
            env_problem(env, variable, "value", "%s: '%.*s' is no option of the allocator; PyTorch stops with an error", variable,
                        (int)(key < 60 ? key : 60), text);
            return;
        }
        const char *value = text[key] == ':' ? text + key + 1 : text + key;
        if (key == strlen("expandable_segments") && !strncmp(text, "expandable_segments", key) && strncmp(value, "True", 4) != 0 &&
            strncmp(value, "False", 5) != 0) {
            env_problem(env, variable, "value", "%s: expandable_segments takes True or False, with a capital", variable);
            return;
        }
        for (text += key; *text && (depth > 0 || *text != ','); text++)
            depth += *text == '[' ? 1 : *text == ']' ? -1 : 0;
        text += *text == ',';
    }
}

void env_conflicts_check(struct env *env)
{
    nccl_check(env);
    torch_check(env);
    allocator_check(env, "PYTORCH_CUDA_ALLOC_CONF");
    allocator_check(env, "PYTORCH_ALLOC_CONF");
    if (is_set(env, "CUDA_VISIBLE_DEVICES") && is_set(env, "NVIDIA_VISIBLE_DEVICES") &&
        !strcmp(kit_env(&env->kit, "NVIDIA_VISIBLE_DEVICES"), "void"))
        env_problem(env, "NVIDIA_VISIBLE_DEVICES", "conflict", "NVIDIA_VISIBLE_DEVICES=void gives the container no GPU at all");
}

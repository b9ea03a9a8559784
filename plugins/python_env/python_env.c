/* The python_env probe: the Python environment of the job, looked at from outside. */
#include "python_env.h"

static const char *const facts[] = {"python.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "prefix", .summary = "folder of the environment to look at", .default_value = NULL},
    {DTKB_PARAM_V1_INIT, .name = "library_folders", .summary = "the dynamic loader's own folders", .default_value = PY_LIBRARY_FOLDERS},
};

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct kit start = kit_start(host, call);
    struct python_env *env = kit_memory(&start, sizeof *env);
    if (!env)
        return DTKB_ERROR;
    env->kit = start;
    if (py_interpreter_find(env)) {
        kit_string(&env->kit, env->executable, "VIRTUAL_ENV, CONDA_PREFIX, PATH", "python.executable");
        kit_string(&env->kit, env->version, env->prefix, "python.version");
        py_sites_find(env);
        py_packages_find(env);
        py_packages_emit(env);
        py_cuda_emit(env);
        py_nccl_emit(env);
    }
    return kit_finish(&env->kit);
}

static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .name = "python_env",
                                        .summary = "the Python environment: packages, CUDA wheels, the NCCL that would be loaded",
                                        .facts = facts, .params = params, .param_count = sizeof params / sizeof *params, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "python_env",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "the Python environment of the job, without running Python",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

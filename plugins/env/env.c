/* The env probe: the job's environment, linted with this machine and this job in view. */
#include "env.h"

static const char *const facts[] = {"env.*", NULL};

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct env env = {.kit = kit_start(host, call)};
    env_values_emit(&env);
    env_ranks_check(&env);
    env_tf_config_check(&env);
    env_devices_check(&env);
    env_conflicts_check(&env);
    env_names_check(&env);
    env_libraries_check(&env);
    kit_u64(&env.kit, env.problems, "problems", "environment", "env.problem.count");
    return kit_finish(&env.kit);
}

static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .name = "env",
                                        .summary = "the job's environment: ranks, devices, settings misspelt, removed or contradictory",
                                        .facts = facts, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "env",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "the job's environment variables, linted",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

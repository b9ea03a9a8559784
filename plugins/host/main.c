#include <string.h>

#include "parts.h"

bool host_is_live(const struct kit *kit)
{
    return !strcmp(kit->call->proc_root, "/proc");
}

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct kit kit = kit_start(host, call);
    double cpu_quota = 0;
    host_limits(&kit);
    host_memory(&kit);
    host_cgroup(&kit, &cpu_quota);
    host_container(&kit);
    host_cpu(&kit, cpu_quota);
    host_system(&kit);
    host_pci(&kit);
    host_disks(&kit);
    return kit_finish(&kit);
}

static const char *const facts[] = {"host.*", "host.*.*", "host.*.*.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "cwd", .summary = "the job's work folder; the current one if not given"},
    {DTKB_PARAM_V1_INIT, .name = "tmp", .summary = "the folder for temporary files; TMPDIR or /tmp if not given"},
    {DTKB_PARAM_V1_INIT, .name = "home", .summary = "the home folder; HOME if not given"},
};
static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .default_timeout_ms = 5000, .name = "host",
                                        .summary = "limits, memory, cgroup, container, processors, clock and disks of this machine",
                                        .caps = DTKB_CAP_PRIVILEGED, .facts = facts, .params = params,
                                        .param_count = sizeof params / sizeof *params, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "host",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "what the operating system grants a job",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

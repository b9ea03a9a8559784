/* A plugin as it was built when version 1 was new. */
#include "plugin_v1_frozen.h"

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    if (!host->param(call, "expected") || host->should_stop(call) || !host->scratch(call, 64) || !call->env[0])
        return DTKB_ERROR;
    host->log(call, 0, "an old plugin in a new host");
    dtkb_result answer = dtkb_emit_u64(host, call, "double.size_bytes", "bytes", 42);
    return answer == DTKB_HEALTHY ? dtkb_emit_string(host, call, "double.name", host->param(call, "expected")) : answer;
}

static const char *const facts[] = {"double.size_bytes", "double.name", NULL};
static const dtkb_param_v1 parameters[] = {{DTKB_PARAM_V1_INIT, .name = "expected", .summary = "what to answer", .default_value = 0}};
static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .name = "first", .summary = "the first", .facts = facts, .params = parameters, .param_count = 1, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "first",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "the first plugin of version 1",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

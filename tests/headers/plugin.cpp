// A plugin in C++: the entry symbol keeps its C name.
#include <dtkb/plugin.h>

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    return dtkb_emit_bool(host, call, "double.up", 1);
}

static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .default_timeout_ms = 0, .name = "cxx", .summary = "in C++", .caps = 0, .caps_required = 0, .facts = nullptr,
     .params = nullptr, .param_count = 0, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,  .name = "cxx",       .version = "1.0", .licence = "MIT",
                                      .summary = "in C++", .probes = probes, .probe_count = 1,  .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

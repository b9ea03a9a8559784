/* Ways to be no plugin, one chosen by FLAW. */
#include <stdlib.h>
#include <unistd.h>

#include <dtkb/plugin.h>

#define FLAW_SIZE 1
#define FLAW_NO_ENTRY 2
#define FLAW_VERSION 3
#define FLAW_NEWER 4
#define FLAW_STRIDE 5
#define FLAW_NAME 6
#define FLAW_REFUSES 7
#define FLAW_CRASHES 8
#define FLAW_HANGS 9
#define FLAW_NO_RUN 10
#define FLAW_PROBE_SIZE 11
#define FLAW_CAPABILITY 12
#define FLAW_TWICE 13
#define FLAW_CLASH 14
#define FLAW_NO_LICENCE 15

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    return dtkb_emit_bool(host, call, "double.up", 1);
}

static const dtkb_probe_v1 probes[] = {
    {.struct_size = FLAW == FLAW_PROBE_SIZE ? 8 : sizeof(dtkb_probe_v1),
     .name = FLAW == FLAW_CLASH ? "good" : "bad-probe",
     .summary = "never runs",
     .caps_required = FLAW == FLAW_CAPABILITY ? 1ull << 40 : 0,
     .run = FLAW == FLAW_NO_RUN ? NULL : run},
    {DTKB_PROBE_V1_INIT, .name = FLAW == FLAW_TWICE ? "bad-probe" : "other-bad-probe", .summary = "never runs", .run = run},
};
static const dtkb_plugin_v1 plugin = {.struct_size = FLAW == FLAW_SIZE ? 16 : sizeof(dtkb_plugin_v1),
                                      .abi_version = FLAW == FLAW_VERSION ? 7 : 1,
                                      .name = FLAW == FLAW_NAME ? "Not A Name" : NAME,
                                      .version = "1.0",
                                      .licence = FLAW == FLAW_NO_LICENCE ? "" : "MIT",
                                      .summary = "broken",
                                      .probes = probes,
                                      .probe_count = 2,
                                      .probe_stride = FLAW == FLAW_STRIDE ? 12 : sizeof(dtkb_probe_v1)};

#if FLAW == FLAW_NO_ENTRY
DTKB_PLUGIN_EXPORT const void *some_other_symbol(void);
const void *some_other_symbol(void)
{
    return &plugin;
}
#else
#if FLAW == FLAW_NEWER
#define dtkb_plugin_entry_v1 dtkb_plugin_entry_v9
#endif
DTKB_PLUGIN_EXPORT const dtkb_plugin_v1 *dtkb_plugin_entry_v1(const dtkb_host_v1 *host, const char **why);
const dtkb_plugin_v1 *dtkb_plugin_entry_v1(const dtkb_host_v1 *host, const char **why)
{
    (void)host;
    if (FLAW == FLAW_CRASHES)
        abort();
    while (FLAW == FLAW_HANGS)
        (void)sleep(1);
    *why = "it wants another host";
    return FLAW == FLAW_REFUSES ? NULL : &plugin;
}
#endif

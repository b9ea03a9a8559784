#include "report.h"

static void take_line(void *context, const char *text)
{
    struct line line;
    if (line_parse(text, &line))
        events_line(context, &line);
}

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    static struct events events; /* one call a process */
    struct kit kit = kit_start(host, call);
    struct source source;
    bool readable = source_read(&kit, &source, take_line, &events);
    kit_bool(&kit, readable, source.name, "kernel.log.readable");
    if (!readable)
        kit_unavailable(&kit,
                        "no kernel log could be read (%s); run as root or in group adm, or save `dmesg -T` where that is allowed and give "
                        "it as file=PATH",
                        source.problem);
    else
        report(&kit, &source, &events);
    return kit_finish(&kit);
}

static const char *const facts[] = {"kernel.*.*", "kernel.*.*.*", "kernel.gpu_reset_required", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "file",
     .summary = "a saved log (of dmesg, journalctl -k, syslog or /dev/kmsg) to read instead of this machine's"}};
static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .default_timeout_ms = 6000, .name = "kernel_log",
                                        .summary = "Xid, out-of-memory kills, bus, link, file system and driver errors in the kernel's log",
                                        .caps = DTKB_CAP_PRIVILEGED, .facts = facts, .params = params,
                                        .param_count = sizeof params / sizeof *params, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "kernel_log",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "what the kernel wrote about GPUs, memory, links and disks",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

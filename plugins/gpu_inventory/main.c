#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/command.h"
#include "inventory.h"

#define OUTPUT_MAX ((size_t)16 << 20)
#define PATIENCE 8.0 /* seconds: without persistence the driver starts each GPU first */

static const char *read_whole(const struct kit *kit, const char *path, size_t *length)
{
    return *path == '/' ? kit_read(kit, OUTPUT_MAX, length, "", "%s", path + 1) : kit_read(kit, OUTPUT_MAX, length, ".", "%s", path);
}

static void add_links(struct kit *kit, struct smi_log *log, const char *program)
{
    static const char *const words[] = {"nvlink", "--status", NULL};
    const char *file = kit_param(kit, "nvlink_file", NULL), *text = NULL;
    struct command_result result;
    if (file) {
        text = read_whole(kit, file, NULL);
    } else if (program && log->count) {
        const struct command command = {.program = program, .words = words, .seconds = 3, .maximum = (size_t)1 << 20};
        text = command_run(kit, &command, &result) ? result.output : NULL;
    } else {
        return;
    }
    if (!text || !nvlink_parse(text, log))
        kit_log(kit, 1, "no states of NVLinks are told");
}

static void take_log(struct kit *kit, const char *text, size_t length, const char *origin, const char *program)
{
    static struct smi_log log; /* one call a process */
    char problem[256];
    if (!smi_log_parse(text, length, &log, problem, sizeof problem)) {
        kit_unavailable(kit, "%s is no complete inventory: %s", origin, problem);
        return;
    }
    add_links(kit, &log, program);
    report_log(kit, &log, origin);
}

static void from_file(struct kit *kit, const char *file)
{
    size_t length = 0;
    const char *text = read_whole(kit, file, &length);
    if (!text)
        kit_unavailable(kit, "%s: %s", file, strerror(errno));
    else
        take_log(kit, text, length, file, NULL);
}

static void from_command(struct kit *kit, const char *program)
{
    static const char *const words[] = {"-q", "-x", NULL};
    const struct command command = {.program = program, .words = words, .seconds = PATIENCE, .maximum = OUTPUT_MAX};
    struct command_result result;
    (void)command_run(kit, &command, &result);
    if (result.end == COMMAND_NOT_FOUND || result.end == COMMAND_FAILED)
        report_missing(kit, result.error);
    else if (result.end == COMMAND_TOO_SLOW)
        report_silence(kit, PATIENCE);
    else if (result.end == COMMAND_TOO_LOUD)
        kit_unavailable(kit, "%s wrote more than %zu MiB", result.path, OUTPUT_MAX >> 20);
    else if (strstr(result.output, "<nvidia_smi_log")) /* also with a status that warns, of a corrupt InfoROM for example */
        take_log(kit, result.output, result.length, "nvidia-smi -q -x", program);
    else
        report_refusal(kit, *result.output ? result.output : result.error, result.status);
}

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct kit kit = kit_start(host, call);
    const char *file = kit_param(&kit, "file", NULL), *program = kit_param(&kit, "command", NULL);
    if (file)
        from_file(&kit, file);
    else if (program || !strcmp(call->proc_root, "/proc"))
        from_command(&kit, program ? program : "nvidia-smi");
    else
        report_missing(&kit, "the recorded tree brings no output of nvidia-smi");
    return kit_finish(&kit);
}

static const char *const facts[] = {"gpu.*", "gpu.*.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "command", .summary = "the nvidia-smi to run", .default_value = "nvidia-smi"},
    {DTKB_PARAM_V1_INIT, .name = "file", .summary = "saved output of nvidia-smi -q -x to read instead"},
    {DTKB_PARAM_V1_INIT, .name = "nvlink_file", .summary = "saved output of nvidia-smi nvlink --status"},
};
static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .default_timeout_ms = 13000, .name = "gpu_inventory",
                                        .summary = "driver, GPUs, their modes, memory, errors, links and clocks, as nvidia-smi tells them",
                                        .caps = DTKB_CAP_GPU, .facts = facts, .params = params,
                                        .param_count = sizeof params / sizeof *params, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "gpu_inventory",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "the NVIDIA GPUs of this machine and their health",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

/*
 * A complete probe: which clock the kernel keeps time with.
 *
 * Reading the processor's own counter takes tens of nanoseconds. When the kernel finds it unstable it falls back to a device such as hpet,
 * whose every reading takes microseconds and a lock, and programs that ask for the time often (profilers, NCCL's proxy threads) crawl.
 */
#include <stdio.h>
#include <string.h>

#include <dtkb/plugin.h>

/* The first line of a file below a root, without its newline. Returns 0 where there is none. */
static int read_line(char *line, size_t size, const char *root, const char *path)
{
    char full[4096];
    (void)snprintf(full, sizeof full, "%s/%s", root, path);
    FILE *file = fopen(full, "r");
    if (!file)
        return 0;
    int good = fgets(line, (int)size, file) != NULL;
    (void)fclose(file);
    line[good ? strcspn(line, "\n") : 0] = '\0';
    return good;
}

/* Is `name` one of the words of `list`? */
static int is_one_of(const char *name, const char *list)
{
    size_t length = strlen(name);
    for (const char *p = list; (p = strstr(p, name)) != NULL; p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return 1;
    return 0;
}

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    char current[64], available[256] = "", reason[160];
    if (!read_line(current, sizeof current, call->sys_root, "devices/system/clocksource/clocksource0/current_clocksource")) {
        host->reason(call, "devices/system/clocksource is not in sysfs"); /* could not look is not the same as all is well */
        return DTKB_UNAVAILABLE;
    }
    (void)read_line(available, sizeof available, call->sys_root, "devices/system/clocksource/clocksource0/available_clocksource");

    const char *accepted = host->param(call, "accept");
    int slow = !is_one_of(current, "tsc kvm-clock hyperv_clocksource_tsc_page arch_sys_counter timebase") &&
               !(accepted && is_one_of(current, accepted));
    int fell_back = slow && is_one_of("tsc", available);

    /* What emit answers other than DTKB_HEALTHY means: stop, and return that. */
    dtkb_result answer = dtkb_emit_string(host, call, "clocksource.current", current);
    if (answer == DTKB_HEALTHY)
        answer = dtkb_emit_bool(host, call, "clocksource.slow", slow);
    if (answer == DTKB_HEALTHY)
        answer = dtkb_emit_bool(host, call, "clocksource.tsc_rejected", fell_back);
    if (answer != DTKB_HEALTHY || !slow)
        return answer;
    (void)snprintf(reason, sizeof reason, "the kernel keeps time with %s, each reading of which is slow", current);
    host->reason(call, reason);
    return DTKB_FAULT;
}

static const char *const facts[] = {"clocksource.current", "clocksource.slow", "clocksource.tsc_rejected", NULL};

static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "accept", .summary = "further clock sources that are fast here, separated by blanks"},
};

static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .name = "clocksource", .summary = "the clock the kernel keeps time with", .facts = facts, .params = params,
     .param_count = 1, .run = run},
};

static const dtkb_plugin_v1 plugin = {
    DTKB_PLUGIN_V1_INIT,
    .name = "clocksource",
    .version = "1.0",
    .licence = "Apache-2.0",
    .summary = "time keeping of the kernel",
    .probes = probes,
    .probe_count = sizeof probes / sizeof *probes,
    .probe_stride = sizeof(dtkb_probe_v1),
};

DTKB_PLUGIN_ENTRY(plugin)

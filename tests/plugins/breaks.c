/* Passive probes for the conformance check: each breaks one clause of the contract, the first none. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dtkb/plugin.h>

#define PROBE(function) static dtkb_result function(const dtkb_host_v1 *host, const dtkb_call_v1 *call)

PROBE(keeps_all)
{
    while (!strcmp(call->proc_root, "/proc") && !host->should_stop(call) && host->now_ns() + 9900000000u < call->deadline_ns)
        (void)usleep(1000);
    if (host->should_stop(call))
        return DTKB_STOPPED;
    return dtkb_emit_bool(host, call, "double.up", 1);
}

#ifdef BREAK_ALL
PROBE(noisy)
{
    puts("debug: here");
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(undeclared)
{
    return dtkb_emit_i64(host, call, "double.offset", "", 1);
}

PROBE(wrong_type)
{
    return dtkb_emit_i64(host, call, "double.up", "", 1);
}

PROBE(deaf)
{
    for (int i = 0; i < 400 && !strcmp(call->proc_root, "/proc"); i++)
        (void)usleep(1000);
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(defiant)
{
    (void)signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < 400 && !strcmp(call->proc_root, "/proc"); i++)
        (void)usleep(1000);
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(fickle)
{
    char name[64];
    (void)snprintf(name, sizeof name, "double.item.%llx.up", (unsigned long long)host->now_ns());
    return dtkb_emit_bool(host, call, name, 1);
}

PROBE(fragile)
{
    if (strcmp(call->proc_root, "/proc") != 0)
        abort();
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(wordless)
{
    (void)host;
    (void)call;
    return DTKB_FAULT;
}

PROBE(fertile)
{
    if (fork() == 0) {
        (void)setsid(); /* out of reach of its process group's end */
        (void)sleep(20);
        _exit(0);
    }
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(littering)
{
    int fd = open("trace.log", O_WRONLY | O_CREAT, 0600);
    (void)close(fd);
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(leaking)
{
    (void)!open("/dev/null", O_RDONLY);
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(crashing)
{
    (void)host;
    (void)call;
    abort();
}

#endif

static const char *const up[] = {"double.up", "double.item.*", NULL};
#define ENTRY(function)                                                                            \
    {                                                                                              \
        DTKB_PROBE_V1_INIT, .name = #function, .summary = "a double", .facts = up, .run = function \
    }
static const dtkb_probe_v1 probes[] = {
    ENTRY(keeps_all),
#ifdef BREAK_ALL
    ENTRY(noisy),     ENTRY(undeclared), ENTRY(wrong_type), ENTRY(deaf),      ENTRY(defiant), ENTRY(fickle),
    ENTRY(fragile),   ENTRY(wordless),   ENTRY(fertile),    ENTRY(littering), ENTRY(leaking), ENTRY(crashing),
#endif
};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = NAME,
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "for the conformance check",
                                      .probes = probes,
                                      .probe_count = sizeof probes / sizeof *probes,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

/* Probes that fail until one thing is changed, for the tests of trials. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dtkb/plugin.h>

static int is_set(const char *name, const char *value)
{
    const char *now = getenv(name);
    return now && !strcmp(now, value);
}

static dtkb_result judge(const dtkb_host_v1 *host, const dtkb_call_v1 *call, int healthy, const char *evidence)
{
    char reason[128];
    if (healthy)
        return DTKB_HEALTHY;
    (void)snprintf(reason, sizeof reason, "%s failed", call->probe);
    host->reason(call, reason);
    host->evidence(call, call->probe, evidence, strlen(evidence));
    return DTKB_FAULT;
}

/* Direct copies between its devices fail. */
static dtkb_result peers(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    return judge(host, call, is_set("NCCL_P2P_DISABLE", "1"), "double peers: cannot map peer memory\n");
}

/* Works over the interface en9 only. */
static dtkb_result sockets(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    return judge(host, call, is_set("NCCL_SOCKET_IFNAME", "en9"), "double sockets: no route to peer\n");
}

/* The same without a word that any cause knows. */
static dtkb_result mute(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    return judge(host, call, is_set("NCCL_NVLS_ENABLE", "0"), "double mute: something went wrong\n");
}

/* Wants two things at once. */
static dtkb_result two(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    int right = is_set("NCCL_ALGO", "Ring") && is_set("NCCL_PROTO", "Simple") && !is_set("NCCL_TWO_IS_BROKEN", "1");
    return judge(host, call, right, "double two: ring and simple\n");
}

/* Fails the first time only, as a file remembers. */
static dtkb_result once(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    const char *path = host->param(call, "memory");
    FILE *file = path ? fopen(path, "r") : NULL;
    int again = file != NULL;
    if (file)
        (void)fclose(file);
    else if (path && (file = fopen(path, "w")))
        (void)fclose(file);
    return judge(host, call, again, "double once: comes and goes\n");
}

/* Fails slowly, whatever is changed. */
static dtkb_result slow(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    const struct timespec moment = {.tv_nsec = 300000000};
    (void)nanosleep(&moment, NULL);
    return judge(host, call, 0, "double slow: broken for good\n");
}

/* Fails, and cannot be run with a change. */
static dtkb_result shy(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    if (!host->param(call, "trial"))
        return judge(host, call, 0, "double shy: broken\n");
    host->reason(call, "not a second time");
    return DTKB_UNAVAILABLE;
}

static dtkb_result interfaces(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    static const char *const names[] = {"lo", "docker0", "en7", "en8", "en9"}, *const kinds[] = {"loopback", "container", "physical"};
    for (int i = 0; i < 5; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "double.iface.%s.ipv4", names[i]);
        (void)dtkb_emit_string(host, call, name, "192.0.2.1");
        (void)snprintf(name, sizeof name, "double.iface.%s.kind", names[i]);
        (void)dtkb_emit_string(host, call, name, kinds[i < 2 ? i : 2]);
        (void)snprintf(name, sizeof name, "double.iface.%s.up", names[i]);
        (void)dtkb_emit_bool(host, call, name, strcmp(names[i], "en7") != 0);
    }
    return DTKB_HEALTHY;
}

#define TRIED(label, function)                                                                                               \
    {                                                                                                                        \
        DTKB_PROBE_V1_INIT, .name = label, .summary = "a double", .caps = DTKB_CAP_ACTIVE | DTKB_CAP_TRIALS, .run = function \
    }
static const dtkb_probe_v1 probes[] = {
    TRIED("try-peers", peers),
    TRIED("try-sockets", sockets),
    TRIED("try-mute", mute),
    TRIED("try-two", two),
    TRIED("try-once", once),
    TRIED("try-slow", slow),
    TRIED("try-shy", shy),
    {DTKB_PROBE_V1_INIT, .name = "try-fixed", .summary = "knows no trials", .caps = DTKB_CAP_ACTIVE, .run = peers},
    {DTKB_PROBE_V1_INIT, .name = "try-interfaces", .summary = "a double", .caps = DTKB_CAP_ACTIVE, .run = interfaces},
};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "trials",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "probes that fail until one thing is changed",
                                      .probes = probes,
                                      .probe_count = sizeof probes / sizeof *probes,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

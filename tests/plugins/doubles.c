/* Probes that misbehave, each in one way, and some that behave. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dtkb/plugin.h>

#define PROBE(function) static dtkb_result function(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
#define UNUSED (void)host, (void)call

PROBE(good)
{
    host->log(call, 1, "looking");
    dtkb_result answer = dtkb_emit_u64(host, call, "double.size_bytes", "bytes", UINT64_MAX);
    if (answer == DTKB_HEALTHY)
        answer = dtkb_emit_bool(host, call, "double.up", 1);
    if (answer == DTKB_HEALTHY)
        answer = dtkb_emit_i64(host, call, "double.offset", "", -3);
    if (answer == DTKB_HEALTHY)
        answer = dtkb_emit_f64(host, call, "double.rate_gbps", "Gbit/s", 12.5);
    if (answer == DTKB_HEALTHY)
        answer = dtkb_emit_string(host, call, "double.name", "caf\xc3\xa9 \"quoted\" \x1b[31m \xff end");
    return answer;
}

PROBE(faulty)
{
    host->reason(call, "the first reason");
    host->reason(call, "it is broken");
    host->evidence(call, "tool", "line one\nline two\n", 18);
    return dtkb_emit_bool(host, call, "double.up", 0) == DTKB_HEALTHY ? DTKB_FAULT : DTKB_ERROR;
}

PROBE(inapplicable)
{
    host->reason(call, "no such device here");
    return DTKB_SKIPPED;
}

PROBE(unable)
{
    host->reason(call, "libfoo.so is missing");
    return DTKB_UNAVAILABLE;
}

/* Tells what it was called with. */
PROBE(echo)
{
    char text[512];
    const char *rank = "unset";
    for (const char *const *entry = call->env; *entry; entry++) {
        if (!strncmp(*entry, "RANK=", 5))
            rank = *entry + 5;
        if (!strncmp(*entry, "DTKB_FD=", 8) || !strncmp(*entry, "DTKB_PARAM_", 11))
            rank = "one of the host's own variables";
    }
    const char *size = host->param(call, "size-bytes"), *other = host->param(call, "other"), *tried = getenv("NCCL_P2P_DISABLE"),
               *names = getenv("NCCL_SOCKET_IFNAME");
    char *scratch = host->scratch(call, 100);
    (void)snprintf(text, sizeof text, "%s %s %s %s rank=%s size=%s other=%s tried=%s,%s,%s scratch=%d left=%d", call->probe,
                   call->proc_root, call->sys_root, call->dev_root, rank, size ? size : "none", other ? other : "none",
                   tried ? tried : "none", names ? names : "none", getenv("NCCL_ALGO") ? "left" : "gone",
                   scratch && !scratch[0] && !scratch[99], call->deadline_ns > host->now_ns() && !host->should_stop(call));
    return dtkb_emit_string(host, call, "double.name", text);
}

PROBE(segfault)
{
    (void)dtkb_emit_bool(host, call, "double.up", 1);
    (void)raise(SIGSEGV);
    return DTKB_HEALTHY;
}

PROBE(aborts)
{
    UNUSED;
    abort();
}

PROBE(exits_0)
{
    UNUSED;
    exit(0);
}

PROBE(exits_3)
{
    UNUSED;
    exit(3);
}

PROBE(loops)
{
    (void)dtkb_emit_bool(host, call, "double.up", 1);
    for (;;)
        (void)host->now_ns();
}

PROBE(ignores_term)
{
    UNUSED;
    (void)signal(SIGTERM, SIG_IGN);
    for (;;)
        (void)sleep(1);
}

PROBE(stops_itself)
{
    UNUSED;
    (void)raise(SIGSTOP);
    for (;;)
        (void)sleep(1);
}

/* Leaves a child that holds the pipes open; the probe itself is well. */
PROBE(grandchild)
{
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGTERM, SIG_IGN);
        for (;;)
            (void)sleep(1);
    }
    return dtkb_emit_u64(host, call, "double.size_bytes", "bytes", (uint64_t)child);
}

PROBE(floods)
{
    static char block[65536];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 1600; i++)
        if (write(i % 2 ? STDOUT_FILENO : STDERR_FILENO, block, sizeof block) < 0)
            break;
    return dtkb_emit_bool(host, call, "double.up", 1);
}

PROBE(ill_typed)
{
    (void)dtkb_emit_bool(host, call, "double.up", 1);
    (void)dtkb_emit_string(host, call, "double.size_bytes", "many");
    (void)sleep(60);
    return DTKB_HEALTHY;
}

PROBE(wrong_unit)
{
    return dtkb_emit_u64(host, call, "double.size_bytes", "kB", 1);
}

PROBE(duplicates)
{
    (void)dtkb_emit_bool(host, call, "double.up", 1);
    return dtkb_emit_bool(host, call, "double.up", 0);
}

PROBE(unknown_fact)
{
    return dtkb_emit_bool(host, call, "nobody.knows.this", 1);
}

PROBE(bad_fact)
{
    dtkb_fact_v1 fact = {.struct_size = sizeof fact, .type = 77, .name = "double.up"};
    return host->emit(call, &fact);
}

PROBE(many_facts)
{
    char name[64];
    for (int i = 0; i < 100000; i++) {
        (void)snprintf(name, sizeof name, "double.item.i%d.up", i);
        dtkb_result answer = dtkb_emit_bool(host, call, name, 1);
        if (answer != DTKB_HEALTHY)
            return answer;
    }
    return DTKB_HEALTHY;
}

/* Goes on after the deadline: through the host table, whose answer it ignores, and past it on the descriptor itself. */
PROBE(late)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)dtkb_emit_bool(host, call, "double.up", 1);
    while (host->now_ns() < call->deadline_ns + 5000000u)
        (void)usleep(1000);
    (void)dtkb_emit_u64(host, call, "double.size_bytes", "bytes", 7);
    static const char line[] = "{\"fact\": \"double.offset\", \"type\": \"i64\", \"value\": 1}\n";
    for (int fd = 3; fd < 256; fd++)
        (void)!write(fd, line, sizeof line - 1);
    for (;;)
        (void)sleep(1);
}

/* Returns in time because it asks. */
PROBE(polite)
{
    (void)dtkb_emit_bool(host, call, "double.up", 1);
    while (!host->should_stop(call))
        (void)usleep(1000);
    return DTKB_STOPPED;
}

PROBE(leaks)
{
    UNUSED;
    for (int i = 0; i < 20; i++) {
        (void)!open("/dev/null", O_RDONLY);
        memset(malloc((size_t)1 << 20), 1, (size_t)1 << 20);
    }
    (void)!malloc(1);
    return DTKB_HEALTHY;
}

PROBE(strange_result)
{
    UNUSED;
    return 99;
}

#define ENTRY(label, function)                                                                             \
    {                                                                                                      \
        DTKB_PROBE_V1_INIT, .name = label, .summary = "a double", .caps = DTKB_CAP_ACTIVE, .run = function \
    }
static const dtkb_param_v1 parameters[] = {{DTKB_PARAM_V1_INIT, .name = "size-bytes", .summary = "any", .default_value = "1"}};
static const char *const facts[] = {"double.*", NULL};
static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .name = "good", .summary = "behaves", .facts = facts, .run = good},
    {DTKB_PROBE_V1_INIT, .name = "echo", .summary = "says how it was called", .caps = DTKB_CAP_TRIALS | DTKB_CAP_ACTIVE,
     .params = parameters, .param_count = 1, .run = echo},
    ENTRY("faulty", faulty),
    ENTRY("inapplicable", inapplicable),
    ENTRY("unable", unable),
    ENTRY("segfault", segfault),
    ENTRY("aborts", aborts),
    ENTRY("exits-0", exits_0),
    ENTRY("exits-3", exits_3),
    ENTRY("loops", loops),
    ENTRY("ignores-term", ignores_term),
    ENTRY("stops-itself", stops_itself),
    ENTRY("grandchild", grandchild),
    ENTRY("floods", floods),
    ENTRY("ill-typed", ill_typed),
    ENTRY("wrong-unit", wrong_unit),
    ENTRY("duplicates", duplicates),
    ENTRY("unknown-fact", unknown_fact),
    ENTRY("bad-fact", bad_fact),
    ENTRY("many-facts", many_facts),
    ENTRY("late", late),
    ENTRY("polite", polite),
    ENTRY("leaks", leaks),
    ENTRY("strange-result", strange_result),
};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "doubles",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "probes that misbehave",
                                      .probes = probes,
                                      .probe_count = sizeof probes / sizeof *probes,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

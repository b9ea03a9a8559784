#include "probe/host/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SCRATCH_MAX ((size_t)256 << 20)
#define EVIDENCE_CHUNK ((size_t)8 << 10) /* a chunk of control characters grows sixfold and still fits a line */

extern char **environ;

struct scratch {
    struct scratch *next;
    max_align_t data[];
};
static struct scratch *scratch_list;
static size_t scratch_used;

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t should_stop(const dtkb_call_v1 *call)
{
    /* A little before the deadline: the probe still has to clean up, and its result to arrive. */
    const uint64_t margin_ns = 50000000u;
    return now_ns() + margin_ns >= call->deadline_ns;
}

static dtkb_result mistake(const char *name, const char *what)
{
    char text[256];
    (void)snprintf(text, sizeof text, "fact '%.*s' %s", (int)DTKB_FACT_NAME_MAX, name ? name : "", what);
    wire_message("mistake", text);
    return DTKB_ERROR;
}

static void emit_value(const dtkb_fact_v1 *fact)
{
    static const char *const types[] = {"", "bool", "i64", "u64", "f64", "string"};
    wire_key("type");
    wire_string(types[fact->type]);
    wire_key("value");
    switch (fact->type) {
    case DTKB_FACT_BOOL:
        wire_bool(fact->value.u64 != 0);
        break;
    case DTKB_FACT_I64:
        wire_i64(fact->value.i64);
        break;
    case DTKB_FACT_U64:
        wire_u64(fact->value.u64);
        break;
    case DTKB_FACT_F64:
        wire_f64(fact->value.f64);
        break;
    default:
        wire_string(fact->value.string);
    }
}

/* Checks what only this side of the pipe can see; the vocabulary and the rest is the supervisor's. */
static dtkb_result emit(const dtkb_call_v1 *call, const dtkb_fact_v1 *fact)
{
    if (!fact || fact->struct_size < sizeof(dtkb_fact_v1))
        return mistake("", "has a struct_size below that of version 1");
    if (!fact->name || !*fact->name || strnlen(fact->name, DTKB_FACT_NAME_MAX + 1) > DTKB_FACT_NAME_MAX)
        return mistake(fact->name, "has an empty name or one longer than DTKB_FACT_NAME_MAX");
    if (fact->type < DTKB_FACT_BOOL || fact->type > DTKB_FACT_STRING)
        return mistake(fact->name, "has an unknown type");
    if (fact->type == DTKB_FACT_BOOL && fact->value.u64 > 1)
        return mistake(fact->name, "is a bool other than 0 and 1");
    if (fact->type == DTKB_FACT_F64 && !isfinite(fact->value.f64))
        return mistake(fact->name, "is not a finite number");
    if (fact->type == DTKB_FACT_STRING &&
        (!fact->value.string || strnlen(fact->value.string, DTKB_FACT_STRING_MAX + 1) > DTKB_FACT_STRING_MAX))
        return mistake(fact->name, "has no string or one longer than DTKB_FACT_STRING_MAX");
    if (now_ns() >= call->deadline_ns)
        return DTKB_STOPPED;
    wire_begin();
    wire_key("fact");
    wire_string(fact->name);
    emit_value(fact);
    if (fact->unit && *fact->unit) {
        wire_key("unit");
        wire_bytes(fact->unit, strnlen(fact->unit, 64));
    }
    if (fact->origin && *fact->origin) {
        wire_key("origin");
        wire_bytes(fact->origin, strnlen(fact->origin, 1024));
    }
    if (fact->flags & DTKB_FACT_WRONG) {
        wire_key("wrong");
        wire_bool(true);
    }
    wire_end();
    return DTKB_HEALTHY;
}

static void reason(const dtkb_call_v1 *call, const char *text)
{
    (void)call;
    wire_message("reason", text ? text : "");
}

static void log_line(const dtkb_call_v1 *call, uint32_t level, const char *text)
{
    (void)call;
    if (!text)
        return;
    wire_begin();
    wire_key("log");
    wire_bytes(text, strnlen(text, 4096));
    wire_key("level");
    wire_u64(level);
    wire_end();
}

static void evidence(const dtkb_call_v1 *call, const char *source, const char *text, size_t length)
{
    (void)call;
    for (size_t at = 0; text && at < length;) {
        size_t chunk = length - at < EVIDENCE_CHUNK ? length - at : EVIDENCE_CHUNK;
        if (at + chunk < length) /* cut between characters */
            while (chunk > 1 && ((unsigned char)text[at + chunk] & 0xc0) == 0x80)
                chunk--;
        wire_begin();
        wire_key("evidence");
        wire_bytes(text + at, chunk);
        wire_key("source");
        wire_bytes(source ? source : "", source ? strnlen(source, 256) : 0);
        wire_end();
        at += chunk;
    }
}

/* Parameters come as DTKB_PARAM_NAME, with '_' for what a variable's name cannot hold. */
static const char *param(const dtkb_call_v1 *call, const char *name)
{
    (void)call;
    char variable[128];
    int length = snprintf(variable, sizeof variable, "DTKB_PARAM_%s", name ? name : "");
    if (length < 0 || (size_t)length >= sizeof variable)
        return NULL;
    for (char *p = variable; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *p))
            *p = '_';
    return getenv(variable);
}

static void *scratch(const dtkb_call_v1 *call, size_t bytes)
{
    (void)call;
    if (bytes > SCRATCH_MAX - scratch_used)
        return NULL;
    struct scratch *block = calloc(1, sizeof *block + bytes);
    if (!block)
        return NULL;
    block->next = scratch_list;
    scratch_list = block;
    scratch_used += bytes;
    return block->data;
}

const dtkb_host_v1 host_services = {
    .struct_size = sizeof(dtkb_host_v1),
    .abi_version = DTKB_PLUGIN_ABI,
    .emit = emit,
    .reason = reason,
    .log = log_line,
    .evidence = evidence,
    .should_stop = should_stop,
    .now_ns = now_ns,
    .param = param,
    .scratch = scratch,
};

void call_release(void)
{
    while (scratch_list) {
        struct scratch *next = scratch_list->next;
        free(scratch_list);
        scratch_list = next;
    }
    scratch_used = 0;
}

static bool is_ours(const char *variable)
{
    static const char *const prefixes[] = {"DTKB_FD=",       "DTKB_PROBE=",    "DTKB_DEADLINE_MS=", "DTKB_TIMEOUT_MS=", "DTKB_PROC_ROOT=",
                                           "DTKB_SYS_ROOT=", "DTKB_DEV_ROOT=", "DTKB_PARAM_",       "DTKB_COUNT_LEFT="};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

static const char *setting(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

bool call_from_environment(dtkb_call_v1 *call, const char *probe)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    /* Lives as long as the process. The process's own environment keeps our variables: param() looks there. */
    const char **env = calloc(count + 1, sizeof *env);
    if (!env)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i]))
            env[kept++] = environ[i];
    *call = (dtkb_call_v1){
        .struct_size = sizeof *call,
        .probe = probe,
        .proc_root = setting("DTKB_PROC_ROOT", "/proc"),
        .sys_root = setting("DTKB_SYS_ROOT", "/sys"),
        .dev_root = setting("DTKB_DEV_ROOT", "/dev"),
        .env = env,
        .deadline_ns = strtoull(setting("DTKB_DEADLINE_MS", "0"), NULL, 10) * 1000000u,
    };
    if (!call->deadline_ns) /* started by hand */
        call->deadline_ns = now_ns() + 10u * 1000000000u;
    return true;
}

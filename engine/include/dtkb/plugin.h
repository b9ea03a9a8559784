/*
 * dtkb/plugin.h: the binary interface between dtkb and its probe plugins.
 *
 * A plugin looks at the live machine and emits facts ("host.shm.size_bytes is 67108864 bytes"). It decides nothing about causes: knowledge
 * packs do that. This header needs nothing but <stdint.h> and <stddef.h>; copy it into your own project if you like.
 *
 * Rules
 *   - Plugins run in a helper process, one probe per process, never in the process that embeds dtkb. A probe that crashes, hangs or prints
 *     costs its own result only. All the same: return when `should_stop` says so, and keep your hands off the machine. A probe reads.
 *   - Strings are UTF-8, NUL-terminated, and valid during the call only; the receiver copies. Nothing that one side allocates is ever freed
 * by the other.
 *   - No exception, longjmp, exit, signal handler, setenv or chdir. What you write to stdout and stderr is captured, capped and shown as
 * notes.
 *   - Every struct begins with `struct_size`. Fill structs with the _INIT macros. Within ABI version 1 structs only grow at the end, so a
 *     reader treats a member as absent when it ends behind `struct_size`, and a plugin built against the first version 1 loads for ever.
 *
 * Smallest plugin
 *   static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
 *   {
 *       return dtkb_emit_u64(host, call, "foo.answer", "", 42);
 *   }
 *   static const dtkb_probe_v1 probes[] = {{DTKB_PROBE_V1_INIT, .name = "foo", .summary = "the answer", .run = run}};
 *   static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT, .name = "foo", .version = "1.0", .licence = "MIT",
 *       .summary = "an example", .probes = probes, .probe_count = 1, .probe_stride = sizeof(dtkb_probe_v1)};
 *   DTKB_PLUGIN_ENTRY(plugin)
 */
#ifndef DTKB_PLUGIN_H
#define DTKB_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The newest ABI version this header describes. The host looks for dtkb_plugin_entry_vN from its newest N down to 1. */
#define DTKB_PLUGIN_ABI 1u

/* What a probe's run() returns. Values are fixed for ever; unknown ones count as DTKB_ERROR. */
typedef int32_t dtkb_result;
#define DTKB_HEALTHY 0     /* looked, and found nothing wrong */
#define DTKB_FAULT 1       /* looked, and the thing is broken; `reason` and the facts say how */
#define DTKB_SKIPPED 2     /* not applicable here (no InfiniBand on this machine); `reason` says why */
#define DTKB_UNAVAILABLE 3 /* could not look: library, device, file or permission missing; `reason` says which */
#define DTKB_STOPPED 4     /* should_stop() said so */
#define DTKB_ERROR 5       /* the probe itself failed; `reason` says at what */

/* Capability and cost bits of a probe. The host ignores bits it does not know in `caps` and refuses a probe with an unknown bit in
 * `caps_required`. */
#define DTKB_CAP_ACTIVE (1ull << 0)     /* does something: sends packets, allocates device memory; runs only when asked for or needed */
#define DTKB_CAP_NETWORK (1ull << 1)    /* talks to other hosts */
#define DTKB_CAP_GPU (1ull << 2)        /* opens a GPU */
#define DTKB_CAP_PRIVILEGED (1ull << 3) /* sees more as root, but works without */
#define DTKB_CAP_MULTI_RANK (1ull << 4) /* meets the other ranks of the job: every rank must run it at the same time */
#define DTKB_CAP_TRIALS (1ull << 5)     /* honours the parameter "trial" */

/* Types of a fact's value. */
typedef uint32_t dtkb_fact_type;
#define DTKB_FACT_BOOL 1u /* value.u64 is 0 or 1 */
#define DTKB_FACT_I64 2u
#define DTKB_FACT_U64 3u    /* UINT64_MAX means unlimited where the vocabulary says so */
#define DTKB_FACT_F64 4u    /* finite */
#define DTKB_FACT_STRING 5u /* at most DTKB_FACT_STRING_MAX bytes of UTF-8 */
#define DTKB_FACT_STRING_MAX 4096u
#define DTKB_FACT_NAME_MAX 120u

typedef union dtkb_fact_value {
    int64_t i64;
    uint64_t u64;
    double f64;
    const char *string;
} dtkb_fact_value;

/* This fact is what the fault consists of (with DTKB_FAULT): it accuses even where no log does. Where a probe marks none, each of its facts
 * may. */
#define DTKB_FACT_WRONG (1ull << 0)

/* One observation. `name` must stand in kb/facts.xml or in the <facts> of a pack: parts joined by dots; a part that names a device,
 * interface or variable may hold any character but a dot, blank or control (write '_' for those). The host checks name and type against the
 * vocabulary and refuses a fact that contradicts it. Emitting a name twice is a fault of the plugin. */
typedef struct dtkb_fact_v1 {
    uint32_t struct_size;
    dtkb_fact_type type;
    const char *name;
    const char *unit;   /* as in the vocabulary; "" or NULL for none */
    const char *origin; /* the file, call or command it was read from; may be NULL */
    dtkb_fact_value value;
    uint64_t flags; /* DTKB_FACT_WRONG or 0 */
} dtkb_fact_v1;

typedef struct dtkb_call_v1 dtkb_call_v1;

/* Services of the host. Slots behind `struct_size` are absent; a slot may be NULL. All may be called from the thread that runs the probe
 * only, `should_stop` and `now_ns` from any thread. */
typedef struct dtkb_host_v1 {
    uint32_t struct_size;
    uint32_t abi_version;
    /* Hands over one fact. Returns DTKB_HEALTHY, or non-zero: stop and return that value (refused, too many, or time is up). */
    dtkb_result (*emit)(const dtkb_call_v1 *call, const dtkb_fact_v1 *fact);
    /* Says why a probe is faulty, skipped or unavailable: one line, the last call wins. */
    void (*reason)(const dtkb_call_v1 *call, const char *text);
    /* A line for the log of the run (level 0 debug, 1 info, 2 warning). Secrets must not be in it. */
    void (*log)(const dtkb_call_v1 *call, uint32_t level, const char *text);
    /* Text of another program that the host shall scan for known signatures as evidence (NCCL's own output). */
    void (*evidence)(const dtkb_call_v1 *call, const char *source, const char *text, size_t length);
    /* Non-zero when the probe must return: its deadline is near or the user cancelled. */
    int32_t (*should_stop)(const dtkb_call_v1 *call);
    /* CLOCK_MONOTONIC in nanoseconds. */
    uint64_t (*now_ns)(void);
    /* A parameter of the run by name, NULL when it was not given. Besides the probe's own: "trial" (NAME=VALUE, or several
     * joined by commas; they are set in the probe's environment already). */
    const char *(*param)(const dtkb_call_v1 *call, const char *name);
    /* Zeroed memory that the host releases after run(); NULL when there is none. */
    void *(*scratch)(const dtkb_call_v1 *call, size_t bytes);
} dtkb_host_v1;

/* One run of one probe. Owned by the host. */
struct dtkb_call_v1 {
    uint32_t struct_size;
    uint32_t reserved;
    const char *probe;     /* name of the probe to run */
    const char *proc_root; /* "/proc", or a recorded tree in tests; likewise the next two */
    const char *sys_root;
    const char *dev_root;
    const char *const *env; /* the job's environment as NAME=VALUE, NULL-terminated; use this, not getenv() */
    uint64_t deadline_ns;   /* on the clock of now_ns() */
    void *host_data;        /* the host's own */
};

typedef dtkb_result (*dtkb_probe_run_v1)(const dtkb_host_v1 *host, const dtkb_call_v1 *call);

/* A parameter that a probe accepts (`dtkb probe NAME --set key=value`). */
typedef struct dtkb_param_v1 {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    const char *summary;
    const char *default_value; /* may be NULL */
} dtkb_param_v1;
#define DTKB_PARAM_V1_INIT .struct_size = (uint32_t)sizeof(dtkb_param_v1)

typedef struct dtkb_probe_v1 {
    uint32_t struct_size;
    uint32_t default_timeout_ms; /* 0: the host's default */
    const char *name;            /* lower case, digits, '-' and '_'; unique among all plugins */
    const char *summary;         /* one line: what it looks at */
    uint64_t caps;
    uint64_t caps_required;   /* bits the host must know to run it safely */
    const char *const *facts; /* names or patterns it may emit, NULL-terminated: gpu.*.name (one part), net.* (any rest) */
    const dtkb_param_v1 *params;
    size_t param_count;
    dtkb_probe_run_v1 run;
} dtkb_probe_v1;
#define DTKB_PROBE_V1_INIT .struct_size = (uint32_t)sizeof(dtkb_probe_v1)

/* What the entry returns: static, const, valid until the process ends. */
typedef struct dtkb_plugin_v1 {
    uint32_t struct_size;
    uint32_t abi_version; /* 1 */
    const char *name;     /* as in libdtkb-probe-NAME.so */
    const char *version;  /* the plugin's own */
    const char *licence;
    const char *summary;
    const dtkb_probe_v1 *probes;
    size_t probe_count;
    size_t probe_stride; /* sizeof(dtkb_probe_v1) of the header it was built with */
} dtkb_plugin_v1;
#define DTKB_PLUGIN_V1_INIT .struct_size = (uint32_t)sizeof(dtkb_plugin_v1), .abi_version = 1u

/* The entry symbol of version 1. `host` is the table given to run() later, so an entry may refuse a host that lacks a service: it returns
 * NULL after `*why` was set to a static text. */
typedef const dtkb_plugin_v1 *(*dtkb_plugin_entry_v1_fn)(const dtkb_host_v1 *host, const char **why);

#if defined(__GNUC__)
#define DTKB_PLUGIN_VISIBLE __attribute__((visibility("default")))
#else
#define DTKB_PLUGIN_VISIBLE
#endif
#ifdef __cplusplus
#define DTKB_PLUGIN_EXPORT extern "C" DTKB_PLUGIN_VISIBLE
#else
#define DTKB_PLUGIN_EXPORT DTKB_PLUGIN_VISIBLE
#endif

/* Emits the entry symbol for a static dtkb_plugin_v1. */
#define DTKB_PLUGIN_ENTRY(description)                                                                         \
    DTKB_PLUGIN_EXPORT const dtkb_plugin_v1 *dtkb_plugin_entry_v1(const dtkb_host_v1 *host, const char **why); \
    DTKB_PLUGIN_EXPORT const dtkb_plugin_v1 *dtkb_plugin_entry_v1(const dtkb_host_v1 *host, const char **why)  \
    {                                                                                                          \
        (void)host;                                                                                            \
        (void)why;                                                                                             \
        return &(description);                                                                                 \
    }

/* Short forms of emit: each fills a dtkb_fact_v1 and hands it over. They return what emit returns. */
static inline dtkb_result dtkb_emit_value(const dtkb_host_v1 *host, const dtkb_call_v1 *call, const char *name, const char *unit,
                                          dtkb_fact_type type, dtkb_fact_value value, const char *origin)
{
    dtkb_fact_v1 fact;
    fact.struct_size = (uint32_t)sizeof fact;
    fact.type = type;
    fact.name = name;
    fact.unit = unit;
    fact.origin = origin;
    fact.value = value;
    fact.flags = 0;
    return host->emit(call, &fact);
}
static inline dtkb_result dtkb_emit_u64(const dtkb_host_v1 *host, const dtkb_call_v1 *call, const char *name, const char *unit,
                                        uint64_t number)
{
    dtkb_fact_value value;
    value.u64 = number;
    return dtkb_emit_value(host, call, name, unit, DTKB_FACT_U64, value, NULL);
}
static inline dtkb_result dtkb_emit_i64(const dtkb_host_v1 *host, const dtkb_call_v1 *call, const char *name, const char *unit,
                                        int64_t number)
{
    dtkb_fact_value value;
    value.i64 = number;
    return dtkb_emit_value(host, call, name, unit, DTKB_FACT_I64, value, NULL);
}
static inline dtkb_result dtkb_emit_f64(const dtkb_host_v1 *host, const dtkb_call_v1 *call, const char *name, const char *unit,
                                        double number)
{
    dtkb_fact_value value;
    value.f64 = number;
    return dtkb_emit_value(host, call, name, unit, DTKB_FACT_F64, value, NULL);
}
static inline dtkb_result dtkb_emit_bool(const dtkb_host_v1 *host, const dtkb_call_v1 *call, const char *name, int truth)
{
    dtkb_fact_value value;
    value.u64 = truth ? 1 : 0;
    return dtkb_emit_value(host, call, name, "", DTKB_FACT_BOOL, value, NULL);
}
static inline dtkb_result dtkb_emit_string(const dtkb_host_v1 *host, const dtkb_call_v1 *call, const char *name, const char *text)
{
    dtkb_fact_value value;
    value.string = text;
    return dtkb_emit_value(host, call, name, "", DTKB_FACT_STRING, value, NULL);
}

#ifdef __cplusplus
}
#endif

#endif

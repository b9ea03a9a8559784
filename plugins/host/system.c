/* Kernel, C library, clock, and the security settings that stop transfers between processes. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include "parts.h"

static void emit_line(struct kit *kit, const char *file, const char *fact)
{
    char line[512];
    if (kit_read_line(kit, line, sizeof line, kit->call->proc_root, "%s", file) && *line)
        kit_string(kit, line, file, "%s", fact);
    else
        kit_log(kit, 1, "%s/%s cannot be read", kit->call->proc_root, file);
}

static void emit_clock(struct kit *kit)
{
    struct timex clock = {.modes = 0}; /* asks, changes nothing */
    int state = adjtimex(&clock);
    if (state < 0) {
        kit_log(kit, 1, "adjtimex: %s; whether the clock is synchronized is not known", strerror(errno));
        return;
    }
    kit_bool(kit, state != TIME_ERROR && !(clock.status & STA_UNSYNC), "adjtimex", "host.clock.synchronized");
    kit_f64(kit, (double)clock.maxerror / 1e6, "s", "adjtimex", "host.clock.max_error_seconds");
}

/* Containers' default filters refuse the NUMA calls; NCCL and Open MPI then run without affinity, or fail. */
static void emit_numa_calls(struct kit *kit)
{
    int mode;
    bool allowed = syscall(SYS_get_mempolicy, &mode, NULL, 0UL, NULL, 0UL) == 0;
    if (allowed || errno == EPERM)
        kit_bool(kit, allowed, "get_mempolicy", "host.seccomp.numa_calls_allowed");
}

static void emit_status(struct kit *kit)
{
    const char *text = kit_read(kit, 65536, NULL, kit->call->proc_root, "self/status");
    const char *seccomp = text ? strstr(text, "\nSeccomp:") : NULL;
    if (seccomp)
        kit_u64(kit, strtoull(strchr(seccomp, ':') + 1, NULL, 10), "", "self/status", "host.seccomp.mode");
    else
        kit_log(kit, 1, "%s/self/status does not tell a seccomp mode", kit->call->proc_root);
}

void host_system(struct kit *kit)
{
    emit_line(kit, "sys/kernel/hostname", "host.name");
    emit_line(kit, "sys/kernel/osrelease", "host.kernel.release");
    uint64_t scope;
    if (kit_read_u64(kit, &scope, kit->call->proc_root, "sys/kernel/yama/ptrace_scope"))
        kit_u64(kit, scope, "", "sys/kernel/yama/ptrace_scope", "host.yama.ptrace_scope");
    else
        kit_log(kit, 0, "this kernel has no Yama: nothing beyond user ids limits transfers between processes");
    emit_status(kit);
    if (!host_is_live(kit))
        return;
    kit_string(kit, gnu_get_libc_version(), "gnu_get_libc_version", "host.libc.version");
    emit_clock(kit);
    emit_numa_calls(kit);
}

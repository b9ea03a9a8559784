/* Resource limits of this process, which are those a job started from the same place gets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

struct limit {
    const char *label; /* in /proc/self/limits */
    const char *fact, *hard_fact;
    const char *unit;
};
static const struct limit limits[] = {
    {"Max locked memory", "host.limit.memlock_bytes", "host.limit.memlock_hard_bytes", "bytes"},
    {"Max open files", "host.limit.nofile", "host.limit.nofile_hard", "files"},
    {"Max processes", "host.limit.nproc", NULL, "processes"},
    {"Max stack size", "host.limit.stack_bytes", NULL, "bytes"},
    {"Max core file size", "host.limit.core_bytes", NULL, "bytes"},
    {"Max address space", "host.limit.address_space_bytes", NULL, "bytes"},
};

/* A number or "unlimited"; moves `*at` behind it. */
static bool take_limit(const char **at, uint64_t *out)
{
    const char *p = *at + strspn(*at, " \t");
    if (!strncmp(p, "unlimited", 9)) {
        *out = UINT64_MAX;
        *at = p + 9;
        return true;
    }
    char *end;
    *out = strtoull(p, &end, 10);
    if (end == p || *p == '-')
        return false;
    *at = end;
    return true;
}

static void emit_limit(struct kit *kit, const struct limit *limit, const char *text)
{
    const char *line = strstr(text, limit->label);
    uint64_t soft, hard;
    const char *at = line ? line + strlen(limit->label) : NULL;
    if (!at || !take_limit(&at, &soft) || !take_limit(&at, &hard)) {
        kit_log(kit, 1, "self/limits does not tell '%s'", limit->label);
        return;
    }
    kit_u64(kit, soft, limit->unit, "self/limits", "%s", limit->fact);
    if (limit->hard_fact)
        kit_u64(kit, hard, limit->unit, "self/limits", "%s", limit->hard_fact);
}

void host_limits(struct kit *kit)
{
    const char *text = kit_read(kit, 8192, NULL, kit->call->proc_root, "self/limits");
    if (!text) {
        kit_log(kit, 1, "no resource limits: %s/self/limits cannot be read", kit->call->proc_root);
        return;
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        emit_limit(kit, &limits[i], text);
}

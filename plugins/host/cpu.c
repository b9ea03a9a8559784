/* Processors: how many there are, how many this process may use, and on which NUMA nodes they sit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

#define CPU_MAX 8192
struct cpu_set {
    uint64_t bits[CPU_MAX / 64];
};

/* "0-3,8,10-11": ranges joined by commas. False when it is no such list. */
static bool parse_list(const char *text, struct cpu_set *set)
{
    memset(set, 0, sizeof *set);
    const char *at = text + strspn(text, " \t");
    while (*at && *at != '\n') {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end == at)
            return false;
        if (*end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            if (end == at)
                return false;
        }
        if (first > last || last >= CPU_MAX)
            return false;
        for (unsigned long cpu = first; cpu <= last; cpu++)
            set->bits[cpu / 64] |= (uint64_t)1 << (cpu % 64);
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',' && *end != '\n')
            return false;
    }
    return true;
}

static unsigned count(const struct cpu_set *set)
{
    unsigned sum = 0;
    for (size_t i = 0; i < CPU_MAX / 64; i++)
        sum += (unsigned)__builtin_popcountll(set->bits[i]);
    return sum;
}

static bool meet(const struct cpu_set *a, const struct cpu_set *b)
{
    for (size_t i = 0; i < CPU_MAX / 64; i++)
        if (a->bits[i] & b->bits[i])
            return true;
    return false;
}

static bool read_list(struct kit *kit, struct cpu_set *set, const char *path, unsigned node)
{
    const char *text = kit_read(kit, 16384, NULL, kit->call->sys_root, path, node);
    return text && *text && *text != '\n' && parse_list(text, set);
}

static bool allowed_processors(struct kit *kit, struct cpu_set *set)
{
    const char *text = kit_read(kit, 65536, NULL, kit->call->proc_root, "self/status");
    const char *line = text ? strstr(text, "\nCpus_allowed_list:") : NULL;
    return line && parse_list(strchr(line, ':') + 1, set);
}

static void emit_nodes(struct kit *kit, const struct cpu_set *allowed)
{
    struct cpu_set nodes, processors;
    if (!read_list(kit, &nodes, "devices/system/node/online", 0)) {
        kit_log(kit, 1, "no NUMA nodes are told by %s/devices/system/node", kit->call->sys_root);
        return;
    }
    kit_u64(kit, count(&nodes), "nodes", "devices/system/node/online", "host.numa.nodes");
    unsigned reached = 0;
    for (unsigned node = 0; allowed && node < CPU_MAX; node++)
        if (nodes.bits[node / 64] >> (node % 64) & 1 && read_list(kit, &processors, "devices/system/node/node%u/cpulist", node))
            reached += meet(&processors, allowed);
    if (allowed)
        kit_u64(kit, reached, "nodes", "devices/system/node", "host.numa.allowed_nodes");
    uint64_t balancing;
    if (kit_read_u64(kit, &balancing, kit->call->proc_root, "sys/kernel/numa_balancing"))
        kit_bool(kit, balancing != 0, "sys/kernel/numa_balancing", "host.numa.balancing");
}

void host_cpu(struct kit *kit, double cpu_quota)
{
    struct cpu_set online, allowed;
    if (read_list(kit, &online, "devices/system/cpu/online", 0))
        kit_u64(kit, count(&online), "cores", "devices/system/cpu/online", "host.cpu.online");
    else
        kit_log(kit, 1, "%s/devices/system/cpu/online cannot be read", kit->call->sys_root);
    bool known = allowed_processors(kit, &allowed);
    if (known) {
        double cores = count(&allowed);
        kit_u64(kit, count(&allowed), "cores", "self/status", "host.cpu.allowed");
        kit_f64(kit, cpu_quota > 0 && cpu_quota < cores ? cpu_quota : cores, "cores", "affinity and quota", "host.cpu.usable");
    } else {
        kit_log(kit, 1, "%s/self/status does not tell the processors this process may use", kit->call->proc_root);
    }
    emit_nodes(kit, known ? &allowed : NULL);
}

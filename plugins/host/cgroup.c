/* Limits and kills of this process's control group and those above it, version 1 and 2. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mounts.h"
#include "parts.h"

/* The folder of this process in one hierarchy, relative to the root of sysfs: "fs/cgroup/memory/user.slice/job". The part up to `top`
 * bytes is the mount; above it nothing can be seen. */
struct group {
    bool found;
    size_t top;
    char path[PATH_MAX];
};

/* Kernels write "no limit" of version 1 as the largest multiple of the page size. */
#define V1_UNLIMITED ((uint64_t)1 << 62)

/* The path of this process in the hierarchy of `controller` ("" for version 2) from /proc/self/cgroup: "4:cpu,cpuacct:/path". */
static bool own_path(const char *text, const char *controller, char *out, size_t size)
{
    for (const char *line = text; line && *line; line = kit_after(line, '\n')) {
        const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        char controllers[256];
        if (!path || (size_t)(path - list) > sizeof controllers)
            continue;
        (void)snprintf(controllers, sizeof controllers, "%.*s", (int)(path - list - 1), list + 1);
        if (*controller ? !mount_option(controllers, controller) : *controllers != '\0')
            continue;
        int length = snprintf(out, size, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
        return length > 0 && (size_t)length < size;
    }
    return false;
}

/* `path` as seen from a mount of `root`; outside of it (another namespace's) the mount's own folder is the nearest there is. */
static const char *below(const char *path, const char *root)
{
    size_t length = strcmp(root, "/") ? strlen(root) : 0;
    if (strstr(path, "/..") || strncmp(path, root, length) != 0 || (path[length] && path[length] != '/'))
        return "";
    return strcmp(path + length, "/") ? path + length : "";
}

static struct group find_group(struct kit *kit, const char *text, const char *controller)
{
    struct group group = {.found = false};
    char path[PATH_MAX];
    char *at = own_path(text, controller, path, sizeof path) ? mounts_read(kit) : NULL;
    struct mount mount;
    while (at && !group.found && mount_next(&at, &mount)) {
        bool fits =
            *controller ? !strcmp(mount.type, "cgroup") && mount_option(mount.super_options, controller) : !strcmp(mount.type, "cgroup2");
        if (!fits || strncmp(mount.point, "/sys/", 5) != 0)
            continue;
        group.top = strlen(mount.point + 5);
        int length = snprintf(group.path, sizeof group.path, "%s%s", mount.point + 5, below(path, mount.root));
        group.found = length > 0 && (size_t)length < sizeof group.path;
    }
    return group;
}

/* To the parent; false when this was the top. */
static bool go_up(struct group *group)
{
    char *slash = strrchr(group->path, '/');
    if (!slash || strlen(group->path) <= group->top)
        return false;
    *slash = '\0';
    return true;
}

/* The least value of `file` from the group upward; UINT64_MAX for no limit. `at` receives the folder that sets it. */
static uint64_t tightest(struct kit *kit, struct group group, const char *file, char *at, size_t size)
{
    uint64_t least = UINT64_MAX, value;
    (void)snprintf(at, size, "%s/%s", group.path, file);
    do {
        if (kit_read_u64(kit, &value, kit->call->sys_root, "%s/%s", group.path, file) && value < V1_UNLIMITED && value < least) {
            least = value;
            (void)snprintf(at, size, "%s/%s", group.path, file);
        }
    } while (go_up(&group));
    return least;
}

/* The number behind "oom_kill" in memory.events or memory.oom_control. */
static bool oom_kills(struct kit *kit, const struct group *group, const char *file, uint64_t *out)
{
    const char *text = kit_read(kit, 4096, NULL, kit->call->sys_root, "%s/%s", group->path, file);
    const char *key = text ? (!strncmp(text, "oom_kill ", 9) ? text : strstr(text, "\noom_kill ")) : NULL;
    if (!key)
        return false;
    *out = strtoull(strchr(key, ' '), NULL, 10);
    return true;
}

static void emit_kills(struct kit *kit, struct group group, const char *file)
{
    uint64_t own, above = 0, here;
    char origin[PATH_MAX + 32];
    (void)snprintf(origin, sizeof origin, "%s/%s", group.path, file);
    if (!oom_kills(kit, &group, file, &own)) {
        kit_log(kit, 1, "no count of out-of-memory kills: %s is absent or does not tell it", origin);
        return;
    }
    bool is_root = strlen(group.path) == group.top && kit_exists(kit, kit->call->sys_root, "%s/release_agent", group.path);
    /* The root of the machine is nobody's own: what was killed there may be anybody's. */
    kit_wrong(kit, own && !is_root);
    kit_u64(kit, own, "kills", origin, "host.cgroup.oom_kills");
    if (own && !is_root)
        kit_fault(kit, "the kernel killed %llu process%s of this control group for lack of memory (%s)", (unsigned long long)own,
                  own == 1 ? "" : "es", origin);
    while (go_up(&group))
        if (oom_kills(kit, &group, file, &here) && here > above)
            above = here;
    kit_u64(kit, above > own ? above - own : 0, "kills", origin, "host.cgroup.oom_kills_elsewhere");
}

static void emit_memory(struct kit *kit, const struct group *group, bool v2)
{
    char at[PATH_MAX + 64];
    uint64_t used, limit = tightest(kit, *group, v2 ? "memory.max" : "memory.limit_in_bytes", at, sizeof at);
    kit_u64(kit, limit, "bytes", at, "host.cgroup.memory_limit_bytes");
    const char *file = v2 ? "memory.current" : "memory.usage_in_bytes";
    if (kit_read_u64(kit, &used, kit->call->sys_root, "%s/%s", group->path, file))
        kit_u64(kit, used, "bytes", file, "host.cgroup.memory_used_bytes");
    emit_kills(kit, *group, v2 ? "memory.events" : "memory.oom_control");
}

static void emit_pids(struct kit *kit, const struct group *group)
{
    char at[PATH_MAX + 64];
    uint64_t used, limit = tightest(kit, *group, "pids.max", at, sizeof at);
    kit_u64(kit, limit, "processes", at, "host.cgroup.pids_limit");
    if (kit_read_u64(kit, &used, kit->call->sys_root, "%s/pids.current", group->path))
        kit_u64(kit, used, "processes", "pids.current", "host.cgroup.pids_used");
}

/* Quota and period in microseconds: "cpu.max" holds both, version 1 has a file for each with -1 for none. */
static double quota_here(struct kit *kit, const struct group *group, bool v2)
{
    char line[64];
    double quota = 0;
    uint64_t period = 0, number = 0;
    if (v2) {
        char *end;
        if (!kit_read_line(kit, line, sizeof line, kit->call->sys_root, "%s/cpu.max", group->path) || *line == 'm')
            return 0;
        quota = (double)strtoull(line, &end, 10);
        period = strtoull(end, NULL, 10);
    } else if (kit_read_u64(kit, &number, kit->call->sys_root, "%s/cpu.cfs_quota_us", group->path) &&
               kit_read_u64(kit, &period, kit->call->sys_root, "%s/cpu.cfs_period_us", group->path)) {
        quota = (double)number;
    }
    return period ? quota / (double)period : 0;
}

static void emit_throttling(struct kit *kit, const struct group *group, bool v2)
{
    const char *text = kit_read(kit, 4096, NULL, kit->call->sys_root, "%s/cpu.stat", group->path);
    const char *key = text ? strstr(text, v2 ? "throttled_usec " : "throttled_time ") : NULL;
    if (key)
        kit_f64(kit, (double)strtoull(strchr(key, ' '), NULL, 10) / (v2 ? 1e6 : 1e9), "s", "cpu.stat", "host.cgroup.cpu_throttled_seconds");
}

static double emit_cpu(struct kit *kit, struct group group, bool v2)
{
    const struct group own = group;
    double least = 0;
    char at[PATH_MAX] = "";
    do {
        double quota = quota_here(kit, &group, v2);
        if (quota > 0 && (least <= 0 || quota < least)) {
            least = quota;
            (void)snprintf(at, sizeof at, "%s", group.path);
        }
    } while (go_up(&group));
    if (least > 0) {
        kit_f64(kit, least, "cores", at, "host.cgroup.cpu_quota");
        emit_throttling(kit, &own, v2);
    }
    return least;
}

void host_cgroup(struct kit *kit, double *cpu_quota)
{
    const char *text = kit_read(kit, 65536, NULL, kit->call->proc_root, "self/cgroup");
    if (!text) {
        kit_log(kit, 1, "no control group: %s/self/cgroup cannot be read", kit->call->proc_root);
        return;
    }
    /* A controller lives in one hierarchy only; with both versions mounted, in that of version 1 where it stands there. */
    const struct group unified = find_group(kit, text, ""), memory = find_group(kit, text, "memory"), pids = find_group(kit, text, "pids"),
                       cpu = find_group(kit, text, "cpu");
    bool v1 = memory.found || pids.found || cpu.found;
    kit_u64(kit, v1 ? 1 : unified.found ? 2 : 0, "", "self/cgroup", "host.cgroup.version");
    if (!v1 && !unified.found) {
        kit_log(kit, 1, "no control group file system is mounted below /sys");
        return;
    }
    if (memory.found || unified.found)
        emit_memory(kit, memory.found ? &memory : &unified, !memory.found);
    if (pids.found || unified.found)
        emit_pids(kit, pids.found ? &pids : &unified);
    if (cpu.found || unified.found)
        *cpu_quota = emit_cpu(kit, cpu.found ? cpu : unified, !cpu.found);
}

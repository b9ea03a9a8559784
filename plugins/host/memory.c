/* Memory, swap and the shared memory area. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "parts.h"

/* The number behind `key` at the start of a line of a "key value" file; `scale` 1024 for meminfo's kB. */
static void emit_field(struct kit *kit, const char *text, const char *key, uint64_t scale, const char *unit, const char *origin,
                       const char *fact)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = kit_after(line, '\n')) {
        if (strncmp(line, key, length) != 0)
            continue;
        char *end;
        errno = 0;
        uint64_t number = strtoull(line + length, &end, 10);
        if (end != line + length && !errno && number <= UINT64_MAX / scale) {
            kit_u64(kit, number * scale, unit, origin, "%s", fact);
            return;
        }
    }
    kit_log(kit, 1, "%s does not tell %s", origin, key);
}

static void emit_meminfo(struct kit *kit)
{
    const char *text = kit_read(kit, 16384, NULL, kit->call->proc_root, "meminfo");
    if (!text) {
        kit_log(kit, 1, "no memory sizes: %s/meminfo cannot be read", kit->call->proc_root);
        return;
    }
    emit_field(kit, text, "MemTotal:", 1024, "bytes", "meminfo", "host.memory.total_bytes");
    emit_field(kit, text, "MemAvailable:", 1024, "bytes", "meminfo", "host.memory.available_bytes");
    emit_field(kit, text, "SwapTotal:", 1024, "bytes", "meminfo", "host.swap.total_bytes");
    emit_field(kit, text, "SwapFree:", 1024, "bytes", "meminfo", "host.swap.free_bytes");
}

static void emit_shm(struct kit *kit)
{
    char path[PATH_MAX];
    struct statvfs area;
    int length = snprintf(path, sizeof path, "%s/shm", kit->call->dev_root);
    if (length < 0 || (size_t)length >= sizeof path || statvfs(path, &area) != 0) {
        kit_log(kit, 2, "no shared memory area: %s: %s", path, strerror(errno));
        return;
    }
    uint64_t size = (uint64_t)area.f_blocks * area.f_frsize, available = (uint64_t)area.f_bavail * area.f_frsize;
    kit_u64(kit, size, "bytes", path, "host.shm.size_bytes");
    const bool full = size && available < (uint64_t)64 << 10;
    kit_wrong(kit, full);
    kit_u64(kit, available, "bytes", path, "host.shm.free_bytes");
    if (full)
        kit_fault(kit, "%s is full: %llu bytes of %llu are free; remove what dead jobs left there", path, (unsigned long long)available,
                  (unsigned long long)size);
}

void host_memory(struct kit *kit)
{
    emit_meminfo(kit);
    const char *text = kit_read(kit, 65536, NULL, kit->call->proc_root, "vmstat");
    if (text)
        emit_field(kit, text, "oom_kill ", 1, "kills", "vmstat", "host.memory.oom_kills");
    emit_shm(kit);
}

/* CUDA_VISIBLE_DEVICES against the GPUs of this machine. CUDA reads it up to the first entry that names no device, and hides the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

#define DEVICES_MAX 256u

struct devices {
    bool known;
    size_t count;
    char uuids[64][48]; /* "GPU-..." */
    size_t uuid_count;
};

static void uuid_read(const struct kit *kit, const char *folder, struct devices *devices)
{
    const char *text = kit_read(kit, 4096, NULL, kit->call->proc_root, "driver/nvidia/gpus/%s/information", folder);
    const char *at = text ? strstr(text, "GPU UUID:") : NULL;
    if (at && devices->uuid_count < 64 && sscanf(at + 9, " %47s", devices->uuids[devices->uuid_count]) == 1)
        devices->uuid_count++;
}

/* The driver's own list, otherwise the device nodes. */
static void devices_find(const struct kit *kit, struct devices *devices)
{
    size_t count = 0;
    const char **names = kit_list(kit, &count, kit->call->proc_root, "driver/nvidia/gpus");
    if (names) {
        devices->known = true;
        devices->count = count;
        for (size_t i = 0; i < count; i++)
            uuid_read(kit, names[i], devices);
        return;
    }
    names = kit_list(kit, &count, kit->call->dev_root, ".");
    for (size_t i = 0; names && i < count; i++)
        if (!strncmp(names[i], "nvidia", 6) && names[i][6] && strspn(names[i] + 6, "0123456789") == strlen(names[i] + 6))
            devices->count++;
    devices->known = devices->count > 0;
}

/* Is there no such device? `why` says so. Unknown devices are not called wrong. */
static bool entry_wrong(const struct devices *devices, const char *entry, char *why, size_t size)
{
    int64_t index;
    if (env_integer(entry, &index)) {
        if (index < 0)
            (void)snprintf(why, size, "%s hides itself and all after it", entry);
        else if (devices->known && (uint64_t)index >= devices->count)
            (void)snprintf(why, size, "there is no device %s: this machine has %zu", entry, devices->count);
        return *why != '\0';
    }
    if (!strncmp(entry, "MIG-", 4))
        return false;
    if (strncmp(entry, "GPU-", 4) != 0) {
        (void)snprintf(why, size, "'%.60s' is neither a number nor a GPU- or MIG- identifier", entry);
        return true;
    }
    for (size_t i = 0; i < devices->uuid_count; i++) /* the beginning suffices */
        if (!strncmp(devices->uuids[i], entry, strlen(entry)))
            return false;
    if (devices->uuid_count && devices->uuid_count == devices->count)
        (void)snprintf(why, size, "no GPU here is called %.60s", entry);
    return *why != '\0';
}

static bool seen_before(const char *const *entries, size_t count, const char *entry)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(entries[i], entry))
            return true;
    return false;
}

/* Each entry; the number of those that CUDA will see. */
static size_t entries_check(const struct devices *devices, char *list, char *why, size_t size)
{
    const char *entries[DEVICES_MAX];
    char *kept = NULL;
    size_t count = 0;
    for (char *entry = strtok_r(list, ",", &kept); entry && count < DEVICES_MAX; entry = strtok_r(NULL, ",", &kept)) {
        while (*entry == ' ')
            entry++;
        entry[strcspn(entry, " ")] = '\0';
        if (entry_wrong(devices, entry, why, size))
            return count;
        if (seen_before(entries, count, entry)) {
            (void)snprintf(why, size, "%.60s stands there twice, and CUDA then shows no device", entry);
            return 0;
        }
        entries[count++] = entry;
    }
    return count;
}

static void local_rank_check(struct env *env, size_t count)
{
    int64_t rank;
    bool known = env_number(env, "LOCAL_RANK", &rank);
    /* One device each is the other way to give ranks their GPUs. */
    if (!known || count <= 1 || rank < 0 || (size_t)rank < count)
        return;
    env_problem(env, "LOCAL_RANK", "device", "LOCAL_RANK=%lld, but CUDA_VISIBLE_DEVICES shows %zu devices", (long long)rank, count);
    kit_fault(&env->kit,
              "LOCAL_RANK=%lld has no GPU: CUDA_VISIBLE_DEVICES shows %zu; start %zu processes on this host or show more devices",
              (long long)rank, count, count);
}

void env_devices_check(struct env *env)
{
    struct kit *kit = &env->kit;
    const char *setting = kit_env(kit, "CUDA_VISIBLE_DEVICES");
    if (!setting)
        return;
    size_t length = strlen(setting);
    char *list = kit_memory(kit, length + 1), why[192] = "";
    struct devices *devices = kit_memory(kit, sizeof *devices);
    if (!list || !devices)
        return;
    memcpy(list, setting, length + 1);
    devices_find(kit, devices);
    size_t count = entries_check(devices, list, why, sizeof why);
    bool none_meant = !strcmp(setting, "-1") || !*setting || !strcasecmp(setting, "NoDevFiles") || !strcasecmp(setting, "none");
    kit_u64(kit, count, "devices", "CUDA_VISIBLE_DEVICES", "env.cuda_visible.count");
    if (*why && !none_meant) {
        kit_wrong(kit, true);
        kit_bool(kit, true, "CUDA_VISIBLE_DEVICES, proc/driver/nvidia/gpus", "env.cuda_visible.invalid");
        env_problem(env, "CUDA_VISIBLE_DEVICES", "device", "CUDA_VISIBLE_DEVICES=%.120s: %s", setting, why);
        kit_fault(kit, "CUDA_VISIBLE_DEVICES=%.120s: %s; CUDA shows %zu of its devices", setting, why, count);
    } else if (devices->known) {
        kit_bool(kit, false, "CUDA_VISIBLE_DEVICES, proc/driver/nvidia/gpus", "env.cuda_visible.invalid");
    }
    local_rank_check(env, count);
}

/* InfiniBand, RoCE and EFA devices from /sys/class/infiniband: ports, link, counters, access, peer memory. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

struct totals {
    uint64_t active, down, efa;
    double rate_ib, rate_ethernet; /* of the first active port of that link layer */
    bool mismatch;
    uint64_t chosen; /* ports that NCCL_IB_HCA selects */
};

/* "4: ACTIVE" is ACTIVE. */
static const char *after_number(const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return text;
    colon++;
    return colon + strspn(colon, " ");
}

/* The sum of those counters that the driver has; false when it has none of them. */
static bool counters_sum(const struct kit *kit, const char *device, const char *port, const char *const *names, uint64_t *out)
{
    bool any = false;
    *out = 0;
    for (; *names; names++) {
        uint64_t value;
        if (!kit_read_u64(kit, &value, kit->call->sys_root, "class/infiniband/%s/ports/%s/%s", device, port, *names))
            continue;
        any = true;
        *out += value;
    }
    return any;
}

static void counters_emit(struct kit *kit, const char *device, const char *part, const char *port)
{
    static const char *const downed[] = {"counters/link_downed", NULL};
    static const char *const symbols[] = {"counters/symbol_error", NULL};
    static const char *const retries[] = {"hw_counters/local_ack_timeout_err", "hw_counters/rnr_nak_retry_err",
                                          "hw_counters/req_transport_retries_exceeded", NULL};
    uint64_t value;
    if (counters_sum(kit, device, port, downed, &value))
        kit_u64(kit, value, "events", "counters/link_downed", "ib.port.%s.%s.link_downed", part, port);
    if (counters_sum(kit, device, port, symbols, &value))
        kit_u64(kit, value, "errors", "counters/symbol_error", "ib.port.%s.%s.symbol_errors", part, port);
    if (counters_sum(kit, device, port, retries, &value))
        kit_u64(kit, value, "errors", "hw_counters", "ib.port.%s.%s.retry_errors", part, port);
}

static void rate_note(struct totals *totals, const char *layer, double rate)
{
    double *known = !strcmp(layer, "Ethernet") ? &totals->rate_ethernet : &totals->rate_ib;
    if (*known > 0 && (*known < rate || *known > rate))
        totals->mismatch = true;
    *known = rate;
}

static bool nccl_uses_rdma(const struct kit *kit)
{
    const char *off = kit_env(kit, "NCCL_IB_DISABLE");
    return !off || strtol(off, NULL, 10) == 0;
}

/* True when NCCL_IB_HCA names a port that is down, which is a fault. */
static bool selection(struct net *net, struct totals *totals, const char *device, const char *port, const char *state)
{
    struct kit *kit = &net->kit;
    const char *list = kit_env(kit, "NCCL_IB_HCA");
    if (!list || !*list || !net_selects(list, device, atoi(port)))
        return false;
    totals->chosen++;
    const bool down = strcmp(state, "ACTIVE") != 0 && net_selector_is_exact(list) && nccl_uses_rdma(kit);
    if (down)
        kit_fault(kit, "port %s of %s, which NCCL_IB_HCA=%s selects, is %s, not ACTIVE: check cable and switch, or leave it out", port,
                  device, list, state);
    return down;
}

static void port_emit(struct net *net, struct totals *totals, const char *device, const char *port)
{
    struct kit *kit = &net->kit;
    const char *sys = kit->call->sys_root;
    char part[64], line[128], state[64] = "", layer[64] = "InfiniBand";
    (void)kit_part(part, sizeof part, device);
    if (kit_read_line(kit, line, sizeof line, sys, "class/infiniband/%s/ports/%s/state", device, port))
        (void)snprintf(state, sizeof state, "%.63s", after_number(line));
    const bool refused = selection(net, totals, device, port, state);
    if (*state) {
        kit_wrong(kit, refused);
        kit_string(kit, state, "ports/*/state", "ib.port.%s.%s.state", part, port);
    }
    bool active = !strcmp(state, "ACTIVE");
    totals->active += active;
    totals->down += !active;
    if (kit_read_line(kit, line, sizeof line, sys, "class/infiniband/%s/ports/%s/phys_state", device, port))
        kit_string(kit, after_number(line), "ports/*/phys_state", "ib.port.%s.%s.phys_state", part, port);
    if (kit_read_line(kit, layer, sizeof layer, sys, "class/infiniband/%s/ports/%s/link_layer", device, port))
        kit_string(kit, layer, "ports/*/link_layer", "ib.port.%s.%s.link_layer", part, port);
    if (kit_read_line(kit, line, sizeof line, sys, "class/infiniband/%s/ports/%s/rate", device, port)) {
        double rate = strtod(line, NULL); /* "400 Gb/sec (4X NDR)" */
        if (rate > 0 && rate < 1e6)
            kit_f64(kit, rate, "Gbit/s", "ports/*/rate", "ib.port.%s.%s.rate_gbps", part, port);
        if (active && rate > 0)
            rate_note(totals, layer, rate);
    }
    counters_emit(kit, device, part, port);
    if (active && !strcmp(layer, "Ethernet"))
        net_rdma_gids_emit(net, device, port);
}

static bool is_efa(const struct kit *kit, const char *device)
{
    char path[PATH_MAX], target[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/class/infiniband/%s/device/driver", kit->call->sys_root, device);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return !strncmp(device, "efa_", 4);
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    return !strcmp(slash ? slash + 1 : target, "efa");
}

static void uverbs_emit(struct kit *kit)
{
    size_t count = 0, seen = 0, opened = 0;
    const char **names = kit_list(kit, &count, kit->call->dev_root, "infiniband");
    for (size_t i = 0; names && i < count; i++) {
        if (strncmp(names[i], "uverbs", 6) != 0)
            continue;
        char path[PATH_MAX];
        (void)snprintf(path, sizeof path, "%s/infiniband/%s", kit->call->dev_root, names[i]);
        seen++;
        opened += access(path, R_OK | W_OK) == 0;
    }
    kit_bool(kit, seen && seen == opened, "dev/infiniband/uverbs*", "ib.uverbs.accessible");
}

/* What lets an adapter read GPU memory: a peer memory module, or dma-buf, for which kernel and NVIDIA's open modules suffice. */
static void peer_memory_emit(struct kit *kit)
{
    static const char *const modules[] = {"nvidia_peermem", "nv_peer_mem"};
    const char *proc = kit->call->proc_root;
    const char *list = kit_read(kit, 1u << 18, NULL, proc, "modules"), *found = NULL;
    for (size_t i = 0; i < sizeof modules / sizeof *modules && !found; i++) {
        const char *at = list ? strstr(list, modules[i]) : NULL;
        bool loaded = at && (at == list || at[-1] == '\n') && at[strlen(modules[i])] == ' ';
        if (loaded || kit_exists(kit, kit->call->sys_root, "module/%s", modules[i]))
            found = modules[i];
    }
    if (list || found)
        kit_bool(kit, found != NULL, found ? found : "proc/modules", "ib.peermem.loaded");
    char driver[256], release[64];
    unsigned major, minor;
    if (!kit_read_line(kit, release, sizeof release, proc, "sys/kernel/osrelease") || sscanf(release, "%u.%u", &major, &minor) != 2)
        return;
    bool open_modules =
        kit_read_line(kit, driver, sizeof driver, proc, "driver/nvidia/version") && strstr(driver, "Open Kernel Module") != NULL;
    kit_bool(kit, open_modules && (major > 5 || (major == 5 && minor >= 12)), "driver/nvidia/version, kernel/osrelease",
             "ib.dmabuf.available");
}

static void hca_setting_emit(struct kit *kit, uint64_t chosen)
{
    const char *list = kit_env(kit, "NCCL_IB_HCA");
    if (!list || !*list)
        return;
    kit_wrong(kit, !chosen && nccl_uses_rdma(kit));
    kit_bool(kit, chosen > 0, "NCCL_IB_HCA", "ib.nccl.hca_matches");
    if (!chosen && nccl_uses_rdma(kit))
        kit_fault(kit, "NCCL_IB_HCA=%s selects no RDMA port of this host: NCCL falls back to TCP sockets; correct or unset it", list);
}

void net_rdma_emit(struct net *net)
{
    struct kit *kit = &net->kit;
    struct totals totals = {0};
    size_t count = 0, ports = 0;
    const char **devices = kit_list(kit, &count, kit->call->sys_root, "class/infiniband");
    for (size_t i = 0; devices && i < count && !kit_stop(kit); i++) {
        totals.efa += is_efa(kit, devices[i]);
        const char **names = kit_list(kit, &ports, kit->call->sys_root, "class/infiniband/%s/ports", devices[i]);
        for (size_t k = 0; names && k < ports; k++)
            port_emit(net, &totals, devices[i], names[k]);
    }
    kit_u64(kit, devices ? count : 0, "devices", "sys/class/infiniband", "ib.device.count");
    kit_u64(kit, totals.efa, "devices", "sys/class/infiniband/*/device/driver", "efa.device.count");
    hca_setting_emit(kit, totals.chosen);
    if (!devices || !count)
        return;
    kit_u64(kit, totals.active, "ports", "ports/*/state", "ib.ports.active");
    kit_u64(kit, totals.down, "ports", "ports/*/state", "ib.ports.down");
    if (totals.active)
        kit_bool(kit, totals.mismatch, "ports/*/rate", "ib.ports.rate_mismatch");
    uverbs_emit(kit);
    peer_memory_emit(kit);
}

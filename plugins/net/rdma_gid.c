/* GIDs of a RoCE port. Traffic that routers carry needs a RoCE v2 GID with an IPv4 address; its index differs from host to host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

#define GIDS_MAX 256u

static bool is_empty(const char *gid)
{
    return strspn(gid, "0:") == strlen(gid);
}

/* ::ffff:a.b.c.d as sysfs spells it. */
static bool is_ipv4(const char *gid)
{
    return !strncmp(gid, "0000:0000:0000:0000:0000:ffff:", 30);
}

static bool gid_read(const struct kit *kit, char *out, size_t size, const char *device, const char *port, size_t index)
{
    return kit_read_line(kit, out, size, kit->call->sys_root, "class/infiniband/%s/ports/%s/gids/%zu", device, port, index);
}

/* NCCL_IB_GID_INDEX, where NCCL would use this port. */
static void setting_check(struct net *net, const char *device, const char *port)
{
    struct kit *kit = &net->kit;
    const char *setting = kit_env(kit, "NCCL_IB_GID_INDEX"), *list = kit_env(kit, "NCCL_IB_HCA");
    char *end, gid[64], part[64];
    if (!setting || !*setting || (list && *list && !net_selects(list, device, atoi(port))))
        return;
    unsigned long index = strtoul(setting, &end, 10);
    if (*end || *setting == '-')
        return; /* -1: NCCL chooses */
    bool good = index < GIDS_MAX && gid_read(kit, gid, sizeof gid, device, port, index) && !is_empty(gid);
    kit_wrong(kit, !good);
    kit_bool(kit, good, "NCCL_IB_GID_INDEX, ports/*/gids", "ib.gid.%s.%s.setting_valid", kit_part(part, sizeof part, device), port);
    if (!good)
        kit_fault(kit, "NCCL_IB_GID_INDEX=%s: port %s of %s has no GID there; unset it, or see `show_gids` for the RoCE v2 index", setting,
                  port, device);
}

void net_rdma_gids_emit(struct net *net, const char *device, const char *port)
{
    struct kit *kit = &net->kit;
    char gid[64], type[64], part[64];
    for (size_t i = 0; i < GIDS_MAX && gid_read(kit, gid, sizeof gid, device, port, i); i++) {
        if (is_empty(gid) || !is_ipv4(gid) ||
            !kit_read_line(kit, type, sizeof type, kit->call->sys_root, "class/infiniband/%s/ports/%s/gid_attrs/types/%zu", device, port,
                           i))
            continue;
        if (strstr(type, "RoCE v2")) {
            kit_u64(kit, i, "index", "ports/*/gids, gid_attrs/types", "ib.gid.%s.%s.rocev2_ipv4_index", kit_part(part, sizeof part, device),
                    port);
            break;
        }
    }
    setting_check(net, device, port);
}

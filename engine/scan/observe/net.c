/* Which way NCCL goes, against what the machine has. */
#include <string.h>

#include "scan/observe/host.h"

/* "GID[  0]: fe80::be97:e1ff:fe00:1a20, RoCE v1" of ibv_devinfo; "gid_index 0" of whoever uses one */
static void read_gid(struct observe_net *net, const char *text, const struct place *place)
{
    double index;
    const char *entry = strstr(text, "GID[");
    if (entry) {
        const char *p = entry + 4 + strspn(entry + 4, " ");
        if (observe_number(&p, &index) && index >= 0 && index < 64 && strstr(p, " fe80:"))
            net->local_gids |= UINT64_C(1) << (unsigned)index;
        return;
    }
    if ((observe_after(text, "gid_index", &index, NULL) || observe_after(text, "GID index", &index, NULL)) && index >= 0 && index < 64) {
        net->gid_told = true;
        net->gid = (unsigned)index;
        net->gid_at = *place;
    }
}

void net_line(struct observe_net *net, const char *text, const struct place *place)
{
    static const char *const adapters[] = {"mlx5_",   "mlx4_",          "InfiniBand",      "NCCL_SOCKET_IFNAME set by environment to ib",
                                           "[0]ib",   "Using ib",       "rdmap",           "provider: efa",
                                           "bnxt_re", "fi_info -p efa", "/opt/amazon/efa", "/opt/amazon/ofi-nccl",
                                           "hca_id"};
    if (strstr(text, "via NET/Socket") || strstr(text, "Using network Socket")) {
        net->sockets = true;
        net->at = *place;
    }
    net->library = net->library || strstr(text, "Failed to open libibverbs");
    net->direct = net->direct || strstr(text, "GPU Direct RDMA Enabled for");
    const char *way = strstr(text, "via NET/IB/");
    if (way && !strstr(way, "GDRDMA") && !strstr(way, "Shared")) {
        net->staged = true;
        net->staged_at = *place;
    }
    net->any_direct = net->any_direct || strstr(text, "GDRDMA");
    read_gid(net, text, place);
    net->verbs = net->verbs || strstr(text, "via NET/IB") || strstr(text, "Using network IB") || strstr(text, "NET/IB : Using [");
    for (size_t i = 0; i < sizeof adapters / sizeof *adapters && !net->adapter; i++)
        net->adapter = strstr(text, adapters[i]) != NULL;
}

void net_conclude(const struct observe_net *net, struct collect *collect)
{
    if (net->sockets && net->adapter && !net->verbs)
        observe_tell(collect, &net->at, "transport: NCCL goes over sockets though the machine has an adapter for RDMA%s",
                     net->library ? ": the verbs library is missing" : "");
    if (net->direct && net->staged && !net->any_direct)
        observe_tell(collect, &net->staged_at, "transport: NCCL goes over verbs without GPUDirect RDMA, which the adapter allows");
    if (net->gid_told && net->local_gids >> net->gid & 1)
        observe_tell(collect, &net->gid_at, "transport: GID %u in use holds a link-local address", net->gid);
}

/* Which way NCCL goes, against what the machine has. */
#include <string.h>

#include "scan/observe.h"

void net_line(struct observe_net *net, const char *text, const struct place *place)
{
    static const char *const adapters[] = {"mlx5_",   "mlx4_",          "InfiniBand",      "NCCL_SOCKET_IFNAME set by environment to ib",
                                           "[0]ib",   "Using ib",       "rdmap",           "provider: efa",
                                           "bnxt_re", "fi_info -p efa", "/opt/amazon/efa", "/opt/amazon/ofi-nccl"};
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
}

/* What sort of interface it is: from sysfs where that tells, otherwise from the names that container engines and hypervisors give. */
#include <stdlib.h>
#include <string.h>

#include <net/if_arp.h>

#include "net.h"

static bool named(const char *iface, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (!strncmp(iface, *prefixes, strlen(*prefixes)))
            return true;
    return false;
}

const char *net_kind(const struct net *net, const char *iface)
{
    static const char *const containers[] = {"docker", "br-",    "veth", "cni",   "cali",   "flannel", "virbr",
                                             "podman", "cilium", "lxc",  "lxdbr", "vethwe", "vmnet",   NULL};
    static const char *const tunnels[] = {"tun", "tap", "wg", "tailscale", "ipip", "gre", "sit", "ip6tnl", "vxlan", "geneve", NULL};
    const struct kit *kit = &net->kit;
    const char *sys = kit->call->sys_root;
    uint64_t type = ARPHRD_ETHER;
    (void)kit_read_u64(kit, &type, sys, "class/net/%s/type", iface);
    if (type == ARPHRD_LOOPBACK || !strcmp(iface, "lo"))
        return "loopback";
    if (type == ARPHRD_INFINIBAND)
        return "infiniband";
    if (named(iface, containers))
        return "container";
    if (kit_exists(kit, sys, "class/net/%s/bridge", iface))
        return "bridge";
    if (kit_exists(kit, sys, "class/net/%s/bonding", iface))
        return "bond";
    const char *uevent = kit_read(kit, 4096, NULL, sys, "class/net/%s/uevent", iface);
    if ((uevent && strstr(uevent, "DEVTYPE=vlan")) || kit_exists(kit, kit->call->proc_root, "net/vlan/%s", iface))
        return "vlan";
    if (kit_exists(kit, sys, "class/net/%s/tun_flags", iface) || type == ARPHRD_TUNNEL || type == ARPHRD_TUNNEL6 || type == ARPHRD_SIT ||
        type == ARPHRD_IPGRE || type == ARPHRD_NONE || named(iface, tunnels))
        return "tunnel";
    return kit_exists(kit, sys, "class/net/%s/device", iface) ? "physical" : "virtual";
}

/* The interfaces: names, state, MTU and addresses. The machine's own are asked of the kernel, so that they are those of this network
 * namespace even where another one's /sys is mounted; a recorded tree's come from its sysfs and /proc/net. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "net.h"

#define EMITTED_MAX 96u /* a node full of containers has hundreds of veth ends */

static bool is_live(const struct kit *kit)
{
    return !strcmp(kit->call->sys_root, "/sys") && !strcmp(kit->call->proc_root, "/proc");
}

const struct net_iface *net_iface(const struct net *net, const char *name)
{
    for (size_t i = 0; i < net->iface_count; i++)
        if (!strcmp(net->ifaces[i].name, name))
            return &net->ifaces[i];
    return NULL;
}

bool net_iface_has_address(const struct net *net, const char *name)
{
    for (size_t i = 0; i < net->address_count; i++)
        if (!strcmp(net->addresses[i].iface, name))
            return true;
    return false;
}

const char *net_address_text(const struct net_address *address, char *out, size_t size)
{
    const void *bytes = address->family == AF_INET ? (const void *)&address->v4 : &address->v6;
    return inet_ntop(address->family, bytes, out, (socklen_t)size) ? out : "";
}

bool net_is_loopback(const struct net_address *address)
{
    if (address->family == AF_INET)
        return ntohl(address->v4.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&address->v6) || (IN6_IS_ADDR_V4MAPPED(&address->v6) && address->v6.s6_addr[12] == 127);
}

bool net_iface_usable(const struct net *net, const struct net_iface *iface)
{
    return iface->up && strcmp(iface->kind, "loopback") != 0 && strcmp(iface->kind, "container") != 0 &&
           net_iface_has_address(net, iface->name);
}

bool net_is_own(const struct net *net, const struct net_address *address)
{
    if (net_is_loopback(address))
        return true;
    for (size_t i = 0; i < net->address_count; i++) {
        const struct net_address *own = &net->addresses[i];
        if (own->family == address->family &&
            (own->family == AF_INET ? own->v4.s_addr == address->v4.s_addr : !memcmp(&own->v6, &address->v6, sizeof own->v6)))
            return true;
    }
    return false;
}

static struct net_iface *iface_add(struct net *net, const char *name)
{
    struct net_iface *known = (struct net_iface *)net_iface(net, name);
    if (known || net->iface_count == NET_IFACES_MAX)
        return known;
    struct net_iface *iface = &net->ifaces[net->iface_count++];
    (void)snprintf(iface->name, sizeof iface->name, "%s", name);
    return iface;
}

static bool live_find(struct net *net)
{
    struct ifaddrs *list;
    if (getifaddrs(&list))
        return false;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next) {
        struct net_iface *iface = iface_add(net, entry->ifa_name);
        if (!iface)
            continue;
        iface->up = (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & IFF_RUNNING);
        struct ifreq request = {0};
        (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", iface->name);
        if (fd >= 0 && !iface->knows_mtu && !ioctl(fd, SIOCGIFMTU, &request) && request.ifr_mtu > 0) {
            iface->mtu = (uint64_t)request.ifr_mtu;
            iface->knows_mtu = true;
        }
        if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET)
            (void)net_address_add(net, iface->name, AF_INET, &((const struct sockaddr_in *)(const void *)entry->ifa_addr)->sin_addr);
        else if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET6)
            (void)net_address_add(net, iface->name, AF_INET6, &((const struct sockaddr_in6 *)(const void *)entry->ifa_addr)->sin6_addr);
    }
    if (fd >= 0)
        (void)close(fd);
    freeifaddrs(list);
    return true;
}

static bool recorded_find(struct net *net)
{
    const struct kit *kit = &net->kit;
    const char *sys = kit->call->sys_root;
    size_t count;
    const char **names = kit_list(kit, &count, sys, "class/net");
    for (size_t i = 0; names && i < count; i++) {
        struct net_iface *iface = strlen(names[i]) < NET_NAME_MAX ? iface_add(net, names[i]) : NULL;
        if (!iface)
            continue;
        uint64_t flags = 0, carrier = 0;
        (void)kit_read_u64(kit, &flags, sys, "class/net/%s/flags", iface->name);
        (void)kit_read_u64(kit, &carrier, sys, "class/net/%s/carrier", iface->name);
        iface->up = (flags & IFF_UP) && carrier;
        iface->knows_mtu = kit_read_u64(kit, &iface->mtu, sys, "class/net/%s/mtu", iface->name);
    }
    net_recorded_addresses(net);
    return names != NULL;
}

bool net_ifaces_find(struct net *net)
{
    net->ifaces = kit_memory(&net->kit, NET_IFACES_MAX * sizeof *net->ifaces);
    net->addresses = kit_memory(&net->kit, NET_ADDRESSES_MAX * sizeof *net->addresses);
    if (!net->ifaces || !net->addresses || !(is_live(&net->kit) ? live_find(net) : recorded_find(net)))
        return false;
    for (size_t i = 0; i < net->iface_count; i++)
        net->ifaces[i].kind = net_kind(net, net->ifaces[i].name);
    return true;
}

static const struct net_address *first_address(const struct net *net, const char *iface, sa_family_t family)
{
    for (size_t i = 0; i < net->address_count; i++) {
        const struct net_address *address = &net->addresses[i];
        if (address->family == family && !strcmp(address->iface, iface) && !(family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->v6)))
            return address;
    }
    return NULL;
}

static void iface_emit(struct net *net, const struct net_iface *iface)
{
    struct kit *kit = &net->kit;
    char part[64], text[INET6_ADDRSTRLEN], origin[64];
    (void)kit_part(part, sizeof part, iface->name);
    (void)snprintf(origin, sizeof origin, "%s", is_live(kit) ? "getifaddrs" : "sys/class/net");
    kit_bool(kit, iface->up, origin, "net.iface.%s.up", part);
    kit_string(kit, iface->kind, "sys/class/net", "net.iface.%s.kind", part);
    if (iface->knows_mtu)
        kit_u64(kit, iface->mtu, "bytes", origin, "net.iface.%s.mtu", part);
    uint64_t speed; /* -1 or an error while there is no link */
    if (kit_read_u64(kit, &speed, kit->call->sys_root, "class/net/%s/speed", iface->name) && speed && speed < UINT32_MAX)
        kit_u64(kit, speed, "Mbit/s", "sys/class/net/*/speed", "net.iface.%s.speed_mbps", part);
    const struct net_address *address = first_address(net, iface->name, AF_INET);
    if (address)
        kit_string(kit, net_address_text(address, text, sizeof text), origin, "net.iface.%s.ipv4", part);
    address = first_address(net, iface->name, AF_INET6);
    if (address)
        kit_string(kit, net_address_text(address, text, sizeof text), origin, "net.iface.%s.ipv6", part);
}

/* MTUs that differ among the interfaces that can carry the job, or that are below what IPv6 demands of every link. */
static void mtu_emit(struct net *net)
{
    const uint64_t ipv6_minimum = 1280;
    const struct net_iface *least = NULL, *most = NULL;
    for (size_t i = 0; i < net->iface_count; i++) {
        const struct net_iface *iface = &net->ifaces[i];
        if (!iface->knows_mtu || !net_iface_usable(net, iface) || !strcmp(iface->kind, "tunnel"))
            continue;
        least = !least || iface->mtu < least->mtu ? iface : least;
        most = !most || iface->mtu > most->mtu ? iface : most;
    }
    if (!least)
        return;
    kit_bool(&net->kit, least->mtu != most->mtu, "interfaces' MTUs", "net.mtu.mismatch");
    kit_wrong(&net->kit, least->mtu < ipv6_minimum);
    kit_bool(&net->kit, least->mtu < ipv6_minimum, "interfaces' MTUs", "net.mtu.small");
    if (least->mtu < ipv6_minimum)
        kit_fault(&net->kit,
                  "%s has an MTU of %llu, below the %llu that each link must carry: `ip link set %s mtu 1500`, the same on all hosts",
                  least->name, (unsigned long long)least->mtu, (unsigned long long)ipv6_minimum, least->name);
}

void net_ifaces_emit(struct net *net)
{
    uint64_t usable = 0;
    for (size_t i = 0; i < net->iface_count; i++)
        usable += net_iface_usable(net, &net->ifaces[i]);
    for (size_t i = 0; i < net->iface_count && i < EMITTED_MAX; i++)
        iface_emit(net, &net->ifaces[i]);
    if (net->iface_count > EMITTED_MAX)
        kit_log(&net->kit, 1, "%zu interfaces; facts name the first %u", net->iface_count, EMITTED_MAX);
    kit_u64(&net->kit, usable, "interfaces", "getifaddrs", "net.iface.count_usable");
    mtu_emit(net);
}

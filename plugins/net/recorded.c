/* A recorded tree has no getifaddrs(): addresses come out of /proc/net. IPv4 addresses stand in fib_trie without their interface, which
 * the route of their network names; IPv6 ones stand in if_inet6 beside it. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

#define ROUTES_MAX 256u

struct route {
    char iface[NET_NAME_MAX];
    uint32_t network, mask; /* as the kernel holds them, network byte order */
};

bool net_address_add(struct net *net, const char *iface, sa_family_t family, const void *bytes)
{
    if (net->address_count == NET_ADDRESSES_MAX)
        return false;
    struct net_address *address = &net->addresses[net->address_count++];
    (void)snprintf(address->iface, sizeof address->iface, "%s", iface);
    address->family = family;
    if (family == AF_INET)
        memcpy(&address->v4, bytes, sizeof address->v4);
    else
        memcpy(&address->v6, bytes, sizeof address->v6);
    return true;
}

static size_t routes_read(const struct kit *kit, struct route *routes)
{
    char *text = kit_read(kit, 1u << 16, NULL, kit->call->proc_root, "net/route"), *kept = NULL;
    size_t count = 0;
    for (char *line = text ? strtok_r(text, "\n", &kept) : NULL; line && count < ROUTES_MAX; line = strtok_r(NULL, "\n", &kept)) {
        struct route route;
        uint32_t gateway;
        if (sscanf(line, "%15s %x %x %*s %*s %*s %*s %x", route.iface, &route.network, &gateway, &route.mask) == 4 && !gateway &&
            route.mask)
            routes[count++] = route;
    }
    return count;
}

static const char *iface_of(const struct route *routes, size_t count, uint32_t address)
{
    const struct route *best = NULL;
    for (size_t i = 0; i < count; i++)
        if ((address & routes[i].mask) == routes[i].network && (!best || ntohl(routes[i].mask) > ntohl(best->mask)))
            best = &routes[i];
    return best ? best->iface : (ntohl(address) >> 24) == 127 ? "lo" : NULL;
}

static bool is_known(const struct net *net, uint32_t address)
{
    for (size_t i = 0; i < net->address_count; i++)
        if (net->addresses[i].family == AF_INET && net->addresses[i].v4.s_addr == address)
            return true;
    return false;
}

static void ipv4_read(struct net *net)
{
    struct route routes[ROUTES_MAX];
    size_t count = routes_read(&net->kit, routes);
    char *text = kit_read(&net->kit, 1u << 20, NULL, net->kit.call->proc_root, "net/fib_trie"), *kept = NULL;
    struct in_addr last = {0};
    for (char *line = text ? strtok_r(text, "\n", &kept) : NULL; line; line = strtok_r(NULL, "\n", &kept)) {
        char dotted[INET_ADDRSTRLEN];
        if (sscanf(line, " |-- %15s", dotted) == 1 && inet_pton(AF_INET, dotted, &last) == 1)
            continue;
        if (!strstr(line, "/32 host LOCAL") || is_known(net, last.s_addr))
            continue;
        const char *iface = iface_of(routes, count, last.s_addr);
        if (iface)
            (void)net_address_add(net, iface, AF_INET, &last);
    }
}

static void ipv6_read(struct net *net)
{
    char *text = kit_read(&net->kit, 1u << 18, NULL, net->kit.call->proc_root, "net/if_inet6"), *kept = NULL;
    for (char *line = text ? strtok_r(text, "\n", &kept) : NULL; line; line = strtok_r(NULL, "\n", &kept)) {
        char hex[33], iface[NET_NAME_MAX];
        uint8_t bytes[16];
        if (sscanf(line, "%32s %*x %*x %*x %*x %15s", hex, iface) != 2 || strlen(hex) != 32)
            continue;
        size_t done = 0;
        for (unsigned byte; done < sizeof bytes && sscanf(hex + 2 * done, "%2x", &byte) == 1; done++)
            bytes[done] = (uint8_t)byte;
        if (done == sizeof bytes)
            (void)net_address_add(net, iface, AF_INET6, bytes);
    }
}

void net_recorded_addresses(struct net *net)
{
    ipv4_read(net);
    ipv6_read(net);
}

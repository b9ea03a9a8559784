#include "offer.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "point.h"

#define PORTS_TRIED 100

/* Bridges and pairs of containers and virtual machines lead to no other host. */
static bool is_container(const char *iface)
{
    static const char *const beginnings[] = {"docker", "veth", "br-", "virbr", "cni", "flannel", "cali", "podman", "lxc"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(iface, beginnings[i], strlen(beginnings[i])))
            return true;
    return false;
}

static void add_addresses(struct offer *offer, bool here)
{
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0)
        return;
    for (const struct ifaddrs *one = list; one && offer->count < OFFER_ADDRESSES_MAX; one = one->ifa_next) {
        const bool loopback = one->ifa_flags & IFF_LOOPBACK;
        if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) || (loopback && !here) ||
            is_container(one->ifa_name))
            continue;
        (void)snprintf(offer->addresses[offer->count].iface, sizeof offer->addresses->iface, "%s", one->ifa_name);
        memcpy(offer->addresses[offer->count++].ipv4, &((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr,
               sizeof offer->addresses->ipv4);
    }
    freeifaddrs(list);
}

void offer_make(struct offer *offer, uint16_t taken, bool here)
{
    memset(offer, 0, sizeof *offer);
    for (unsigned i = 1; i <= PORTS_TRIED && taken + i <= UINT16_MAX && !offer->port; i++) {
        const uint16_t port = (uint16_t)(taken + i);
        int fd = point_open(port);
        if (fd < 0)
            continue;
        offer->port = port;
        (void)close(fd);
    }
    add_addresses(offer, here);
}

void offer_check(struct offer *offer)
{
    if (offer->count > OFFER_ADDRESSES_MAX)
        offer->count = 0;
    for (size_t i = 0; i < offer->count; i++)
        offer->addresses[i].iface[sizeof offer->addresses->iface - 1] = '\0';
}

/* The net probe's parts. net.c calls them in turn; each emits its own facts. */
#ifndef DTKB_PLUGINS_NET_H
#define DTKB_PLUGINS_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/kit.h"

#define NET_IFACES_MAX 512u
#define NET_ADDRESSES_MAX 2048u
#define NET_NAME_MAX 16u /* IFNAMSIZ */

/* An address, in the order in which getifaddrs() tells them: all of IPv4 first. NCCL's and Gloo's choices depend on that order. */
struct net_address {
    char iface[NET_NAME_MAX];
    sa_family_t family;
    union {
        struct in_addr v4;
        struct in6_addr v6;
    };
};

struct net_iface {
    char name[NET_NAME_MAX];
    const char *kind; /* as in the vocabulary; kind.c */
    bool up;          /* administratively up, and has carrier */
    bool knows_mtu;
    uint64_t mtu;
};

struct net {
    struct kit kit;
    struct net_iface *ifaces;
    size_t iface_count;
    struct net_address *addresses;
    size_t address_count;
};

/* ---- ifaces.c: what interfaces there are ---- */
/* Fills ifaces and addresses: of the machine, or of a recorded tree when the roots are other ones. False when there is no telling. */
bool net_ifaces_find(struct net *net);
void net_ifaces_emit(struct net *net);
const struct net_iface *net_iface(const struct net *net, const char *name);
bool net_iface_has_address(const struct net *net, const char *name);
/* The address as text; `out` holds INET6_ADDRSTRLEN. */
const char *net_address_text(const struct net_address *address, char *out, size_t size);
bool net_is_loopback(const struct net_address *address);
/* Up, with an address, and neither loopback nor a container's bridge: what a job between hosts can use. */
bool net_iface_usable(const struct net *net, const struct net_iface *iface);
/* Does an address of this host equal that one? */
bool net_is_own(const struct net *net, const struct net_address *address);

/* ---- kind.c ---- */
const char *net_kind(const struct net *net, const char *iface);

/* ---- recorded.c: addresses out of a recorded /proc/net ---- */
void net_recorded_addresses(struct net *net);
bool net_address_add(struct net *net, const char *iface, sa_family_t family, const void *bytes);

/* ---- choice.c: what NCCL, Gloo and TensorPipe would use ---- */
void net_choice_emit(struct net *net, const struct net_address *own_name);

/* ---- lookup.c: names to addresses, under a deadline ---- */
struct net_lookup;
enum net_answer { NET_FOUND, NET_UNKNOWN, NET_NO_SERVER, NET_TIMED_OUT };
/* Starts to look the name up; NULL when there is no thread or memory for it. */
struct net_lookup *net_lookup_start(const char *name);
/* Waits until `deadline_ns` at most; the first usable address goes to `out`. Gives the lookup up in any case. */
enum net_answer net_lookup_end(struct net_lookup *lookup, const struct kit *kit, uint64_t deadline_ns, struct net_address *out);

/* ---- master.c: MASTER_ADDR and MASTER_PORT ---- */
void net_master_emit(struct net *net, const char *name, enum net_answer answer, const struct net_address *address);

/* ---- settings.c: firewall signs, IPv6, port range, backlog ---- */
void net_settings_emit(struct net *net);

/* ---- rdma.c, rdma_gid.c: InfiniBand, RoCE, EFA ---- */
void net_rdma_emit(struct net *net);
/* RoCE: the first RoCE v2 GID with an IPv4 address, and whether NCCL_IB_GID_INDEX points at a GID. */
void net_rdma_gids_emit(struct net *net, const char *device, const char *port);

/* ---- selector.c: "^=eth0,ib" as NCCL reads it for interfaces and adapters ---- */
/* `port` is that of an adapter, -1 for an interface. */
bool net_selects(const char *list, const char *name, int port);
/* Is the list one of exact names, without '^'? */
bool net_selector_is_exact(const char *list);

#endif

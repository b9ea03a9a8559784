/* MASTER_ADDR and MASTER_PORT: does the name resolve, whose address is it, and does the port answer. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

#define CONNECT_MS 200
#define IP_TCP_HEADERS(family) ((family) == AF_INET ? 40u : 60u)
#define TIMESTAMP_OPTION 12u

struct endpoint {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    };
    socklen_t length;
};

static struct endpoint endpoint_of(const struct net_address *address, uint16_t port)
{
    struct endpoint to = {.length = sizeof(struct sockaddr_in6)};
    if (address->family == AF_INET) {
        to.length = sizeof to.v4;
        to.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = address->v4};
    } else {
        to.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = address->v6};
    }
    return to;
}

/* 0 when connected (the socket in `fd`), otherwise why not. */
static int try_connect(const struct kit *kit, const struct endpoint *to, int *fd)
{
    *fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return errno;
    if (!connect(*fd, &to->any, to->length))
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    struct pollfd waiting = {.fd = *fd, .events = POLLOUT};
    uint64_t now = kit->host->now_ns(), end = now + CONNECT_MS * 1000000ull;
    while (now < end) {
        int ready = poll(&waiting, 1, (int)((end - now + 999999u) / 1000000u));
        if (ready > 0) {
            int error = 0;
            socklen_t size = sizeof error;
            return getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &size) ? errno : error;
        }
        if (ready < 0 && errno != EINTR)
            return errno;
        now = kit->host->now_ns();
    }
    return ETIMEDOUT;
}

/* The largest packet the other end said it takes, as far as it is below our own: its SYN-ACK bounded our segments. */
static uint64_t peer_mtu(int fd, sa_family_t family)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) || !info.tcpi_snd_mss)
        return 0;
    return info.tcpi_snd_mss + (info.tcpi_options & TCPI_OPT_TIMESTAMPS ? TIMESTAMP_OPTION : 0u) + IP_TCP_HEADERS(family);
}

/* Where the kernel would send it: a connected datagram socket knows the route and its MTU, and sends nothing. */
static uint64_t route_emit(struct net *net, const struct endpoint *to)
{
    int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0;
    int mtu = 0;
    socklen_t size = sizeof mtu;
    struct endpoint from = {.length = sizeof from.v6};
    bool v4 = to->any.sa_family == AF_INET;
    if (!connect(fd, &to->any, to->length) && !getsockname(fd, &from.any, &from.length)) {
        for (size_t i = 0; i < net->address_count; i++) {
            const struct net_address *own = &net->addresses[i];
            if (own->family == to->any.sa_family &&
                (v4 ? own->v4.s_addr == from.v4.sin_addr.s_addr : !memcmp(&own->v6, &from.v6.sin6_addr, sizeof own->v6))) {
                kit_string(&net->kit, own->iface, "route to MASTER_ADDR", "net.master.route_iface");
                break;
            }
        }
        if (getsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu, &size))
            mtu = 0;
    }
    (void)close(fd);
    if (mtu > 0)
        kit_u64(&net->kit, (uint64_t)mtu, "bytes", "route to MASTER_ADDR", "net.master.route_mtu");
    return mtu > 0 ? (uint64_t)mtu : 0;
}

static const char *port_status(int error)
{
    switch (error) {
    case 0:
        return "connected";
    case ECONNREFUSED:
        return "refused";
    case ETIMEDOUT:
        return "timed-out";
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
        return "unreachable";
    case EACCES:
    case EPERM:
        return "forbidden"; /* a filter on this host */
    default:
        return NULL;
    }
}

static void remote_fault(struct net *net, int error, const char *name, uint16_t port)
{
    if (error == ETIMEDOUT)
        kit_fault(
            &net->kit,
            "MASTER_ADDR:MASTER_PORT %s:%u does not answer within %d ms, not even to refuse: a firewall drops the packets or the host "
            "is down; open the port on that host or choose another",
            name, port, CONNECT_MS);
    else if (error == EPERM || error == EACCES)
        kit_fault(&net->kit, "a packet filter on this host forbids connections to MASTER_ADDR:MASTER_PORT %s:%u; allow them", name, port);
    else if (error != ECONNREFUSED)
        kit_fault(&net->kit, "MASTER_ADDR %s is unreachable from here (%s): set it to an address that this host has a route to", name,
                  strerror(error));
}

static void remote_emit(struct net *net, const struct endpoint *to, const char *name, uint16_t port)
{
    struct kit *kit = &net->kit;
    int fd;
    uint64_t mtu = route_emit(net, to);
    int error = try_connect(kit, to, &fd);
    const char *status = port_status(error);
    if (status) {
        kit_wrong(kit, error != 0 && error != ECONNREFUSED);
        kit_string(kit, status, "connect", "net.master.port_status");
        kit_bool(kit, error == 0, "connect", "net.master.port_reachable");
        kit_bool(kit, error == ECONNREFUSED, "connect", "net.master.port_refused");
    }
    uint64_t theirs = error ? 0 : peer_mtu(fd, to->any.sa_family);
    if (theirs && mtu) {
        kit_u64(kit, theirs, "bytes", "TCP_INFO of that connection", "net.master.peer_mtu");
        kit_wrong(kit, theirs < mtu);
        kit_bool(kit, theirs < mtu, "TCP_INFO of that connection", "net.master.mtu_mismatch");
        if (theirs < mtu)
            kit_fault(kit, "MASTER_ADDR %s takes packets of %llu bytes, the route there carries %llu: set the same MTU on all hosts", name,
                      (unsigned long long)theirs, (unsigned long long)mtu);
    }
    if (fd >= 0)
        (void)close(fd);
    if (error && status)
        remote_fault(net, error, name, port);
}

/* Is a TCP socket of this host bound to the port? Read from the kernel's table: a bind() of our own could meet the job's. */
static bool bound_here(const struct kit *kit, uint16_t port, const char *table, bool *readable)
{
    char *text = kit_read(kit, 8u << 20, NULL, kit->call->proc_root, "net/%s", table), *kept = NULL;
    *readable |= text != NULL;
    for (char *line = text ? strtok_r(text, "\n", &kept) : NULL; line; line = strtok_r(NULL, "\n", &kept)) {
        unsigned local, state;
        const unsigned listening = 0x0a, closed = 0x07;
        if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*s %x", &local, &state) == 2 && local == port && (state == listening || state == closed))
            return true;
    }
    return false;
}

static void local_emit(struct net *net, uint16_t port)
{
    bool readable = false;
    bool bound = bound_here(&net->kit, port, "tcp", &readable) || bound_here(&net->kit, port, "tcp6", &readable);
    if (readable)
        kit_bool(&net->kit, bound, "proc/net/tcp", "net.master.port_in_use");
}

static bool parse_port(struct net *net, uint16_t *port)
{
    const char *text = kit_env(&net->kit, "MASTER_PORT");
    if (!text || !*text)
        return false;
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*end || *text == '-' || number < 1 || number > 65535)
        return false; /* the env probe says so */
    *port = (uint16_t)number;
    return true;
}

static void unresolved(struct net *net, const char *name, enum net_answer answer)
{
    struct kit *kit = &net->kit;
    kit_string(kit,
               answer == NET_UNKNOWN     ? "unknown-name"
               : answer == NET_NO_SERVER ? "no-server"
                                         : "timed-out",
               "getaddrinfo", "net.master.resolve_error");
    if (answer == NET_TIMED_OUT) {
        kit_unavailable(kit, "the resolver has not answered for MASTER_ADDR=%s in time; ask longer with --set resolve_ms=5000", name);
        return;
    }
    kit_wrong(kit, true);
    kit_bool(kit, false, "getaddrinfo", "net.master.resolves");
    kit_fault(kit, "MASTER_ADDR=%s does not resolve on this host (%s): use an IP address, or add the name to DNS or /etc/hosts", name,
              answer == NET_UNKNOWN ? "unknown name" : "no name server answers");
}

void net_master_emit(struct net *net, const char *name, enum net_answer answer, const struct net_address *address)
{
    struct kit *kit = &net->kit;
    char text[INET6_ADDRSTRLEN];
    uint16_t port;
    kit_string(kit, name, "MASTER_ADDR", "net.master.address");
    if (answer != NET_FOUND) {
        unresolved(net, name, answer);
        return;
    }
    bool local = net_is_own(net, address);
    kit_bool(kit, true, "getaddrinfo", "net.master.resolves");
    kit_string(kit, net_address_text(address, text, sizeof text), "getaddrinfo", "net.master.resolved");
    kit_bool(kit, net_is_loopback(address), "getaddrinfo", "net.master.is_loopback");
    kit_bool(kit, local, "getifaddrs", "net.master.is_local");
    if (!parse_port(net, &port) || kit_stop(kit))
        return;
    struct endpoint to = endpoint_of(address, port);
    if (local)
        local_emit(net, port);
    else
        remote_emit(net, &to, name, port);
}

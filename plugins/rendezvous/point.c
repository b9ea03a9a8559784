#include "point.h"

#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT_DEFAULT 29500
#define KNOCK_WITHIN 2000000000u /* ns, at each address */

const char *point_status_name(enum point_status status)
{
    static const char *const names[POINT_STATUSES] = {
        [POINT_OK] = "ok",
        [POINT_BAD_PORT] = "bad-port",
        [POINT_IN_USE] = "in-use",
        [POINT_FORBIDDEN] = "forbidden",
        [POINT_NO_LISTEN] = "no-listen",
        [POINT_UNRESOLVED] = "unresolved",
        [POINT_REFUSED] = "refused",
        [POINT_WRONG_PEER] = "wrong-peer",
        [POINT_TIMED_OUT] = "timed-out",
        [POINT_UNREACHABLE] = "unreachable",
    };
    return (unsigned)status < POINT_STATUSES ? names[status] : "unknown";
}

static void resolve(struct point *point)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(point->address, NULL, &hints, &found) != 0)
        return;
    for (const struct addrinfo *one = found; one && point->target_count < POINT_TARGETS_MAX; one = one->ai_next) {
        struct sockaddr_storage *target = &point->targets[point->target_count];
        memcpy(target, one->ai_addr, one->ai_addrlen);
        if (target->ss_family == AF_INET6)
            ((struct sockaddr_in6 *)target)->sin6_port = htons(point->port);
        else
            ((struct sockaddr_in *)target)->sin_port = htons(point->port);
        point->lengths[point->target_count++] = one->ai_addrlen;
    }
    freeaddrinfo(found);
}

enum point_status point_find(struct point *point, const struct kit *kit, const char *otherwise, uint64_t token)
{
    const char *address = kit_env(kit, "MASTER_ADDR"), *port = kit_env(kit, "MASTER_PORT"), *agent, *trial;
    *point = (struct point){.address = address && *address ? address : otherwise,
                            .port_text = port && *port ? port : "29500",
                            .port = PORT_DEFAULT,
                            .token = token,
                            .listener = -1,
                            .fd = -1};
    char *end;
    long number = strtol(point->port_text, &end, 10);
    if (*end || number < 1 || number > 65535)
        return POINT_BAD_PORT;
    point->port = (uint16_t)number;
    agent = kit_env(kit, "TORCHELASTIC_USE_AGENT_STORE");
    trial = kit_param(kit, "trial", "");
    point->agents = agent && !strcmp(agent, "True") && !strstr(trial, "MASTER_PORT=");
    resolve(point);
    return point->target_count ? POINT_OK : POINT_UNRESOLVED;
}

bool point_is_here(const struct point *point)
{
    bool here = false;
    for (size_t i = 0; i < point->target_count && !here; i++) {
        struct sockaddr_storage any = point->targets[i];
        if (any.ss_family == AF_INET6)
            ((struct sockaddr_in6 *)&any)->sin6_port = 0;
        else
            ((struct sockaddr_in *)&any)->sin_port = 0;
        int fd = socket(any.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        here = fd >= 0 && bind(fd, (struct sockaddr *)&any, point->lengths[i]) == 0; /* only an own address can be bound */
        if (fd >= 0)
            (void)close(fd);
    }
    return here;
}

/* ---- rank 0 ---- */

int point_open(uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int yes = 1, no = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool is_six = fd >= 0;
    if (!is_six)
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (is_six)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if ((is_six ? bind(fd, (struct sockaddr *)&six, sizeof six) : bind(fd, (struct sockaddr *)&four, sizeof four)) == 0 &&
        listen(fd, 1024) == 0)
        return fd;
    const int why = errno;
    (void)close(fd);
    errno = why;
    return -1;
}

enum point_status point_listen(struct point *point)
{
    if (point->agents)
        return POINT_OK;
    point->listener = point_open(point->port);
    if (point->listener >= 0)
        return POINT_OK;
    point->error = errno;
    return errno == EADDRINUSE ? POINT_IN_USE : errno == EACCES || errno == EPERM ? POINT_FORBIDDEN : POINT_NO_LISTEN;
}

void point_serve(const struct point *point)
{
    const uint64_t token = htobe64(point->token);
    int fd;
    while (point->listener >= 0 && (fd = accept4(point->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        (void)send(fd, &token, sizeof token, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)close(fd);
    }
}

/* ---- who knocks ---- */

static enum point_status of_error(int error)
{
    return error == ECONNREFUSED ? POINT_REFUSED : error == ETIMEDOUT ? POINT_TIMED_OUT : POINT_UNREACHABLE;
}

static void hang_up(struct point *point)
{
    if (point->fd >= 0)
        (void)close(point->fd);
    point->fd = -1;
}

/* This address is of no use; the next one may be. What the last one said stands. */
static void give_up(struct point *point, enum point_status why)
{
    hang_up(point);
    point->worst = why;
}

static void begin(struct point *point, uint64_t now)
{
    const size_t target = point->attempt++;
    point->fd = socket(point->targets[target].ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    point->until = now + KNOCK_WITHIN;
    point->connecting = true;
    if (point->fd < 0 ||
        (connect(point->fd, (struct sockaddr *)&point->targets[target], point->lengths[target]) != 0 && errno != EINPROGRESS))
        give_up(point, of_error(errno));
}

static void look(struct point *point, uint64_t now)
{
    struct pollfd ready = {.fd = point->fd, .events = point->connecting ? POLLOUT : POLLIN};
    int error = 0;
    socklen_t size = sizeof error;
    if (poll(&ready, 1, 0) <= 0) {
        if (now > point->until)
            give_up(point, point->connecting ? POINT_TIMED_OUT : POINT_WRONG_PEER);
        return;
    }
    if (point->connecting) {
        (void)getsockopt(point->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        point->connecting = false;
        if (error)
            give_up(point, of_error(error));
        return;
    }
    uint64_t token = 0;
    const ssize_t n = recv(point->fd, &token, sizeof token, MSG_DONTWAIT);
    give_up(point, n == sizeof token && be64toh(token) == point->token ? POINT_OK : POINT_WRONG_PEER);
}

bool point_knock(struct point *point, uint64_t now, enum point_status *status)
{
    if (point->fd >= 0)
        look(point, now);
    if (point->fd >= 0 && point->agents && !point->connecting) /* its agent speaks another language */
        give_up(point, POINT_OK);
    if (point->fd < 0 && point->attempt < point->target_count && !(point->attempt && point->worst == POINT_OK))
        begin(point, now);
    *status = point->target_count ? point->worst : POINT_UNRESOLVED;
    return point->fd < 0;
}

void point_close(struct point *point)
{
    hang_up(point);
    if (point->listener >= 0)
        (void)close(point->listener);
    point->listener = -1;
}

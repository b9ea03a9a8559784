#include "ras.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stall.h"

#define DEFAULT_ADDRESS "localhost:28028"
#define CONNECT_MS 1000
#define ANSWER_SECONDS 10 /* the service itself waits 5 seconds for nodes that don't answer it */
#define ANSWER_MAX ((size_t)64 << 10)

/* "host:port", "[v6]:port"; false when it is neither. */
static bool split_address(const char *address, char *host, size_t host_size, const char **port)
{
    const char *colon = strrchr(address, ':');
    size_t length = colon ? (size_t)(colon - address) : 0;
    bool bracketed = length > 2 && address[0] == '[' && address[length - 1] == ']';
    if (!colon || !colon[1] || length == 0 || length >= host_size)
        return false;
    (void)snprintf(host, host_size, "%.*s", (int)(bracketed ? length - 2 : length), bracketed ? address + 1 : address);
    *port = colon + 1;
    return true;
}

static int connect_one(const struct addrinfo *target)
{
    int fd = socket(target->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, target->ai_protocol), error = 0;
    socklen_t size = sizeof error;
    if (fd < 0)
        return -1;
    if (connect(fd, target->ai_addr, target->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS && poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, CONNECT_MS) == 1 &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0)
        return fd;
    close(fd);
    return -1;
}

static int connect_to(const char *address)
{
    char host[256];
    const char *port;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *targets;
    int fd = -1;
    if (!split_address(address, host, sizeof host, &port) || getaddrinfo(host, port, &hints, &targets) != 0)
        return -1;
    for (const struct addrinfo *target = targets; fd < 0 && target; target = target->ai_next)
        fd = connect_one(target);
    freeaddrinfo(targets);
    return fd;
}

void ras_describe(FILE *out)
{
    static const char question[] = "verbose status\n";
    const char *set = getenv("NCCL_RAS_ADDR"), *address = set && *set ? set : DEFAULT_ADDRESS;
    int fd = connect_to(address);
    if (fd < 0)
        return;
    fprintf(out, "  NCCL RAS at %.200s:\n", address);
    if (send(fd, question, sizeof question - 1, MSG_NOSIGNAL) == (ssize_t)sizeof question - 1)
        stall_copy(fd, ANSWER_SECONDS, ANSWER_MAX, out);
    fputc('\n', out);
    close(fd);
}

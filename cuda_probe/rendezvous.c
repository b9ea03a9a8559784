#include "rendezvous.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounded.h"

#define MAGIC 0x64746b62u /* "dtkb" */
#define PROTOCOL 1u

/* On the wire, numbers in network order. */
struct hello {
    uint32_t magic, protocol, rank, ranks, version;
    char host[64];
};
struct answer {
    uint32_t magic, met;
    unsigned char id[RENDEZVOUS_ID_MAX];
    char missing[256], mismatch[256], error[512];
};

struct guest {
    int fd;
    size_t length; /* of the hello so far */
    struct hello hello;
};

static int time_left(uint64_t deadline)
{
    uint64_t now = bounded_now();
    return now >= deadline ? 0 : (int)((deadline - now) / 1000000u) + 1;
}

__attribute__((format(printf, 3, 4))) static void append(char *list, size_t size, const char *format, ...)
{
    size_t length = strlen(list);
    va_list args;
    va_start(args, format);
    if (length)
        length += (size_t)snprintf(list + length, size - length, ",");
    if (length < size)
        (void)vsnprintf(list + length, size - length, format, args);
    va_end(args);
}

/* All of it or false; the peer may be slow, but not beyond the deadline. */
static bool transfer(int fd, void *bytes, size_t size, uint64_t deadline, bool send_it)
{
    for (size_t done = 0; done < size;) {
        struct pollfd ready = {.fd = fd, .events = send_it ? POLLOUT : POLLIN};
        if (poll(&ready, 1, time_left(deadline)) <= 0)
            return false;
        ssize_t n = send_it ? send(fd, (char *)bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT)
                            : recv(fd, (char *)bytes + done, size - done, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ---- rank 0 ---- */

struct host {
    struct rendezvous *meeting;
    struct guest *guests;    /* by rank; fd -1: not there */
    struct guest *strangers; /* have not said who they are */
    size_t stranger_count;
    int arrived;
};

static int listen_at(int port, char *error, size_t size)
{
    const int on = 1, off = 0;
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool six = fd >= 0;
    if (!six)
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (six)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, six ? (struct sockaddr *)&any : (struct sockaddr *)&any4, six ? sizeof any : sizeof any4) == 0 && listen(fd, 1024) == 0)
        return fd;
    (void)snprintf(error, size, "rank 0 cannot listen at port %d: %s; name a free one with --set nccl.port=N on every rank", port,
                   strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

/* A stranger has said who it is: true when it has a place of its own now. */
static bool admit(struct host *host, struct guest *stranger)
{
    struct rendezvous *meeting = host->meeting;
    struct hello *hello = &stranger->hello;
    uint32_t rank = ntohl(hello->rank), ranks = ntohl(hello->ranks);
    hello->host[sizeof hello->host - 1] = '\0';
    if (ntohl(hello->magic) != MAGIC || ntohl(hello->protocol) != PROTOCOL)
        return false; /* not one of ours: somebody scans ports */
    if (ranks != (uint32_t)meeting->ranks)
        (void)snprintf(meeting->error, sizeof meeting->error, "rank %u on %s counts %u ranks, rank 0 counts %d", rank, hello->host, ranks,
                       meeting->ranks);
    else if (rank == 0 || rank >= ranks || host->guests[rank].fd >= 0)
        (void)snprintf(meeting->error, sizeof meeting->error, "two processes say they are rank %u (one on %s, another on %s)", rank,
                       hello->host, rank && rank < ranks ? host->guests[rank].hello.host : "rank 0's host");
    if (*meeting->error)
        return false;
    host->guests[rank] = *stranger;
    host->arrived++;
    return true;
}

static void hear(struct host *host, size_t index)
{
    struct guest *stranger = &host->strangers[index];
    ssize_t n = recv(stranger->fd, (char *)&stranger->hello + stranger->length, sizeof stranger->hello - stranger->length, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    stranger->length += n > 0 ? (size_t)n : 0;
    if (n > 0 && stranger->length < sizeof stranger->hello)
        return;
    if (n <= 0 || !admit(host, stranger))
        (void)close(stranger->fd);
    host->strangers[index] = host->strangers[--host->stranger_count];
}

static void receive_guests(struct host *host, int listener)
{
    struct pollfd *watched = calloc(RENDEZVOUS_RANKS_MAX + 1, sizeof *watched);
    struct rendezvous *meeting = host->meeting;
    while (watched && host->arrived + 1 < meeting->ranks && !*meeting->error && time_left(meeting->deadline)) {
        size_t count = host->stranger_count;
        for (size_t i = 0; i < count; i++)
            watched[i] = (struct pollfd){.fd = host->strangers[i].fd, .events = POLLIN};
        watched[count] = (struct pollfd){.fd = listener, .events = POLLIN};
        if (poll(watched, count + 1, time_left(meeting->deadline)) <= 0)
            continue;
        for (size_t i = count; i-- > 0 && !*meeting->error;)
            if (watched[i].revents)
                hear(host, i);
        int fd = watched[count].revents ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0 && host->stranger_count < RENDEZVOUS_RANKS_MAX)
            host->strangers[host->stranger_count++] = (struct guest){.fd = fd};
        else if (fd >= 0)
            (void)close(fd);
    }
    free(watched);
}

static void compare(struct host *host)
{
    struct rendezvous *meeting = host->meeting;
    for (int rank = 1; rank < meeting->ranks; rank++) {
        int version = (int)ntohl(host->guests[rank].hello.version);
        if (host->guests[rank].fd < 0)
            append(meeting->missing, sizeof meeting->missing, "%d", rank);
        else if (version != meeting->version)
            append(meeting->mismatch, sizeof meeting->mismatch, "%d", rank);
    }
    if (*meeting->error)
        return;
    if (*meeting->missing)
        (void)snprintf(meeting->error, sizeof meeting->error,
                       "%d of %d ranks never arrived at %s port %d: %s; they died before, cannot reach it, or were never started",
                       meeting->ranks - 1 - host->arrived, meeting->ranks, meeting->master, meeting->port, meeting->missing);
    else if (*meeting->mismatch)
        (void)snprintf(meeting->error, sizeof meeting->error, "ranks with another NCCL than rank 0's (%d): %s (rank %d has %d)",
                       meeting->version, meeting->mismatch, atoi(meeting->mismatch),
                       (int)ntohl(host->guests[atoi(meeting->mismatch)].hello.version));
}

static void answer_guests(struct host *host)
{
    struct rendezvous *meeting = host->meeting;
    struct answer answer = {.magic = htonl(MAGIC), .met = htonl(meeting->met)};
    memcpy(answer.id, meeting->id, sizeof answer.id);
    memcpy(answer.missing, meeting->missing, sizeof answer.missing);
    memcpy(answer.mismatch, meeting->mismatch, sizeof answer.mismatch);
    memcpy(answer.error, meeting->error, sizeof answer.error);
    uint64_t deadline = bounded_in(2.0, UINT64_MAX);
    for (int rank = 1; rank < meeting->ranks; rank++)
        if (host->guests[rank].fd >= 0) {
            (void)transfer(host->guests[rank].fd, &answer, sizeof answer, deadline, true);
            (void)close(host->guests[rank].fd);
        }
    for (size_t i = 0; i < host->stranger_count; i++)
        (void)close(host->strangers[i].fd);
}

static void be_host(struct rendezvous *meeting)
{
    int listener = listen_at(meeting->port, meeting->error, sizeof meeting->error);
    struct host host = {.meeting = meeting,
                        .guests = calloc((size_t)meeting->ranks, sizeof *host.guests),
                        .strangers = calloc(RENDEZVOUS_RANKS_MAX, sizeof *host.strangers)};
    if (listener >= 0 && host.guests && host.strangers) {
        for (int rank = 0; rank < meeting->ranks; rank++)
            host.guests[rank].fd = -1;
        receive_guests(&host, listener);
        compare(&host);
        meeting->met = !*meeting->error && meeting->make_id(meeting->context, meeting->id, meeting->error, sizeof meeting->error);
        answer_guests(&host);
    }
    if (listener >= 0)
        (void)close(listener);
    free(host.guests);
    free(host.strangers);
}

/* ---- the others ---- */

static int connect_once(const struct addrinfo *address, uint64_t deadline)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (fd >= 0 && (connect(fd, address->ai_addr, address->ai_addrlen) == 0 ||
                    (errno == EINPROGRESS && poll(&ready, 1, time_left(deadline)) > 0 &&
                     getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0)))
        return fd;
    int why = error ? error : errno;
    if (fd >= 0)
        (void)close(fd);
    errno = why;
    return -1;
}

/* Rank 0 may start later than we do: tries until the deadline. */
static int reach_host(struct rendezvous *meeting)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char port[8];
    (void)snprintf(port, sizeof port, "%d", meeting->port);
    int failure = getaddrinfo(meeting->master, port, &hints, &list);
    if (failure) {
        (void)snprintf(meeting->error, sizeof meeting->error, "rank 0's host '%s' does not resolve: %s", meeting->master,
                       gai_strerror(failure));
        return -1;
    }
    int fd = -1, why = 0;
    do {
        for (const struct addrinfo *address = list; address && fd < 0; address = address->ai_next) {
            fd = connect_once(address, meeting->deadline);
            why = errno;
        }
        if (fd < 0)
            (void)usleep(50000);
    } while (fd < 0 && time_left(meeting->deadline));
    freeaddrinfo(list);
    if (fd < 0) {
        (void)snprintf(meeting->missing, sizeof meeting->missing, "0");
        (void)snprintf(meeting->error, sizeof meeting->error, "rank 0 never arrived at %s port %d: %s", meeting->master, meeting->port,
                       why ? strerror(why) : "no answer");
    }
    return fd;
}

static void be_guest(struct rendezvous *meeting)
{
    int fd = reach_host(meeting);
    if (fd < 0)
        return;
    struct answer answer = {0};
    struct hello hello = {.magic = htonl(MAGIC),
                          .protocol = htonl(PROTOCOL),
                          .rank = htonl((uint32_t)meeting->rank),
                          .ranks = htonl((uint32_t)meeting->ranks),
                          .version = htonl((uint32_t)meeting->version)};
    (void)gethostname(hello.host, sizeof hello.host - 1);
    bool good = transfer(fd, &hello, sizeof hello, meeting->deadline, true) &&
                transfer(fd, &answer, sizeof answer, meeting->patience, false) && ntohl(answer.magic) == MAGIC;
    (void)close(fd);
    if (!good) {
        (void)snprintf(meeting->error, sizeof meeting->error, "rank 0 at %s port %d took the call and did not answer: it died or hangs",
                       meeting->master, meeting->port);
        return;
    }
    answer.missing[sizeof answer.missing - 1] = answer.mismatch[sizeof answer.mismatch - 1] = '\0';
    answer.error[sizeof answer.error - 1] = '\0';
    meeting->met = ntohl(answer.met) != 0;
    memcpy(meeting->id, answer.id, sizeof meeting->id);
    memcpy(meeting->missing, answer.missing, sizeof meeting->missing);
    memcpy(meeting->mismatch, answer.mismatch, sizeof meeting->mismatch);
    memcpy(meeting->error, answer.error, sizeof meeting->error);
}

void rendezvous_run(void *rendezvous)
{
    struct rendezvous *meeting = rendezvous;
    if (meeting->ranks > RENDEZVOUS_RANKS_MAX)
        (void)snprintf(meeting->error, sizeof meeting->error, "%d ranks are more than the %d that can meet here", meeting->ranks,
                       RENDEZVOUS_RANKS_MAX);
    else if (meeting->rank == 0)
        be_host(meeting);
    else
        be_guest(meeting);
}

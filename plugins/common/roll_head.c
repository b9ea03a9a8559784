/* Rank 0: lets the others in, listens to all, and gives the verdict. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/roll_private.h"

/* On all interfaces, by IPv6 and IPv4 where there is IPv6; of a job on one host on the loopback interface alone. */
static int bound(struct roll_call *roll, int family, uint16_t port)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int yes = 1, no = 0;
    four.sin_addr.s_addr = htonl(roll->setup.one_host ? INADDR_LOOPBACK : INADDR_ANY);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (fd >= 0 &&
        (family == AF_INET6 ? bind(fd, (struct sockaddr *)&any, sizeof any) : bind(fd, (struct sockaddr *)&four, sizeof four)) == 0 &&
        listen(fd, 1024) == 0)
        return fd;
    roll->last_error = errno;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static void listen_on(struct roll_call *roll, uint16_t port)
{
    if (!roll->setup.one_host)
        roll->listener = bound(roll, AF_INET6, port);
    if (roll->listener < 0 && (roll->setup.one_host || roll->last_error == EAFNOSUPPORT || roll->last_error == EADDRNOTAVAIL))
        roll->listener = bound(roll, AF_INET, port);
}

bool roll_open(struct roll_call *roll)
{
    for (unsigned i = 0; i < PORTS && roll->listener < 0; i++)
        listen_on(roll, roll->ports[i]);
    return roll->listener >= 0;
}

static void take_strangers(struct roll_call *roll)
{
    for (size_t i = 0; i < STRANGERS_MAX; i++) {
        struct peer *stranger = &roll->strangers[i];
        if (stranger->fd >= 0)
            continue;
        int fd = accept4(roll->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), yes = 1;
        if (fd < 0)
            return;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        *stranger = (struct peer){.fd = fd, .heard = roll_now(roll)};
    }
}

static void welcome(struct roll_call *roll, struct peer *stranger)
{
    const struct record *in = &stranger->in;
    struct peer *peer = in->rank && in->rank < roll->peer_count ? &roll->peers[in->rank] : NULL;
    char rank[16];
    (void)snprintf(rank, sizeof rank, "%u", in->rank);
    if (in->kind == HELLO && in->size != roll->setup.size)
        roll_find(roll, TROUBLE_CLASH, rank, "rank %u was told of %u ranks, rank 0 of %u: they are not of one job", in->rank, in->size,
                  roll->setup.size);
    else if (in->kind == HELLO && (!in->rank || (peer && peer->fd >= 0 && !peer->done)))
        roll_find(roll, TROUBLE_CLASH, rank, "two processes say they are rank %u, on %s and on %.63s", in->rank,
                  peer ? peer->host : roll->host, in->text);
    if (in->kind != HELLO || !peer || peer->arrived) {
        if (roll->finding.trouble == TROUBLE_CLASH)
            roll_say(roll, stranger, END);
        roll_hang_up(stranger); /* an earlier run's, or one of the next run that came too early: it will come again */
        return;
    }
    *peer = (struct peer){.fd = stranger->fd, .arrived = true, .rank = in->rank, .heard = roll_now(roll)};
    roll_text(peer->host, sizeof peer->host, in->text);
    roll_text(peer->stamp, sizeof peer->stamp, in->ranks);
    stranger->fd = -1;
    roll_say(roll, peer, BEAT);
}

static void meet_strangers(struct roll_call *roll, uint64_t now)
{
    for (size_t i = 0; i < STRANGERS_MAX; i++) {
        struct peer *stranger = &roll->strangers[i];
        if (stranger->fd < 0)
            continue;
        int got = roll_listen(roll, stranger);
        if (got > 0)
            welcome(roll, stranger);
        else if (got < 0 || now > stranger->heard + CONNECT_WITHIN)
            roll_hang_up(stranger);
    }
}

static void hear_rank(struct roll_call *roll, struct peer *peer)
{
    int got = 0;
    while (peer->fd >= 0 && (got = roll_listen(roll, peer)) > 0) {
        char rank[16];
        const struct record *in = &peer->in;
        peer->heard = roll_now(roll);
        if (in->kind == ANSWER) {
            peer->answered = in->step;
            memcpy(peer->answer, in->text, sizeof peer->answer);
            continue;
        }
        peer->step = in->step;
        roll_text(peer->name, sizeof peer->name, in->name);
        peer->done = peer->done || in->kind == DONE;
        (void)snprintf(rank, sizeof rank, "%u", peer->rank);
        if (in->kind == TROUBLE && in->trouble > TROUBLE_NONE && in->trouble <= TROUBLE_GONE)
            roll_find(roll, (enum trouble)in->trouble, *in->ranks ? in->ranks : rank, "%s", in->text);
    }
    if (got < 0)
        roll_lost(roll, peer);
}

static void conclude(struct roll_call *roll)
{
    if (roll->finding.trouble == TROUBLE_LATE)
        roll_find_laggards(roll);
    roll_say_all(roll, END);
    roll->over = true;
}

void roll_turn_head(struct roll_call *roll, uint64_t now)
{
    size_t arrived = 1, done = roll->done;
    for (size_t i = 1; i < roll->peer_count; i++) {
        hear_rank(roll, &roll->peers[i]);
        roll_find_silence(roll, &roll->peers[i], now);
        arrived += roll->peers[i].arrived;
        done += roll->peers[i].done;
    }
    take_strangers(roll);
    meet_strangers(roll, now); /* behind the others: who left and comes again is no second one */
    if (!roll->present && arrived == roll->setup.size) {
        roll->present = !roll_find_different(roll);
        if (roll->present)
            roll_say_all(roll, PRESENT);
    } else if (!roll->present && now > roll->began + roll->setup.arrive_ns) {
        roll_find_missing(roll);
    }
    if (!roll->over && (roll->finding.trouble ? now >= roll->finding.decide : done == roll->setup.size))
        conclude(roll);
}

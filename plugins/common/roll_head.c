/* Rank 0: lets the others in, listens to all, and gives the verdict. */
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "common/roll_private.h"

static bool listen_on(struct roll_call *roll, uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(roll->setup.one_host ? INADDR_LOOPBACK : INADDR_ANY);
    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1024) == 0) {
        roll->listener = fd;
        return true;
    }
    roll->last_error = errno;
    (void)close(fd);
    return false;
}

bool roll_open(struct roll_call *roll)
{
    for (unsigned i = 0; i < PORTS && roll->listener < 0; i++)
        (void)listen_on(roll, roll->ports[i]);
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
    if (in->size != roll->setup.size) {
        char rank[16];
        (void)snprintf(rank, sizeof rank, "%u", in->rank);
        roll_find(roll, TROUBLE_MISSING, rank, "rank %u was told of %u ranks, rank 0 of %u: they are not of one job", in->rank, in->size,
                  roll->setup.size);
    }
    if (in->kind != HELLO || !peer || peer->arrived) {
        roll_hang_up(stranger); /* an earlier run's, or one of the next run that came too early: it will come again */
        return;
    }
    *peer = (struct peer){.fd = stranger->fd, .arrived = true, .rank = in->rank, .heard = roll_now(roll)};
    roll_text(peer->host, sizeof peer->host, in->text);
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
    take_strangers(roll);
    meet_strangers(roll, now);
    for (size_t i = 1; i < roll->peer_count; i++) {
        hear_rank(roll, &roll->peers[i]);
        roll_find_silence(roll, &roll->peers[i], now);
        arrived += roll->peers[i].arrived;
        done += roll->peers[i].done;
    }
    if (!roll->present && arrived == roll->setup.size) {
        roll->present = true;
        roll_say_all(roll, PRESENT);
    } else if (!roll->present && now > roll->began + roll->setup.arrive_ns) {
        roll_find_missing(roll);
    }
    if (!roll->over && (roll->finding.trouble ? now >= roll->finding.decide : done == roll->setup.size))
        conclude(roll);
}

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/roll_private.h"

uint64_t roll_now(const struct roll_call *roll)
{
    return roll->kit->host->now_ns();
}

void roll_hang_up(struct peer *peer)
{
    if (peer->fd >= 0)
        (void)close(peer->fd);
    peer->fd = -1;
    peer->filled = 0;
}

/* A stopped peer's buffer takes minutes of beats; one that is full is as good as closed. */
static void put(struct peer *peer, const struct record *record)
{
    if (send(peer->fd, record, sizeof *record, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof *record)
        roll_hang_up(peer);
}

void roll_send(struct roll_call *roll, struct peer *peer, enum kind kind, uint32_t number, const void *bytes, size_t length)
{
    struct record record = {.token = htobe64(roll->setup.token),
                            .kind = htonl(kind),
                            .rank = htonl(roll->setup.rank),
                            .size = htonl(roll->setup.size),
                            .step = htonl(number)};
    if (peer->fd < 0 || length > ROLL_GIFT_MAX)
        return;
    memcpy(record.text, bytes, length);
    put(peer, &record);
}

void roll_say(struct roll_call *roll, struct peer *peer, enum kind kind)
{
    struct record record = {.token = htobe64(roll->setup.token),
                            .kind = htonl(kind),
                            .rank = htonl(roll->setup.rank),
                            .size = htonl(roll->setup.size),
                            .step = htonl(roll->step),
                            .trouble = htonl(roll->finding.trouble)};
    if (peer->fd < 0)
        return;
    memcpy(record.name, roll->name, sizeof record.name);
    if (kind == PRESENT) {
        memcpy(record.text, roll->gift, sizeof roll->gift);
    } else if (kind == TROUBLE || kind == END) {
        memcpy(record.ranks, roll->finding.ranks, sizeof record.ranks);
        memcpy(record.text, roll->finding.text, sizeof record.text);
    } else if (kind == HELLO) {
        memcpy(record.text, roll->host, sizeof roll->host);
        memcpy(record.ranks, roll->stamp, sizeof roll->stamp);
    }
    put(peer, &record);
}

void roll_say_all(struct roll_call *roll, enum kind kind)
{
    for (size_t i = 0; i < roll->peer_count; i++)
        roll_say(roll, &roll->peers[i], kind);
}

void roll_text(char *out, size_t size, const char *text)
{
    size_t length = 0;
    for (; length + 1 < size && text[length]; length++)
        out[length] = (char)(text[length] >= ' ' && text[length] < 0x7f ? text[length] : '?');
    out[length] = '\0';
}

int roll_listen(struct roll_call *roll, struct peer *peer)
{
    while (peer->filled < sizeof peer->in) {
        ssize_t n = recv(peer->fd, (char *)&peer->in + peer->filled, sizeof peer->in - peer->filled, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (n <= 0)
            return -1;
        peer->filled += (size_t)n;
    }
    struct record *in = &peer->in;
    peer->filled = 0;
    if (be64toh(in->token) != roll->setup.token)
        return -1;
    in->kind = ntohl(in->kind);
    in->rank = ntohl(in->rank);
    in->size = ntohl(in->size);
    in->step = ntohl(in->step);
    in->trouble = ntohl(in->trouble);
    in->name[sizeof in->name - 1] = in->ranks[sizeof in->ranks - 1] = '\0';
    if (in->kind != PRESENT && in->kind != WORK && in->kind != ANSWER)
        in->text[sizeof in->text - 1] = '\0';
    return 1;
}

/* The other ranks: find the way to rank 0, and hear what it says. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>

#include "common/roll_private.h"

#define LAST_WORDS_WITHIN (1000 * MS)

void roll_find_targets(struct roll_call *roll)
{
    for (size_t i = 0; i < roll->setup.head_count; i++) {
        const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL;
        if (getaddrinfo(roll->setup.heads[i], NULL, &hints, &found) != 0)
            continue;
        for (const struct addrinfo *one = found; one && roll->target_count < TARGETS_MAX; one = one->ai_next) {
            memcpy(&roll->targets[roll->target_count], one->ai_addr, one->ai_addrlen);
            roll->target_lengths[roll->target_count++] = one->ai_addrlen;
        }
        freeaddrinfo(found);
    }
}

/* Knocks at the next address and port. */
static void knock(struct roll_call *roll, uint64_t now)
{
    struct peer *head = &roll->peers[0];
    size_t target = roll->attempt / PORTS % roll->target_count;
    struct sockaddr_storage address = roll->targets[target];
    int yes = 1;
    const uint16_t port = htons(roll->ports[roll->attempt++ % PORTS]);
    if (address.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address)->sin6_port = port;
    else
        ((struct sockaddr_in *)&address)->sin_port = port;
    head->fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    roll->attempt_until = now + CONNECT_WITHIN;
    if (head->fd < 0)
        return;
    (void)setsockopt(head->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    roll->connecting = true;
    if (connect(head->fd, (struct sockaddr *)&address, roll->target_lengths[target]) != 0 && errno != EINPROGRESS) {
        roll->last_error = errno;
        roll_hang_up(head);
        /* After a round in vain the others get time. */
        roll->attempt_until = roll->attempt % (PORTS * roll->target_count) ? now : now + RETRY_AFTER;
    }
}

/* A connection under way: is it made, and did rank 0 answer? */
static void wait_for_answer(struct roll_call *roll, uint64_t now)
{
    struct peer *head = &roll->peers[0];
    if (roll->connecting) {
        struct pollfd writable = {.fd = head->fd, .events = POLLOUT};
        int error = 0;
        socklen_t size = sizeof error;
        if (poll(&writable, 1, 0) > 0 && getsockopt(head->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0) {
            roll->connecting = false;
            if (!error)
                roll_say(roll, head, HELLO);
            else
                roll_hang_up(head);
            roll->last_error = error ? error : roll->last_error;
        }
    }
    if (head->fd >= 0 && !roll->connecting) {
        int got = roll_listen(roll, head);
        head->arrived = got > 0;
        if (got < 0)
            roll_hang_up(head);
    }
    if (head->fd >= 0 && !head->arrived && now > roll->attempt_until) {
        roll->last_error = ETIMEDOUT;
        roll_hang_up(head);
    }
    if (head->fd < 0)
        roll->attempt_until = roll->attempt % (PORTS * roll->target_count) ? now : now + RETRY_AFTER;
}

static void reach_head(struct roll_call *roll, uint64_t now)
{
    struct peer *head = &roll->peers[0];
    if (now > roll->began + roll->setup.arrive_ns) {
        roll_find(roll, TROUBLE_MISSING, "0", "rank 0 never arrived: nobody answered for it at %s, port %u to %u (%s)",
                  roll->setup.head_count ? roll->setup.heads[0] : "any address", roll->ports[0], roll->ports[PORTS - 1],
                  roll->last_error ? strerror(roll->last_error) : "the name does not resolve");
        return;
    }
    if (!roll->target_count)
        return;
    if (head->fd >= 0)
        wait_for_answer(roll, now);
    else if (now >= roll->attempt_until)
        knock(roll, now);
    head->heard = now;
}

/* What rank 0 said. */
static void take_head(struct roll_call *roll, const struct record *in)
{
    struct peer *head = &roll->peers[0];
    if (in->kind == WORK) {
        roll->work = in->step;
        memcpy(roll->work_bytes, in->text, sizeof roll->work_bytes);
        return;
    }
    head->step = in->step;
    roll_text(head->name, sizeof head->name, in->name);
    if (in->kind == PRESENT) {
        roll->present = true;
        memcpy(roll->gift, in->text, sizeof roll->gift);
    } else if (in->kind == END) {
        roll->finding = (struct finding){.trouble = in->trouble <= TROUBLE_MISSING ? (enum trouble)in->trouble : TROUBLE_FAILED};
        roll_text(roll->finding.ranks, sizeof roll->finding.ranks, in->ranks);
        roll_text(roll->finding.text, sizeof roll->finding.text, in->text);
        roll->over = head->done = true;
    }
}

void roll_turn_rank(struct roll_call *roll, uint64_t now)
{
    struct peer *head = &roll->peers[0];
    if (!head->arrived && !roll->over) {
        reach_head(roll, now);
        if (head->arrived)
            take_head(roll, &head->in);
    }
    int got = 0;
    while (head->arrived && head->fd >= 0 && !roll->over && (got = roll_listen(roll, head)) > 0) {
        head->heard = now;
        take_head(roll, &head->in);
    }
    if (got < 0 || (head->arrived && head->fd < 0 && !roll->over))
        roll_lost(roll, head);
    roll_find_silence(roll, head, now);
    /* While rank 0 talks, the verdict is its to give. */
    bool alone = head->fd < 0 || !head->arrived || roll->finding.trouble == TROUBLE_SILENT;
    bool unheard = roll->finding.trouble && now >= roll->finding.decide + roll->setup.silence_ns + LAST_WORDS_WITHIN;
    if (!roll->over && roll->finding.trouble && ((alone && now >= roll->finding.decide) || unheard))
        roll->over = true;
}

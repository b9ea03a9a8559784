#include "common/roll_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/roll_private.h"

#define PORT_FIRST 20000u /* below the range from which systems take the ports of outgoing connections */
#define PORT_RANGE 12000u
#define PROTOCOL "2" /* ranks with another one do not meet */
#define BEAT_EVERY (200 * MS)

uint64_t roll_token(const struct job *job, const char *purpose, const char *change)
{
    const char *const parts[] = {PROTOCOL, job->id, purpose, change ? change : ""};
    uint64_t hash = 14695981039346656037ull; /* FNV-1a */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *p = parts[i];; p++) {
            hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
            if (!*p)
                break;
        }
    return hash;
}

struct roll_setup roll_setup(const struct kit *kit, const struct job *job, const char *purpose)
{
    struct roll_setup setup = {.rank = job->rank,
                               .size = job->size,
                               .token = roll_token(job, purpose, kit_param(kit, "trial", NULL)),
                               .one_host = job->one_host,
                               .port = (uint16_t)strtoul(kit_param(kit, "port", "0"), NULL, 10)};
    const char *head = kit_param(kit, "head", NULL);
    if (head) {
        setup.one_host = false;
        setup.heads[setup.head_count++] = head;
    }
    for (size_t i = 0; i < job->head_count && setup.head_count < JOB_HEADS_MAX; i++)
        setup.heads[setup.head_count++] = job->heads[i];
    return setup;
}

static void set_ports(struct roll_call *roll)
{
    for (unsigned i = 0; i < PORTS; i++)
        roll->ports[i] = (uint16_t)(roll->setup.port ? roll->setup.port + i : PORT_FIRST + (roll->setup.token + i) % PORT_RANGE);
}

struct roll_call *roll_begin(struct kit *kit, const struct roll_setup *setup)
{
    struct roll_call *roll = kit_memory(kit, sizeof *roll);
    size_t count = setup->rank ? 1 : setup->size;
    struct peer *peers = kit_memory(kit, count * sizeof *peers);
    struct pollfd *fds = kit_memory(kit, (count + STRANGERS_MAX + 16) * sizeof *fds);
    if (!roll || !peers || !fds) {
        kit_unavailable(kit, "no memory for a roll call of %u ranks", setup->size);
        return NULL;
    }
    *roll = (struct roll_call){.kit = kit, .setup = *setup, .peers = peers, .peer_count = count, .fds = fds, .listener = -1};
    for (size_t i = 0; i < count; i++)
        peers[i] = (struct peer){.fd = -1, .rank = (uint32_t)i};
    for (size_t i = 0; i < STRANGERS_MAX; i++)
        roll->strangers[i].fd = -1;
    if (setup->gift)
        memcpy(roll->gift, setup->gift, setup->gift_length < ROLL_GIFT_MAX ? setup->gift_length : ROLL_GIFT_MAX);
    roll_text(roll->stamp, sizeof roll->stamp, setup->stamp ? setup->stamp : "");
    roll->setup.gift = roll->setup.stamp = NULL;
    (void)gethostname(roll->host, sizeof roll->host - 1);
    set_ports(roll);
    roll->began = roll_now(roll);
    if (setup->rank) {
        roll_find_targets(roll);
        return roll;
    }
    if (roll_open(roll))
        return roll;
    kit_unavailable(kit, "rank 0 cannot listen on any of the ports %u to %u: %s", roll->ports[0], roll->ports[PORTS - 1],
                    strerror(roll->last_error));
    return NULL;
}

void roll_end(struct roll_call *roll)
{
    for (size_t i = 0; roll && i < roll->peer_count; i++)
        roll_hang_up(&roll->peers[i]);
    for (size_t i = 0; roll && i < STRANGERS_MAX; i++)
        roll_hang_up(&roll->strangers[i]);
    if (roll && roll->listener >= 0)
        (void)close(roll->listener);
}

static void watch(struct roll_call *roll, size_t *count, int fd, short events)
{
    if (fd >= 0)
        roll->fds[(*count)++] = (struct pollfd){.fd = fd, .events = events};
}

void roll_turn(struct roll_call *roll, struct pollfd *own, size_t own_count, uint64_t wait_ns)
{
    size_t count = 0, own_at;
    uint64_t wait = wait_ns < BEAT_EVERY ? wait_ns : BEAT_EVERY;
    watch(roll, &count, roll->listener, POLLIN);
    for (size_t i = 0; i < roll->peer_count; i++)
        watch(roll, &count, roll->peers[i].fd, (short)(roll->connecting ? POLLOUT : POLLIN));
    for (size_t i = 0; i < STRANGERS_MAX; i++)
        watch(roll, &count, roll->strangers[i].fd, POLLIN);
    own_at = count;
    for (size_t i = 0; i < own_count && i < 15; i++)
        roll->fds[count++] = own[i];
    if (roll->setup.rank && !roll->peers[0].arrived && wait > RETRY_AFTER)
        wait = RETRY_AFTER;
    const struct timespec timeout = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    (void)ppoll(roll->fds, count, &timeout, NULL);
    for (size_t i = 0; i < own_count && i < 15; i++)
        own[i].revents = roll->fds[own_at + i].revents;
    uint64_t now = roll_now(roll);
    if (now >= roll->beat_due && !roll->over) {
        roll->beat_due = now + BEAT_EVERY;
        if (!roll->setup.rank || roll->peers[0].arrived)
            roll_say_all(roll, BEAT);
    }
    if (roll->setup.rank)
        roll_turn_rank(roll, now);
    else
        roll_turn_head(roll, now);
}

bool roll_present(const struct roll_call *roll)
{
    return roll->present;
}

const void *roll_gift(const struct roll_call *roll)
{
    return roll->gift;
}

void roll_hand_out(struct roll_call *roll, uint32_t rank, uint32_t number, const void *bytes, size_t length)
{
    if (rank && rank < roll->peer_count) {
        roll_send(roll, &roll->peers[rank], WORK, number, bytes, length);
    } else if (!rank && length <= sizeof roll->work_bytes) {
        roll->work = number;
        memcpy(roll->work_bytes, bytes, length);
    }
}

bool roll_take(struct roll_call *roll, uint32_t *number, void *bytes)
{
    if (roll->work == roll->taken)
        return false;
    *number = roll->taken = roll->work;
    memcpy(bytes, roll->work_bytes, sizeof roll->work_bytes);
    return true;
}

void roll_answer(struct roll_call *roll, uint32_t number, const void *bytes, size_t length)
{
    if (roll->setup.rank) {
        roll_send(roll, &roll->peers[0], ANSWER, number, bytes, length);
    } else if (length <= sizeof roll->peers[0].answer) {
        roll->peers[0].answered = number;
        memcpy(roll->peers[0].answer, bytes, length);
    }
}

const void *roll_answered(const struct roll_call *roll, uint32_t rank, uint32_t number)
{
    return rank < roll->peer_count && roll->peers[rank].answered == number ? roll->peers[rank].answer : NULL;
}

const char *roll_host(const struct roll_call *roll, uint32_t rank)
{
    return rank == roll->setup.rank ? roll->host : rank < roll->peer_count ? roll->peers[rank].host : "";
}

void roll_step(struct roll_call *roll, uint32_t number, const char *name)
{
    roll->step = number;
    memset(roll->name, 0, sizeof roll->name);
    roll_text(roll->name, sizeof roll->name, name);
    if (roll->setup.rank && roll->peers[0].arrived)
        roll_say(roll, &roll->peers[0], BEAT);
}

void roll_trouble(struct roll_call *roll, enum trouble kind, const char *format, ...)
{
    char text[sizeof roll->finding.text], rank[16];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)snprintf(rank, sizeof rank, "%u", roll->setup.rank);
    roll_find(roll, kind, rank, "rank %u: %s", roll->setup.rank, text);
    if (roll->setup.rank && roll->peers[0].arrived)
        roll_say(roll, &roll->peers[0], TROUBLE);
}

void roll_done(struct roll_call *roll)
{
    if (!roll->done && roll->setup.rank)
        roll_say(roll, &roll->peers[0], DONE);
    roll->done = true;
}

bool roll_over(const struct roll_call *roll)
{
    return roll->over;
}

enum trouble roll_verdict(const struct roll_call *roll)
{
    return roll->finding.trouble;
}

const char *roll_reason(const struct roll_call *roll)
{
    return roll->finding.text;
}

const char *roll_ranks(const struct roll_call *roll)
{
    return roll->finding.ranks;
}

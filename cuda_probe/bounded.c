#include "bounded.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u

/* Shared by two: whoever is the last to let go of it frees it. */
struct ticket {
    atomic_int holders;
    int done; /* an eventfd */
    void (*work)(void *);
    void *context;
};

uint64_t bounded_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t bounded_in(double seconds, uint64_t limit)
{
    uint64_t at = bounded_now() + (uint64_t)(seconds * NS_PER_S);
    return at < limit ? at : limit;
}

void bounded_nap(void)
{
    const struct timespec moment = {.tv_nsec = 50000};
    (void)nanosleep(&moment, NULL);
}

static void ticket_free(struct ticket *ticket)
{
    (void)close(ticket->done);
    free(ticket);
}

static void let_go(struct ticket *ticket)
{
    if (atomic_fetch_sub(&ticket->holders, 1) == 1)
        ticket_free(ticket);
}

static void *work(void *argument)
{
    struct ticket *ticket = argument;
    ticket->work(ticket->context);
    (void)eventfd_write(ticket->done, 1);
    let_go(ticket);
    return NULL;
}

static struct ticket *ticket_new(void (*function)(void *), void *context)
{
    struct ticket *ticket = calloc(1, sizeof *ticket);
    int done = ticket ? eventfd(0, EFD_CLOEXEC) : -1;
    if (done < 0) {
        free(ticket);
        return NULL;
    }
    *ticket = (struct ticket){.done = done, .work = function, .context = context};
    atomic_init(&ticket->holders, 2);
    return ticket;
}

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, timeout_ms) > 0;
}

/* Up to the deadline, in whole milliseconds. */
static int time_left(uint64_t deadline)
{
    uint64_t now = bounded_now();
    return now >= deadline ? 0 : deadline - now > 3600ull * NS_PER_S ? 3600000 : (int)((deadline - now) / 1000000u) + 1;
}

bool bounded_run_beside(void (*function)(void *), void *context, _Atomic uint64_t *deadline, const struct bounded_turn *beside)
{
    struct ticket *ticket = ticket_new(function, context);
    pthread_t thread;
    if (!ticket)
        return false;
    if (pthread_create(&thread, NULL, work, ticket) != 0) {
        ticket_free(ticket);
        return false;
    }
    bool done;
    while (!(done = is_readable(ticket->done, beside ? 0 : time_left(atomic_load(deadline)))) && bounded_now() < atomic_load(deadline))
        if (beside)
            beside->turn(beside->context, ticket->done);
    if (done)
        (void)pthread_join(thread, NULL);
    else
        (void)pthread_detach(thread);
    let_go(ticket);
    return done;
}

bool bounded_run(void (*function)(void *), void *context, uint64_t deadline)
{
    _Atomic uint64_t until = deadline;
    return bounded_run_beside(function, context, &until, NULL);
}

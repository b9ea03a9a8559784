#include "bounded.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000u

struct ticket {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work)(void *);
    void *context;
    bool done, abandoned;
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
    (void)pthread_mutex_destroy(&ticket->lock);
    (void)pthread_cond_destroy(&ticket->changed);
    free(ticket);
}

static void *work(void *argument)
{
    struct ticket *ticket = argument;
    ticket->work(ticket->context);
    (void)pthread_mutex_lock(&ticket->lock);
    ticket->done = true;
    bool last = ticket->abandoned;
    (void)pthread_cond_signal(&ticket->changed);
    (void)pthread_mutex_unlock(&ticket->lock);
    if (last)
        ticket_free(ticket);
    return NULL;
}

static struct ticket *ticket_new(void (*function)(void *), void *context)
{
    struct ticket *ticket = calloc(1, sizeof *ticket);
    pthread_condattr_t monotonic;
    if (!ticket || pthread_condattr_init(&monotonic) != 0) {
        free(ticket);
        return NULL;
    }
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&ticket->lock, NULL);
    (void)pthread_cond_init(&ticket->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    ticket->work = function;
    ticket->context = context;
    return ticket;
}

bool bounded_run(void (*function)(void *), void *context, uint64_t deadline)
{
    struct ticket *ticket = ticket_new(function, context);
    pthread_t thread;
    if (!ticket || pthread_create(&thread, NULL, work, ticket) != 0) {
        if (ticket)
            ticket_free(ticket);
        return false;
    }
    const struct timespec until = {.tv_sec = (time_t)(deadline / NS_PER_S), .tv_nsec = (long)(deadline % NS_PER_S)};
    int waited = 0;
    (void)pthread_mutex_lock(&ticket->lock);
    while (!ticket->done && waited == 0)
        waited = pthread_cond_timedwait(&ticket->changed, &ticket->lock, &until);
    bool done = ticket->done;
    ticket->abandoned = !done;
    (void)pthread_mutex_unlock(&ticket->lock);
    if (!done) {
        (void)pthread_detach(thread);
        return false;
    }
    (void)pthread_join(thread, NULL);
    ticket_free(ticket);
    return true;
}

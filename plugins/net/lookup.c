/* getaddrinfo() takes as long as the resolver likes and can't be cancelled: it runs in a thread of its own that is left behind when its
 * time is up. Whoever comes last, the thread or the probe, frees the job. */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net.h"

struct net_lookup {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    bool done, abandoned;
    enum net_answer answer;
    struct net_address address;
    char name[];
};

static void release(struct net_lookup *lookup)
{
    (void)pthread_cond_destroy(&lookup->answered);
    (void)pthread_mutex_destroy(&lookup->lock);
    free(lookup);
}

static enum net_answer resolve(const char *name, struct net_address *out)
{
    struct addrinfo *list = NULL;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    int status = getaddrinfo(name, NULL, &hints, &list);
    if (status)
        return status == EAI_AGAIN || status == EAI_SYSTEM ? NET_NO_SERVER : NET_UNKNOWN;
    enum net_answer answer = NET_UNKNOWN;
    for (const struct addrinfo *entry = list; entry && answer != NET_FOUND; entry = entry->ai_next) {
        out->family = (sa_family_t)entry->ai_family;
        answer = entry->ai_family == AF_INET || entry->ai_family == AF_INET6 ? NET_FOUND : NET_UNKNOWN;
        if (entry->ai_family == AF_INET)
            out->v4 = ((const struct sockaddr_in *)(const void *)entry->ai_addr)->sin_addr;
        else if (entry->ai_family == AF_INET6)
            out->v6 = ((const struct sockaddr_in6 *)(const void *)entry->ai_addr)->sin6_addr;
    }
    freeaddrinfo(list);
    return answer;
}

static void *work(void *context)
{
    struct net_lookup *lookup = context;
    struct net_address address = {0};
    enum net_answer answer = resolve(lookup->name, &address);
    (void)pthread_mutex_lock(&lookup->lock);
    lookup->answer = answer;
    lookup->address = address;
    lookup->done = true;
    bool abandoned = lookup->abandoned;
    (void)pthread_cond_signal(&lookup->answered);
    (void)pthread_mutex_unlock(&lookup->lock);
    if (abandoned)
        release(lookup);
    return NULL;
}

struct net_lookup *net_lookup_start(const char *name)
{
    size_t length = strlen(name);
    struct net_lookup *lookup = calloc(1, sizeof *lookup + length + 1);
    if (!lookup)
        return NULL;
    memcpy(lookup->name, name, length + 1);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&lookup->answered, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_init(&lookup->lock, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, lookup)) {
        release(lookup);
        return NULL;
    }
    (void)pthread_detach(thread);
    return lookup;
}

enum net_answer net_lookup_end(struct net_lookup *lookup, const struct kit *kit, uint64_t deadline_ns, struct net_address *out)
{
    if (deadline_ns > kit->call->deadline_ns)
        deadline_ns = kit->call->deadline_ns;
    const struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u), .tv_nsec = (long)(deadline_ns % 1000000000u)};
    (void)pthread_mutex_lock(&lookup->lock);
    while (!lookup->done && pthread_cond_timedwait(&lookup->answered, &lookup->lock, &until) != ETIMEDOUT)
        ;
    bool done = lookup->done;
    enum net_answer answer = done ? lookup->answer : NET_TIMED_OUT;
    if (answer == NET_FOUND)
        *out = lookup->address;
    lookup->abandoned = true;
    (void)pthread_mutex_unlock(&lookup->lock);
    if (done)
        release(lookup);
    return answer;
}

/* The point at which the ranks of a job meet: MASTER_ADDR and MASTER_PORT, listened at and knocked at. */
#ifndef DTKB_RENDEZVOUS_POINT_H
#define DTKB_RENDEZVOUS_POINT_H

#include <poll.h>
#include <sys/socket.h>

#include "common/kit.h"

#define POINT_TARGETS_MAX 8

/* What is wrong with it. Rank 0 finds the first four, the others can only be found by those who knock. */
enum point_status {
    POINT_OK,
    POINT_BAD_PORT,    /* MASTER_PORT is no port */
    POINT_IN_USE,      /* another process listens there */
    POINT_FORBIDDEN,   /* this user may not listen there */
    POINT_NO_LISTEN,   /* rank 0 cannot listen there for another reason */
    POINT_UNRESOLVED,  /* MASTER_ADDR is no name that is known */
    POINT_REFUSED,     /* nobody listens there, though rank 0 listens at its host: it is another host's address */
    POINT_WRONG_PEER,  /* another process than rank 0 answers: likewise */
    POINT_TIMED_OUT,   /* packets are dropped */
    POINT_UNREACHABLE, /* there is no way there */
    POINT_STATUSES
};
/* As in facts: "in-use". */
const char *point_status_name(enum point_status status);

struct point {
    const char *address, *port_text;
    uint16_t port;
    bool agents;    /* the launcher's agent listens there, and rank 0 does not */
    uint64_t token; /* what rank 0 says to who knocks */
    int listener, error;
    /* of who knocks */
    struct sockaddr_storage targets[POINT_TARGETS_MAX];
    socklen_t lengths[POINT_TARGETS_MAX];
    size_t target_count, attempt;
    int fd;
    bool connecting;
    uint64_t until; /* of this attempt */
    enum point_status worst;
};

/* Takes the place from the job's environment, and resolves the name. */
enum point_status point_find(struct point *point, const struct kit *kit, const char *otherwise, uint64_t token);
/* Is the address one of this host's? */
bool point_is_here(const struct point *point);

/* Rank 0. */
enum point_status point_listen(struct point *point);
/* Answers whoever knocks; for ever, without waiting. */
void point_serve(const struct point *point);

/* Every rank: call point_knock() until it returns true; the descriptor to wait for meanwhile is point->fd. */
bool point_knock(struct point *point, uint64_t now, enum point_status *status);
void point_close(struct point *point);

/* A socket that listens on all interfaces as a job's store does; -1 with errno. */
int point_open(uint16_t port);

#endif

/* What the files of the roll call share. */
#ifndef DTKB_PLUGINS_ROLL_PRIVATE_H
#define DTKB_PLUGINS_ROLL_PRIVATE_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "common/roll_call.h"

#define PORTS 4u
#define STRANGERS_MAX 64u
#define TARGETS_MAX (2 * JOB_HEADS_MAX)
#define MS 1000000ull
#define SETTLE (400 * MS) /* one trouble brings others with it: wait for the one that explains them */
#define CONNECT_WITHIN (1000 * MS)
#define RETRY_AFTER (50 * MS)

enum kind { HELLO = 1, PRESENT, BEAT, TROUBLE, DONE, END, WORK, ANSWER };

/* One message, numbers in network order. */
struct record {
    uint64_t token;
    uint32_t kind, rank, size, step, trouble, unused;
    char name[48];   /* of the step */
    char ranks[128]; /* whom it is about; HELLO: the stamp */
    char text[304];  /* HELLO: the host; PRESENT: the gift; WORK and ANSWER: bytes, `step` is their number */
};
_Static_assert(sizeof(struct record) == 512, "records have one size on all machines");
_Static_assert(sizeof((struct record *)0)->text >= ROLL_GIFT_MAX, "the gift fits");

/* The other end of a connection. */
struct peer {
    int fd;
    size_t filled;
    struct record in;
    bool arrived, done;
    uint32_t rank, step;
    char name[48], host[64], stamp[64];
    uint32_t answered; /* number of the work */
    char answer[ROLL_GIFT_MAX];
    uint64_t heard; /* when it last spoke; of a stranger: when it came */
};

struct finding {
    enum trouble trouble;
    uint64_t decide; /* when it is settled */
    char ranks[128], text[304];
};

struct roll_call {
    struct kit *kit;
    struct roll_setup setup;
    struct peer *peers; /* rank 0: one per rank, its own unused; else peers[0] is rank 0 */
    size_t peer_count;
    struct peer strangers[STRANGERS_MAX];
    struct pollfd *fds;
    int listener;
    uint16_t ports[PORTS];
    uint64_t began, beat_due;
    uint32_t step;
    char name[48];
    bool present, done, over;
    struct finding finding;
    char gift[ROLL_GIFT_MAX], stamp[64]; /* copies */
    uint32_t work, taken;                /* numbers of what was given to this rank, and of what it took */
    char work_bytes[ROLL_GIFT_MAX], host[64];
    /* of the others: the way to rank 0 */
    struct sockaddr_storage targets[TARGETS_MAX];
    socklen_t target_lengths[TARGETS_MAX];
    size_t target_count, attempt;
    bool connecting;
    uint64_t attempt_until;
    int last_error;
};

/* ---- roll_talk.c ---- */
uint64_t roll_now(const struct roll_call *roll);
void roll_hang_up(struct peer *peer);
void roll_say(struct roll_call *roll, struct peer *peer, enum kind kind);
void roll_say_all(struct roll_call *roll, enum kind kind);
void roll_send(struct roll_call *roll, struct peer *peer, enum kind kind, uint32_t number, const void *bytes, size_t length);
/* One record from the peer: 1 when it is whole, 0 when there is none yet, -1 when the connection has ended or is not one of ours. */
int roll_listen(struct roll_call *roll, struct peer *peer);
/* Text of another process, made fit for a reason. */
void roll_text(char *out, size_t size, const char *text);

/* ---- roll_find.c ---- */
/* Notes a trouble; the greatest counts. */
__attribute__((format(printf, 4, 5))) void roll_find(struct roll_call *roll, enum trouble trouble, const char *ranks, const char *format,
                                                     ...);
/* The connection to this rank has ended. */
void roll_lost(struct roll_call *roll, struct peer *peer);
void roll_find_silence(struct roll_call *roll, struct peer *peer, uint64_t now);
void roll_find_missing(struct roll_call *roll);
/* All are there: true where one has another stamp than rank 0. */
bool roll_find_different(struct roll_call *roll);
/* All wait in one step for those that are still in an earlier one: says so in the finding. */
void roll_find_laggards(struct roll_call *roll);

/* ---- roll_head.c: rank 0 ---- */
bool roll_open(struct roll_call *roll);
void roll_turn_head(struct roll_call *roll, uint64_t now);

/* ---- roll_rank.c: the others ---- */
void roll_find_targets(struct roll_call *roll);
void roll_turn_rank(struct roll_call *roll, uint64_t now);

#endif

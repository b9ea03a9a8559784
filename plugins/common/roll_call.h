/* A roll call beside a collective library: every rank checks in with rank 0 over TCP, and all keep telling each other where they are. The
 * libraries themselves block for ever when a rank is missing, was killed or is stopped; the roll call names it. Nothing here starts a
 * thread: call roll_turn() often, for instance in the loop that waits for a collective.
 *
 * Rank 0 listens on one of four ports that follow from the token. Who knows the token (a hash of the job's id) is let in; a record is 512
 * bytes and holds no pointer or length, so that a stranger can do no more than be turned away. */
#ifndef DTKB_PLUGINS_ROLL_CALL_H
#define DTKB_PLUGINS_ROLL_CALL_H

#include <poll.h>

#include "common/job.h"

#define ROLL_GIFT_MAX 256

/* What is wrong with a rank; of several troubles at a time the greatest explains the others. */
enum trouble {
    TROUBLE_NONE,
    TROUBLE_REFUSED, /* its library refuses what it is asked for: no rank or link is at fault */
    TROUBLE_FAILED,  /* its library said so, or its result is wrong */
    TROUBLE_LATE,    /* a step did not end in its time */
    TROUBLE_SILENT,  /* no sign of life: stopped, or its host is gone */
    TROUBLE_STOPPED, /* its process was stopped by a signal */
    TROUBLE_GONE,    /* its process ended */
    TROUBLE_DIFFERS, /* its stamp is not rank 0's */
    TROUBLE_CLASH,   /* two processes are the same rank, or count another number of ranks */
    TROUBLE_MISSING, /* it never arrived */
};

struct roll_setup {
    uint32_t rank, size;
    uint64_t token;
    const char *heads[JOB_HEADS_MAX]; /* where rank 0 may be */
    size_t head_count;
    bool one_host;                  /* listen on the loopback interface only */
    uint16_t port;                  /* the first of the four; 0: by the token */
    uint64_t arrive_ns, silence_ns; /* how long to wait for all ranks, and for a sign of life */
    const void *gift;               /* rank 0: bytes that every rank gets when all are there (an ncclUniqueId); may be NULL */
    size_t gift_length;
    const char *stamp; /* what must be the same on all ranks ("NCCL 2.21.5"); may be NULL */
};

struct roll_call;

/* The same number for the same job, purpose and change on all ranks, and hardly for any others. */
uint64_t roll_token(const struct job *job, const char *purpose, const char *change);

/* What follows from the job and from the parameters `head`, `port` and `trial`: all but the times, the gift and the stamp. */
struct roll_setup roll_setup(const struct kit *kit, const struct job *job, const char *purpose);

/* Begins; NULL with a reason given to the kit. Gift and stamp are copied, the heads must stay. Memory is the kit's, roll_end() closes the connections. */
struct roll_call *roll_begin(struct kit *kit, const struct roll_setup *setup);
void roll_end(struct roll_call *roll);

/* Sends and takes what is due, waiting at most `wait_ns` for the network or one of the caller's own descriptors. */
void roll_turn(struct roll_call *roll, struct pollfd *own, size_t own_count, uint64_t wait_ns);

bool roll_present(const struct roll_call *roll);     /* all ranks have arrived */
const void *roll_gift(const struct roll_call *roll); /* ROLL_GIFT_MAX bytes, once present */
/* This rank begins a step; numbers rise. */
void roll_step(struct roll_call *roll, uint32_t number, const char *name);
/* This rank is in trouble, or has done all its work. Go on with roll_turn() until roll_over(). */
__attribute__((format(printf, 3, 4))) void roll_trouble(struct roll_call *roll, enum trouble kind, const char *format, ...);
void roll_done(struct roll_call *roll);

/* ---- work that rank 0 hands out, once all are present; numbers rise ---- */
void roll_hand_out(struct roll_call *roll, uint32_t rank, uint32_t number, const void *bytes, size_t length);
/* The work that this rank was given last; false where it was taken already. `bytes` has room for ROLL_GIFT_MAX. */
bool roll_take(struct roll_call *roll, uint32_t *number, void *bytes);
void roll_answer(struct roll_call *roll, uint32_t number, const void *bytes, size_t length);
/* Rank 0: what this rank answered to work of that number; NULL while it has not. */
const void *roll_answered(const struct roll_call *roll, uint32_t rank, uint32_t number);
/* The host of a rank, "" where it is not known. */
const char *roll_host(const struct roll_call *roll, uint32_t rank);

/* The verdict, the same on all ranks that still talk. */
bool roll_over(const struct roll_call *roll);
enum trouble roll_verdict(const struct roll_call *roll);
const char *roll_reason(const struct roll_call *roll); /* "" when all is well */
const char *roll_ranks(const struct roll_call *roll);  /* the ranks it is about: "2,3" */

#endif

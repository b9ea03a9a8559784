/* The ranks of a job meet at rank 0's port, tell what they are, and receive NCCL's unique id, or why there is none. */
#ifndef DTKB_CUDA_PROBE_RENDEZVOUS_H
#define DTKB_CUDA_PROBE_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RENDEZVOUS_RANKS_MAX 1000
#define RENDEZVOUS_ID_MAX 128

struct rendezvous {
    /* given */
    const char *master;
    int port, rank, ranks;
    int version;       /* of this rank's NCCL */
    uint64_t deadline; /* rank 0 closes the list then */
    uint64_t patience; /* the others wait so long for its answer */
    /* Rank 0 makes the id when all are there. False: `error` says why, and every rank hears it. */
    bool (*make_id)(void *context, unsigned char *id, char *error, size_t size);
    void *context;
    /* found */
    bool met; /* all there, and `id` is valid */
    unsigned char id[RENDEZVOUS_ID_MAX];
    char missing[256];  /* ranks that never arrived, joined by commas */
    char mismatch[256]; /* ranks whose NCCL differs from rank 0's */
    char error[512];    /* why they did not meet */
};

/* For bounded_run. */
void rendezvous_run(void *rendezvous);

#endif

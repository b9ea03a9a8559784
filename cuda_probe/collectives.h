/* Small collectives whose results are known beforehand. */
#ifndef DTKB_CUDA_PROBE_COLLECTIVES_H
#define DTKB_CUDA_PROBE_COLLECTIVES_H

#include "team.h"

enum collective { COLLECTIVE_ALL_REDUCE, COLLECTIVE_BROADCAST, COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_SEND_RECV };
#define COLLECTIVES 5

/* As in facts ("allreduce"), and as NCCL's users call it ("all-reduce"). */
const char *collective_name(enum collective kind);
const char *collective_title(enum collective kind);
bool collective_available(const struct nccl_api *nccl, enum collective kind);

/* One collective on a team. `bytes` is the size of the larger buffer of a rank, as in nccl-tests; at least an element a rank moves. */
struct collective_run {
    struct team *team;
    enum collective kind;
    size_t bytes;
    int repeats;    /* timed, after the verified one; 0: none */
    double seconds; /* found: of one operation */
    double busbw;   /* found: GB/s, as nccl-tests defines it */
    float *host;    /* team->buffer bytes */
};

/* For bounded_run. How it ended stands in the team's ending. */
void collective_execute(void *collective_run);

#endif

/* What NCCL itself says: its log at level INFO, kept in memory, read for what NCCL chose, and handed on as evidence. */
#ifndef DTKB_CUDA_PROBE_TRANSCRIPT_H
#define DTKB_CUDA_PROBE_TRANSCRIPT_H

#include "common/kit.h"

struct transcript {
    int fd; /* -1: NCCL's log could not be caught and goes to stdout */
};

/* Before NCCL is loaded: it reads these variables once. */
void transcript_start(struct transcript *transcript);

/* What NCCL chose, out of its log. Lists are joined by commas; "" when the log does not tell. */
struct nccl_choices {
    char transports[128];   /* kinds between ranks, the slowest first: NET/Socket, NET/IB, COLLNET, NVLS, SHM, P2P */
    char network[64];       /* Socket, IB, or a plugin's name */
    char interface[64];     /* of its sockets */
    char address[64];       /* and its address */
    char devices[256];      /* RDMA devices */
    char last_warning[400]; /* text of its last WARN line */
};
void transcript_read(const char *text, struct nccl_choices *out);

/* Gives the whole log to the host as evidence and returns it; NULL when there is none. */
const char *transcript_finish(const struct kit *kit, struct transcript *transcript, size_t *length);

#endif

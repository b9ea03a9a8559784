/* A communicator of the fake NCCL: one rank, with a worker that does its operations in order. */
#ifndef DTKB_TESTS_FAKE_NCCL_COMM_H
#define DTKB_TESTS_FAKE_NCCL_COMM_H

#include <cuda.h>
#include <pthread.h>

#include "fake_nccl.h"

enum kind { ALL_REDUCE = 1, BROADCAST, ALL_GATHER, REDUCE_SCATTER, SEND, RECV };

struct operation {
    struct operation *next;
    enum kind kind;
    const void *send;
    void *receive;
    size_t count;
    int peer; /* or root */
    bool is_float;
    CUstream stream;
};

struct ncclComm {
    ncclUniqueId id;
    struct world *world;
    int rank, ranks, device;
    bool blocking, started;
    pthread_t worker;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct operation *queue; /* guarded by lock, as is closing */
    bool closing;
    int count;        /* collectives so far */
    atomic_int state; /* ncclResult_t, as ncclCommGetAsyncError tells it */
    atomic_bool aborted;
    struct ncclComm *next; /* in a group that ends */
};

/* fake_nccl_rank.c: the worker's life; a struct ncclComm in, NULL out. */
void *rank_live(void *comm);

/* fake_nccl_move.c: data between the ranks. False when the communicator was aborted meanwhile. */
bool move_collective(struct ncclComm *comm, const struct operation *operation);
bool move_to_peer(struct ncclComm *comm, const struct operation *operation);

/* fake_nccl_faults.c: what FAKE_* variables switch on. */
bool fault_has_setting(const char *wanted); /* NAME=VALUE is in the environment */
/* The faults that show when data is to move: true when this operation is lost. */
bool fault_disturbs(struct ncclComm *comm);
/* Puts a wrong element into a result. */
void fault_spoils(const struct ncclComm *comm, const struct operation *operation);

ncclResult_t comm_fail(struct ncclComm *comm, ncclResult_t result);
void comm_await_abort(struct ncclComm *comm);

#endif

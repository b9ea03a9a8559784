/* libnccl.so.2 on the fake driver: communicators that need all their ranks, group semantics, asynchronous work on streams, asynchronous
 * errors and abort. Ranks may be threads or processes. README.md lists the faults. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "fake_nccl_comm.h"

#define SYMBOL __attribute__((visibility("default")))

/* The header declares these two without parameters. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

/* What a thread has put together between ncclGroupStart and ncclGroupEnd. */
static __thread struct group {
    int depth;
    struct ncclComm *starting;
    struct {
        struct ncclComm *comm;
        struct operation *operation;
        bool receives; /* the worker may have freed the operation by then */
    } items[256];
    size_t count;
} group;

/* ---- groups ---- */

static ncclResult_t start(struct ncclComm *comm)
{
    comm->started = pthread_create(&comm->worker, NULL, rank_live, comm) == 0;
    return comm->started ? ncclSuccess : ncclSystemError;
}

static ncclResult_t await_start(struct ncclComm *comm)
{
    int state;
    while ((state = atomic_load(&comm->state)) == ncclInProgress)
        (void)usleep(50);
    return (ncclResult_t)state;
}

static void enqueue(struct ncclComm *comm, struct operation *operation)
{
    fake_cuda_stream_begin(operation->stream);
    int success = ncclSuccess;
    if (!comm->blocking) /* until the worker takes it */
        (void)atomic_compare_exchange_strong(&comm->state, &success, ncclInProgress);
    (void)pthread_mutex_lock(&comm->lock);
    struct operation **at = &comm->queue;
    while (*at)
        at = &(*at)->next;
    *at = operation;
    (void)pthread_cond_signal(&comm->changed);
    (void)pthread_mutex_unlock(&comm->lock);
}

/* Communicators start together, then operations run: sends before receives, since all of a group progress at once. */
static ncclResult_t finish_group(void)
{
    ncclResult_t result = ncclSuccess;
    for (struct ncclComm *comm = group.starting; comm; comm = comm->next)
        if (start(comm) != ncclSuccess)
            result = ncclSystemError;
    for (struct ncclComm *comm = group.starting, *next; comm; comm = next) {
        next = comm->next;
        ncclResult_t one = comm->blocking ? await_start(comm) : ncclInProgress;
        result = result == ncclSuccess || result == ncclInProgress ? one != ncclSuccess ? one : result : result;
    }
    group.starting = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < group.count; i++)
            if (group.items[i].receives == (pass == 1)) {
                enqueue(group.items[i].comm, group.items[i].operation);
                if (!group.items[i].comm->blocking && result == ncclSuccess)
                    result = ncclInProgress;
            }
    group.count = 0;
    return result;
}

SYMBOL ncclResult_t ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

SYMBOL ncclResult_t ncclGroupEnd(void)
{
    if (!group.depth)
        return ncclInvalidUsage;
    return --group.depth ? ncclSuccess : finish_group();
}

/* ---- communicators ---- */

SYMBOL ncclResult_t ncclGetVersion(int *version)
{
    *version = fake_version();
    return ncclSuccess;
}

SYMBOL const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclSuccess ? "no error" : "fake error";
}

SYMBOL ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    char name[64], address[64];
    if (!fake_interface(name, address, sizeof name)) {
        fake_warn(0, "Bootstrap : no socket interface found");
        return ncclInternalError;
    }
    memset(id, 0, sizeof *id);
    if (getrandom(id->internal, sizeof(uint64_t), 0) < 0)
        return ncclSystemError;
    return world_create(id) ? ncclSuccess : ncclSystemError;
}

static ncclResult_t create(ncclComm_t *out, int ranks, ncclUniqueId id, int rank, bool blocking)
{
    int device = fake_cuda_current_device();
    if (ranks < 1 || ranks > RANKS_MAX || rank < 0 || rank >= ranks || !out)
        return ncclInvalidArgument;
    if (device < 0)
        return ncclUnhandledCudaError;
    struct ncclComm *comm = calloc(1, sizeof *comm);
    if (!comm)
        return ncclSystemError;
    comm->id = id;
    comm->rank = rank;
    comm->ranks = ranks;
    comm->device = device;
    comm->blocking = blocking;
    (void)pthread_mutex_init(&comm->lock, NULL);
    (void)pthread_cond_init(&comm->changed, NULL);
    atomic_store(&comm->state, ncclInProgress);
    comm->next = group.starting;
    group.starting = comm;
    *out = comm;
    return group.depth ? ncclSuccess : finish_group();
}

SYMBOL ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    return create(comm, ranks, id, rank, true);
}

static ncclResult_t release(struct ncclComm *comm)
{
    (void)pthread_mutex_lock(&comm->lock);
    comm->closing = true;
    (void)pthread_cond_signal(&comm->changed);
    (void)pthread_mutex_unlock(&comm->lock);
    if (comm->started)
        (void)pthread_join(comm->worker, NULL);
    world_close(comm->world);
    (void)pthread_mutex_destroy(&comm->lock);
    (void)pthread_cond_destroy(&comm->changed);
    free(comm);
    return ncclSuccess;
}

SYMBOL ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return release(comm);
}

SYMBOL ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    if (fake_number("FAKE_NCCL_ABORT_HANGS", 0))
        for (;;)
            (void)pause();
    atomic_store(&comm->aborted, true);
    world_unlink(&comm->id);
    return release(comm);
}

SYMBOL ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state)
{
    *state = (ncclResult_t)atomic_load(&comm->state);
    return ncclSuccess;
}

#ifndef FAKE_NCCL_OLD
SYMBOL ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    const struct {
        size_t size;
        unsigned magic, version;
        int blocking;
    } *given = (const void *)config;
    if (given && (given->magic != 0xcafebeef || given->size < 24))
        return ncclInvalidArgument;
    return create(comm, ranks, id, rank, !given || given->blocking != 0);
}

SYMBOL ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    return comm ? ncclSuccess : ncclInvalidArgument;
}

SYMBOL const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return fake_last_warning();
}
#endif

/* ---- operations ---- */

static ncclResult_t submit(struct ncclComm *comm, struct operation prototype, ncclDataType_t type)
{
    int state = comm ? atomic_load(&comm->state) : ncclInvalidArgument;
    if (!comm || (type != ncclFloat32 && type != ncclInt32) || group.count == sizeof group.items / sizeof *group.items)
        return ncclInvalidArgument;
    size_t bytes = prototype.count * sizeof(float) * (prototype.kind == REDUCE_SCATTER ? (size_t)comm->ranks : 1);
    if (bytes > SLOT_BYTES || prototype.peer < 0 || prototype.peer >= comm->ranks)
        return ncclInvalidArgument;
    if (state != ncclSuccess) /* still starting, or broken */
        return state == ncclInProgress ? ncclInvalidUsage : (ncclResult_t)state;
    struct operation *operation = malloc(sizeof *operation);
    if (!operation)
        return ncclSystemError;
    *operation = prototype;
    operation->is_float = type == ncclFloat32;
    group.items[group.count].comm = comm;
    group.items[group.count].receives = prototype.kind == RECV;
    group.items[group.count++].operation = operation;
    return group.depth ? ncclSuccess : finish_group();
}

SYMBOL ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                  cudaStream_t stream)
{
    if (op != ncclSum)
        return ncclInvalidArgument;
    return submit(comm, (struct operation){.kind = ALL_REDUCE, .send = send, .receive = receive, .count = count, .stream = stream}, type);
}

SYMBOL ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream)
{
    if (op != ncclSum)
        return ncclInvalidArgument;
    return submit(comm, (struct operation){.kind = REDUCE_SCATTER, .send = send, .receive = receive, .count = count, .stream = stream},
                  type);
}

SYMBOL ncclResult_t ncclAllGather(const void *send, void *receive, size_t count, ncclDataType_t type, ncclComm_t comm, cudaStream_t stream)
{
    return submit(comm, (struct operation){.kind = ALL_GATHER, .send = send, .receive = receive, .count = count, .stream = stream}, type);
}

SYMBOL ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                                  cudaStream_t stream)
{
    return submit(comm,
                  (struct operation){.kind = BROADCAST, .send = send, .receive = receive, .count = count, .peer = root, .stream = stream},
                  type);
}

#ifndef FAKE_NCCL_NO_SEND
SYMBOL ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    return submit(comm, (struct operation){.kind = SEND, .send = send, .count = count, .peer = peer, .stream = stream}, type);
}
#endif

SYMBOL ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    return submit(comm, (struct operation){.kind = RECV, .receive = receive, .count = count, .peer = peer, .stream = stream}, type);
}

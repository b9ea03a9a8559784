/* libnccl.so.2 on the fake driver: communicators that need all their ranks, group semantics, asynchronous work on streams, asynchronous
 * errors and abort. Ranks may be threads or processes. README.md lists the faults. */
#include "fake_nccl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fake_cuda.h"

#define SYMBOL __attribute__((visibility("default")))

/* The header declares these two without parameters. */
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);

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

/* ---- the worker: one a communicator, does its operations in order ---- */

static size_t element_size(void)
{
    return 4;
}

static void wait_for_abort(struct ncclComm *comm)
{
    while (!atomic_load(&comm->aborted))
        (void)usleep(200);
}

static bool member(const struct ncclComm *comm, int device)
{
    for (int r = 0; r < comm->ranks; r++)
        if (atomic_load(&comm->world->ranks[r].device) == device)
            return true;
    return false;
}

static bool has_setting(const char *wanted)
{
    char name[64];
    size_t length = strcspn(wanted, "=");
    (void)snprintf(name, sizeof name, "%.*s", (int)length, wanted);
    const char *value = getenv(name);
    return value && !strcmp(value, wanted + length + (wanted[length] == '='));
}

static ncclResult_t fail(struct ncclComm *comm, ncclResult_t result)
{
    atomic_store(&comm->state, (int)result);
    return result;
}

/* Compares what every rank says of itself, as bootstrap does it. */
static ncclResult_t check_ranks(struct ncclComm *comm)
{
    for (int a = 0; a < comm->ranks; a++)
        for (int b = a + 1; b < comm->ranks; b++) {
            int va = atomic_load(&comm->world->ranks[a].version), vb = atomic_load(&comm->world->ranks[b].version);
            if (va != vb) {
                fake_warn(comm->device, "Mismatched NCCL version detected : rank %d version %d rank %d version %d", a, va, b, vb);
                return ncclInvalidUsage;
            }
            if (atomic_load(&comm->world->ranks[a].device) == atomic_load(&comm->world->ranks[b].device)) {
                fake_warn(comm->device, "Duplicate GPU detected : rank %d and rank %d both on CUDA device %x", a, b,
                          (atomic_load(&comm->world->ranks[a].device) + 1) << 12);
                return ncclInvalidUsage;
            }
        }
    return ncclSuccess;
}

static ncclResult_t check_network(struct ncclComm *comm)
{
    char name[64], address[64];
    if (!fake_interface(name, address, sizeof name)) {
        fake_warn(comm->device, "Bootstrap : no socket interface found");
        return ncclInternalError;
    }
    fake_info(comm->device, "Bootstrap : Using %s:%s<0>", name, address);
    fake_info(comm->device, "NET/Socket : Using [0]%s:%s<0>", name, address);
    fake_info(comm->device, "Using network Socket");
    const char *reachable = getenv("FAKE_NCCL_REACHABLE");
    if (reachable && comm->ranks > 1 && strcmp(reachable, name) != 0) {
        fake_warn(comm->device, "socketStartConnect: Connect to %s<45678> failed : No route to host", address);
        return ncclSystemError;
    }
    return ncclSuccess;
}

static const char *transport(void)
{
    return has_setting("NCCL_P2P_DISABLE=1") ? has_setting("NCCL_SHM_DISABLE=1") ? "NET/Socket/0" : "SHM/direct/direct"
                                             : "P2P/direct pointer";
}

/* Meets the other ranks. */
static ncclResult_t join(struct ncclComm *comm)
{
    fake_info(comm->device, "NCCL version %d.%d.%d+cuda12.4", fake_version() / 10000, fake_version() / 100 % 100, fake_version() % 100);
    ncclResult_t result = check_network(comm);
    if (result != ncclSuccess)
        return fail(comm, result);
    if (fake_listed("FAKE_NCCL_HANG_INIT", comm->rank)) {
        wait_for_abort(comm);
        return fail(comm, ncclInternalError);
    }
    comm->world = world_open(&comm->id);
    if (!comm->world)
        return fail(comm, ncclSystemError);
    atomic_store(&comm->world->ranks[comm->rank].version, fake_version());
    atomic_store(&comm->world->ranks[comm->rank].device, comm->device);
    (void)atomic_fetch_add(&comm->world->arrived, 1);
    if (!world_await(&comm->world->arrived, comm->ranks, &comm->aborted))
        return fail(comm, ncclInternalError);
    if (comm->rank == 0)
        world_unlink(&comm->id);
    result = check_ranks(comm);
    if (result != ncclSuccess)
        return fail(comm, result);
    int next = (comm->rank + 1) % comm->ranks;
    fake_info(comm->device, "Channel 00/0 : %d[%d] -> %d[%d] via %s", comm->rank, comm->device, next,
              atomic_load(&comm->world->ranks[next].device), transport());
    fake_info(comm->device, "ncclCommInitRank comm %p rank %d nranks %d cudaDev %d - Init COMPLETE", (void *)comm, comm->rank, comm->ranks,
              comm->device);
    return fail(comm, ncclSuccess);
}

/* The faults that show when data is to move. */
static bool disturbed(struct ncclComm *comm)
{
    int a, b;
    const char *pair = getenv("FAKE_GPU_BAD_PAIR"), *needs = getenv("FAKE_NCCL_NEEDS");
    bool broken_pair =
        pair && sscanf(pair, "%d,%d", &a, &b) == 2 && member(comm, a) && member(comm, b) && !has_setting("NCCL_P2P_DISABLE=1");
    if (comm->count == fake_number("FAKE_NCCL_HANG_OP", 0) || (broken_pair && fake_number("FAKE_NCCL_BAD_PAIR_HANGS", 0))) {
        wait_for_abort(comm);
        return true;
    }
    if (broken_pair || (fake_number("FAKE_NCCL_BAD_GPU", -1) >= 0 && member(comm, (int)fake_number("FAKE_NCCL_BAD_GPU", -1)))) {
        fake_warn(comm->device, "Cuda failure 'uncorrectable NVLink error detected during the execution'");
        (void)fail(comm, ncclUnhandledCudaError);
        return true;
    }
    if (needs && comm->ranks > 1 && !has_setting(needs)) {
        fake_warn(comm->device, "transport/p2p.cc:272 could not set up the channel to the peer");
        (void)fail(comm, ncclSystemError);
        return true;
    }
    return false;
}

static void add(void *to, const void *from, size_t count, bool is_float)
{
    for (size_t i = 0; i < count; i++)
        if (is_float)
            ((float *)to)[i] += ((const float *)from)[i];
        else
            ((uint32_t *)to)[i] += ((const uint32_t *)from)[i];
}

static void spoil(const struct ncclComm *comm, const struct operation *operation)
{
    const char *wrong = getenv("FAKE_NCCL_WRONG");
    int rank;
    size_t element;
    if (wrong && operation->kind == ALL_REDUCE && sscanf(wrong, "%d:%zu", &rank, &element) == 2 && rank == comm->rank &&
        element < operation->count)
        ((float *)operation->receive)[element] += 1.0f;
}

/* All slots are filled: what each rank receives. */
static void combine(struct ncclComm *comm, const struct operation *operation)
{
    const size_t bytes = operation->count * element_size();
    switch (operation->kind) {
    case BROADCAST:
        memcpy(operation->receive, world_slot(comm->world, operation->peer), bytes);
        break;
    case ALL_GATHER:
        for (int r = 0; r < comm->ranks; r++)
            memcpy((char *)operation->receive + (size_t)r * bytes, world_slot(comm->world, r), bytes);
        break;
    default: {
        size_t offset = operation->kind == REDUCE_SCATTER ? (size_t)comm->rank * bytes : 0;
        memcpy(operation->receive, world_slot(comm->world, 0) + offset, bytes);
        for (int r = 1; r < comm->ranks; r++)
            add(operation->receive, world_slot(comm->world, r) + offset, operation->count, operation->is_float);
    }
    }
    spoil(comm, operation);
}

static bool collective(struct ncclComm *comm, const struct operation *operation)
{
    size_t bytes = operation->count * element_size() * (operation->kind == REDUCE_SCATTER ? (size_t)comm->ranks : 1);
    memcpy(world_slot(comm->world, comm->rank), operation->send, bytes);
    atomic_store(&comm->world->ranks[comm->rank].operation, (unsigned)operation->kind);
    if (!world_barrier(comm->world, comm->rank, comm->ranks, &comm->aborted))
        return false;
    for (int r = 0; r < comm->ranks; r++)
        if (atomic_load(&comm->world->ranks[r].operation) != (unsigned)operation->kind) { /* they wait for each other for ever */
            wait_for_abort(comm);
            return false;
        }
    combine(comm, operation);
    return world_barrier(comm->world, comm->rank, comm->ranks, &comm->aborted);
}

static bool point_to_point(struct ncclComm *comm, const struct operation *operation)
{
    const size_t bytes = operation->count * element_size();
    if (operation->kind == SEND) {
        memcpy(world_slot(comm->world, comm->rank), operation->send, bytes);
        atomic_store(&comm->world->ranks[comm->rank].mail, operation->peer + 1);
        return true;
    }
    atomic_int *mail = &comm->world->ranks[operation->peer].mail;
    if (!world_await(mail, comm->rank + 1, &comm->aborted))
        return false;
    memcpy(operation->receive, world_slot(comm->world, operation->peer), bytes);
    atomic_store(mail, 0);
    return true;
}

static void journal(const struct ncclComm *comm, const struct operation *operation)
{
    const char *path = getenv("FAKE_NCCL_JOURNAL");
    FILE *file = path && comm->rank == 0 ? fopen(path, "a") : NULL;
    if (!file)
        return;
    (void)fprintf(file, "%d over %d ranks\n", (int)operation->kind, comm->ranks);
    (void)fclose(file);
}

static void perform(struct ncclComm *comm, const struct operation *operation)
{
    comm->count += operation->kind != RECV;
    journal(comm, operation);
    bool waits = operation->kind != RECV && !world_await(&comm->world->ranks[comm->rank].mail, 0, &comm->aborted);
    if (!waits && !disturbed(comm))
        (void)(operation->kind >= SEND ? point_to_point(comm, operation) : collective(comm, operation));
}

static struct operation *next_operation(struct ncclComm *comm)
{
    (void)pthread_mutex_lock(&comm->lock);
    while (!comm->queue && !comm->closing)
        (void)pthread_cond_wait(&comm->changed, &comm->lock);
    struct operation *operation = comm->queue;
    if (operation)
        comm->queue = operation->next;
    (void)pthread_mutex_unlock(&comm->lock);
    return operation;
}

static bool failed(struct ncclComm *comm)
{
    int state = atomic_load(&comm->state);
    return state != ncclSuccess && state != ncclInProgress;
}

static void *work(void *argument)
{
    struct ncclComm *comm = argument;
    bool alive = join(comm) == ncclSuccess;
    struct operation *operation;
    while ((operation = next_operation(comm)) != NULL) {
        int in_progress = ncclInProgress;
        (void)atomic_compare_exchange_strong(&comm->state, &in_progress, ncclSuccess);
        if (alive && !failed(comm) && !atomic_load(&comm->aborted))
            perform(comm, operation);
        if (failed(comm)) /* the stream stays busy until the communicator is aborted */
            wait_for_abort(comm);
        fake_cuda_stream_end(operation->stream);
        free(operation);
    }
    return NULL;
}

/* ---- groups ---- */

static ncclResult_t start(struct ncclComm *comm)
{
    comm->started = pthread_create(&comm->worker, NULL, work, comm) == 0;
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
    size_t bytes = prototype.count * element_size() * (prototype.kind == REDUCE_SCATTER ? (size_t)comm->ranks : 1);
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

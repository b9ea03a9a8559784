/* The worker of a communicator: meets the other ranks, then does its operations in order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cuda.h"
#include "fake_nccl_comm.h"

void comm_await_abort(struct ncclComm *comm)
{
    while (!atomic_load(&comm->aborted))
        (void)usleep(200);
}

ncclResult_t comm_fail(struct ncclComm *comm, ncclResult_t result)
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
    return fault_has_setting("NCCL_P2P_DISABLE=1") ? fault_has_setting("NCCL_SHM_DISABLE=1") ? "NET/Socket/0" : "SHM/direct/direct"
                                                   : "P2P/direct pointer";
}

/* Meets the other ranks. */
static ncclResult_t join(struct ncclComm *comm)
{
    fake_info(comm->device, "NCCL version %d.%d.%d+cuda12.4", fake_version() / 10000, fake_version() / 100 % 100, fake_version() % 100);
    ncclResult_t result = check_network(comm);
    if (result != ncclSuccess)
        return comm_fail(comm, result);
    if (fake_listed("FAKE_NCCL_HANG_INIT", comm->rank)) {
        comm_await_abort(comm);
        return comm_fail(comm, ncclInternalError);
    }
    comm->world = world_open(&comm->id);
    if (!comm->world)
        return comm_fail(comm, ncclSystemError);
    atomic_store(&comm->world->ranks[comm->rank].version, fake_version());
    atomic_store(&comm->world->ranks[comm->rank].device, comm->device);
    (void)atomic_fetch_add(&comm->world->arrived, 1);
    if (!world_await(&comm->world->arrived, comm->ranks, &comm->aborted))
        return comm_fail(comm, ncclInternalError);
    if (comm->rank == 0)
        world_unlink(&comm->id);
    result = check_ranks(comm);
    if (result != ncclSuccess)
        return comm_fail(comm, result);
    int next = (comm->rank + 1) % comm->ranks;
    fake_info(comm->device, "Channel 00/0 : %d[%d] -> %d[%d] via %s", comm->rank, comm->device, next,
              atomic_load(&comm->world->ranks[next].device), transport());
    fake_info(comm->device, "ncclCommInitRank comm %p rank %d nranks %d cudaDev %d - Init COMPLETE", (void *)comm, comm->rank, comm->ranks,
              comm->device);
    return comm_fail(comm, ncclSuccess);
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
    if (!waits && !fault_disturbs(comm))
        (void)(operation->kind >= SEND ? move_to_peer(comm, operation) : move_collective(comm, operation));
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

void *rank_live(void *argument)
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
            comm_await_abort(comm);
        fake_cuda_stream_end(operation->stream);
        free(operation);
    }
    return NULL;
}

#include "fake_nccl_comm.h"

#include <string.h>

#define ELEMENT 4u /* bytes: 32-bit floats and integers only */

static void add(void *to, const void *from, size_t count, bool is_float)
{
    for (size_t i = 0; i < count; i++)
        if (is_float)
            ((float *)to)[i] += ((const float *)from)[i];
        else
            ((uint32_t *)to)[i] += ((const uint32_t *)from)[i];
}

/* All slots are filled: what each rank receives. */
static void combine(struct ncclComm *comm, const struct operation *operation)
{
    const size_t bytes = operation->count * ELEMENT;
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
    fault_spoils(comm, operation);
}

bool move_collective(struct ncclComm *comm, const struct operation *operation)
{
    size_t bytes = operation->count * ELEMENT * (operation->kind == REDUCE_SCATTER ? (size_t)comm->ranks : 1);
    memcpy(world_slot(comm->world, comm->rank), operation->send, bytes);
    atomic_store(&comm->world->ranks[comm->rank].operation, (unsigned)operation->kind);
    if (!world_barrier(comm->world, comm->rank, comm->ranks, &comm->aborted))
        return false;
    for (int r = 0; r < comm->ranks; r++)
        if (atomic_load(&comm->world->ranks[r].operation) != (unsigned)operation->kind) { /* they wait for each other for ever */
            comm_await_abort(comm);
            return false;
        }
    combine(comm, operation);
    return world_barrier(comm->world, comm->rank, comm->ranks, &comm->aborted);
}

bool move_to_peer(struct ncclComm *comm, const struct operation *operation)
{
    const size_t bytes = operation->count * ELEMENT;
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

#include "fake_nccl_comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

bool fault_has_setting(const char *wanted)
{
    char name[64];
    size_t length = strcspn(wanted, "=");
    (void)snprintf(name, sizeof name, "%.*s", (int)length, wanted);
    const char *value = getenv(name);
    return value && !strcmp(value, wanted + length + (wanted[length] == '='));
}

static bool member(const struct ncclComm *comm, int device)
{
    for (int r = 0; r < comm->ranks; r++)
        if (atomic_load(&comm->world->ranks[r].device) == device)
            return true;
    return false;
}

bool fault_disturbs(struct ncclComm *comm)
{
    int a, b;
    const char *pair = getenv("FAKE_GPU_BAD_PAIR"), *needs = getenv("FAKE_NCCL_NEEDS");
    bool broken_pair =
        pair && sscanf(pair, "%d,%d", &a, &b) == 2 && member(comm, a) && member(comm, b) && !fault_has_setting("NCCL_P2P_DISABLE=1");
    if (comm->count == fake_number("FAKE_NCCL_HANG_OP", 0) || (broken_pair && fake_number("FAKE_NCCL_BAD_PAIR_HANGS", 0))) {
        comm_await_abort(comm);
        return true;
    }
    if (broken_pair || (fake_number("FAKE_NCCL_BAD_GPU", -1) >= 0 && member(comm, (int)fake_number("FAKE_NCCL_BAD_GPU", -1)))) {
        fake_warn(comm->device, "Cuda failure 'uncorrectable NVLink error detected during the execution'");
        (void)comm_fail(comm, ncclUnhandledCudaError);
        return true;
    }
    if (needs && comm->ranks > 1 && !fault_has_setting(needs)) {
        fake_warn(comm->device, "transport/p2p.cc:272 could not set up the channel to the peer");
        (void)comm_fail(comm, ncclSystemError);
        return true;
    }
    return false;
}

void fault_spoils(const struct ncclComm *comm, const struct operation *operation)
{
    const char *wrong = getenv("FAKE_NCCL_WRONG");
    int rank;
    size_t element;
    if (wrong && operation->kind == ALL_REDUCE && sscanf(wrong, "%d:%zu", &rank, &element) == 2 && rank == comm->rank &&
        element < operation->count)
        ((float *)operation->receive)[element] += 1.0f;
}

/* The parts of the fake NCCL: the world in which ranks meet, and the log. */
#ifndef DTKB_TESTS_FAKE_NCCL_H
#define DTKB_TESTS_FAKE_NCCL_H

#include <nccl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKS_MAX 64
#define SLOT_BYTES ((size_t)8 << 20)

/* Shared by all ranks of a communicator, threads and processes alike: a file that is mapped by each. */
struct world {
    atomic_int arrived;
    struct {
        atomic_int version, device;
        atomic_ulong phase;    /* barriers it has come to */
        atomic_int mail;       /* 1 + the rank its slot is sent to; 0: the slot is free */
        atomic_uint operation; /* what it does now; all must do the same */
    } ranks[RANKS_MAX];
};

bool world_create(const ncclUniqueId *id);
struct world *world_open(const ncclUniqueId *id);
void world_close(struct world *world);
void world_unlink(const ncclUniqueId *id);
unsigned char *world_slot(struct world *world, int rank);

/* Waits until *number reaches `wanted`; false when *aborted was set before. */
bool world_await(const atomic_int *number, int wanted, const atomic_bool *aborted);
bool world_barrier(struct world *world, int rank, int ranks, const atomic_bool *aborted);

int fake_version(void);
/* A line of NCCL's log, in its format, to NCCL_DEBUG_FILE or stdout. */
__attribute__((format(printf, 2, 3))) void fake_info(int device, const char *format, ...);
/* Likewise, and kept for ncclGetLastError. */
__attribute__((format(printf, 2, 3))) void fake_warn(int device, const char *format, ...);
const char *fake_last_warning(void);

/* The interface NCCL would take by NCCL_SOCKET_IFNAME out of FAKE_NCCL_IFACES (name:address, joined by commas). */
bool fake_interface(char *name, char *address, size_t size);

#endif

#include "fake_nccl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORLD_BYTES (((sizeof(struct world) + 4095) & ~(size_t)4095) + RANKS_MAX * SLOT_BYTES) /* a file with holes */

static void path_of(const ncclUniqueId *id, char *out, size_t size)
{
    uint64_t key;
    memcpy(&key, id->internal, sizeof key);
    const char *folder = getenv("TMPDIR");
    (void)snprintf(out, size, "%s/dtkb-fake-nccl-%016llx", folder && *folder ? folder : "/tmp", (unsigned long long)key);
}

bool world_create(const ncclUniqueId *id)
{
    char path[4096];
    path_of(id, path, sizeof path);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && ftruncate(fd, (off_t)WORLD_BYTES) == 0;
    if (fd >= 0)
        (void)close(fd);
    return good;
}

struct world *world_open(const ncclUniqueId *id)
{
    char path[4096];
    path_of(id, path, sizeof path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *world = fd >= 0 ? mmap(NULL, WORLD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        (void)close(fd);
    return world == MAP_FAILED ? NULL : world;
}

void world_close(struct world *world)
{
    if (world)
        (void)munmap(world, WORLD_BYTES);
}

void world_unlink(const ncclUniqueId *id)
{
    char path[4096];
    path_of(id, path, sizeof path);
    (void)unlink(path);
}

unsigned char *world_slot(struct world *world, int rank)
{
    return (unsigned char *)world + WORLD_BYTES - (size_t)(RANKS_MAX - rank) * SLOT_BYTES;
}

bool world_await(const atomic_int *number, int wanted, const atomic_bool *aborted)
{
    while (atomic_load(number) != wanted) {
        if (atomic_load(aborted))
            return false;
        (void)usleep(20);
    }
    return true;
}

bool world_barrier(struct world *world, int rank, int ranks, const atomic_bool *aborted)
{
    unsigned long phase = atomic_fetch_add(&world->ranks[rank].phase, 1) + 1;
    for (int other = 0; other < ranks; other++)
        while (atomic_load(&world->ranks[other].phase) < phase) {
            if (atomic_load(aborted))
                return false;
            (void)usleep(20);
        }
    return true;
}

/* Bytes as a file that needs no disk, for readers that take a path. */
#ifndef DTKB_FUZZ_MEMORY_FILE_H
#define DTKB_FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Its path goes to `path`. Returns the descriptor to close afterwards, or -1. */
static inline int memory_file(const uint8_t *data, size_t size, char path[static 64])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    (void)snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

#endif

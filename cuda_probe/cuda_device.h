/* One device, from what it says of itself to a kernel whose result is checked. */
#ifndef DTKB_CUDA_PROBE_CUDA_DEVICE_H
#define DTKB_CUDA_PROBE_CUDA_DEVICE_H

#include <stdatomic.h>

#include "cuda_api.h"

#define DEVICE_BYTES_DEFAULT ((uint64_t)32 << 20)

struct device_check {
    /* given */
    const struct cuda_api *api;
    int index;
    uint64_t bytes; /* to allocate and check; 0: DEVICE_BYTES_DEFAULT, or less where little is free */
    uint64_t deadline;
    /* found */
    char name[128], bus_id[32];
    int major, minor, compute_mode;
    uint64_t memory_total, memory_free;
    uint64_t wrong_bytes, first_wrong; /* that came back different, and the offset of the first */
    const char *code;                  /* which kernel ran */
    CUresult result;                   /* the first that was no success */
    _Atomic(const char *) step;        /* at which it stopped, or is */
};

/* For bounded_run. Everything it took from the device is given back, where the device still answers. */
void device_check_run(void *device_check);

const char *compute_mode_name(int mode);

/* Every ordered pair of devices: may a reach b's memory, and does data that it copies there arrive? */
struct peer_check {
    const struct cuda_api *api;
    int count; /* devices, at most PEERS_MAX */
    uint64_t deadline;
    bool *access;  /* count * count */
    char bad[256]; /* pairs whose copy failed: "0>1 CUDA_ERROR_..., 2>5 wrong data" */
    _Atomic int at_a, at_b;
};
#define PEERS_MAX 32
void peer_check_run(void *peer_check);

#endif

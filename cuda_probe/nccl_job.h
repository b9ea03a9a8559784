/* The job that the probe's process is a rank of, by the launcher's variables. */
#ifndef DTKB_CUDA_PROBE_NCCL_JOB_H
#define DTKB_CUDA_PROBE_NCCL_JOB_H

#include "common/kit.h"

struct job {
    const char *launcher; /* whose variables; NULL: there is none */
    int rank, ranks, local_rank;
    char master[256]; /* rank 0's host */
    int port;         /* at which ranks meet */
};

/* False, with a text, when the variables contradict each other or do not say where rank 0 is. */
bool job_find(const struct kit *kit, struct job *out, char *error, size_t size);

/* The first host of a Slurm node list: "gpu[03-07,9],cpu1" -> "gpu03". */
bool job_first_host(const char *list, char *out, size_t size);

#endif

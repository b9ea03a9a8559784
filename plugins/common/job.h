/* Which rank of which job this process is, and where rank 0 may be reached, by what the launchers leave in the environment. */
#ifndef DTKB_PLUGINS_JOB_H
#define DTKB_PLUGINS_JOB_H

#include "common/kit.h"

#define JOB_HEADS_MAX 8

struct job {
    const char *launcher; /* mpirun, mpiexec, srun, horovodrun or torchrun; NULL: started by none of them */
    uint32_t rank, size;
    int32_t local_rank;             /* -1: not told */
    bool one_host;                  /* all ranks run on this machine */
    char id[160];                   /* the same on all ranks of this job only */
    char heads[JOB_HEADS_MAX][256]; /* hosts or addresses at which rank 0 may be, likeliest first */
    size_t head_count;
    char problem[256]; /* what makes no sense, "" for nothing */
};

enum job_kind { JOB_ANY, JOB_MPI /* only launchers that start MPI ranks */ };

/* False when no launcher started this process, or its variables make no sense (job->launcher and job->problem are set then). */
bool job_read(const struct kit *kit, enum job_kind kind, struct job *job);

#endif

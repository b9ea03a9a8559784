/* The ranks that live in this process, each with its device, stream, buffers and communicator: one under a launcher, all otherwise. */
#ifndef DTKB_CUDA_PROBE_TEAM_H
#define DTKB_CUDA_PROBE_TEAM_H

#include <stdatomic.h>

#include "cuda_api.h"
#include "nccl_api.h"

#define TEAM_MEMBERS_MAX 32
#define TEAM_BYTES_MAX ((size_t)4 << 20)

struct member {
    int rank, device;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    CUdeviceptr send, receive;
    ncclComm_t comm;
};

enum outcome { OUTCOME_OK, OUTCOME_NCCL, OUTCOME_CUDA, OUTCOME_LATE, OUTCOME_WRONG, OUTCOME_MISSING };

/* How a step ended. */
struct ending {
    enum outcome outcome;
    ncclResult_t nccl;
    CUresult cuda;
    int rank;       /* at which it was seen */
    char text[512]; /* NCCL's own last error, or the wrong element; "" for none */
};

struct team {
    const struct cuda_api *cuda;
    const struct nccl_api *nccl;
    ncclUniqueId id;
    int ranks; /* of the communicator */
    struct member members[TEAM_MEMBERS_MAX];
    int count;
    size_t buffer;             /* bytes of each of a member's two */
    _Atomic uint64_t deadline; /* of the step that runs */
    struct ending ending;
    _Atomic(const char *) step;
};

/* "ok", "wrong-result", "timed-out", "missing", or the NCCL or CUDA result's name: the value of a status fact. */
const char *ending_status(const struct team *team, const struct ending *ending);
/* The same in words, with what it means. */
const char *ending_text(const struct team *team, const struct ending *ending, char *out, size_t size);

/* Each for bounded_run, with the team as context. team_open fills members' devices up to their communicators; ranks, count, rank, device
 * and id are given. After an ending other than OK only team_abort may follow. */
void team_open(void *team);
void team_close(void *team);
void team_abort(void *team);

/* Ends the step: the first ending counts. */
bool team_nccl(struct team *team, const struct member *member, ncclResult_t result);
bool team_cuda(struct team *team, const struct member *member, CUresult result);

/* After a group of calls: until every communicator has taken them. */
bool team_settle(struct team *team);
/* Until every stream is empty. */
bool team_finish(struct team *team);

#endif

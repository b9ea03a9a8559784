/* NCCL as a table of functions found at run time; 2.10 has all that is required. */
#ifndef DTKB_CUDA_PROBE_NCCL_API_H
#define DTKB_CUDA_PROBE_NCCL_API_H

#include <nccl.h>

#include "library.h"
#include "symbols.h"

#define NCCL_SYMBOLS(X)                      \
    X(ncclGetVersion, "2.4", true)           \
    X(ncclGetUniqueId, "2.0", true)          \
    X(ncclCommInitRank, "2.0", true)         \
    X(ncclCommDestroy, "2.0", true)          \
    X(ncclCommAbort, "2.4", true)            \
    X(ncclCommGetAsyncError, "2.4", true)    \
    X(ncclGroupStart, "2.0", true)           \
    X(ncclGroupEnd, "2.0", true)             \
    X(ncclAllReduce, "2.0", true)            \
    X(ncclBroadcast, "2.2", false)           \
    X(ncclAllGather, "2.0", false)           \
    X(ncclReduceScatter, "2.0", false)       \
    X(ncclSend, "2.7", false)                \
    X(ncclRecv, "2.7", false)                \
    X(ncclGetLastError, "2.13", false)       \
    X(ncclCommInitRankConfig, "2.14", false) \
    X(ncclCommFinalize, "2.14", false)

struct nccl_api {
    NCCL_SYMBOLS(SYMBOL_MEMBER)
    struct library library;
    struct missing_symbols missing;
    int version; /* as ncclGetVersion tells it */
};

/* Opens libnccl and fills the table. False: `error` says why in one line. */
bool nccl_api_open(const struct kit *kit, struct nccl_api *api, char *error, size_t size);
const char *nccl_path(const struct nccl_api *api);

/* 22105 -> "2.21.5", 2804 -> "2.8.4" */
const char *nccl_version_text(int version, char *out, size_t size);

const char *nccl_result_name(ncclResult_t result);
/* What it means on a machine that trains. */
const char *nccl_result_meaning(ncclResult_t result);

#endif

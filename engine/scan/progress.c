#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/words.h"

/* A word at `at`, then within a few separators a digit: "step 12", "Epoch [1][20/10000]", "loss: 1.9" */
static bool word_and_number(const char *at)
{
    static const char *const words[] = {"step", "epoch", "iteration", "iter", "loss", "global_step", "samples/sec", "batch"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (tolower((unsigned char)*at) != words[i][0] || strncasecmp(at, words[i], n) != 0)
            continue;
        if (isdigit((unsigned char)at[n + strspn(at + n, " :=[(#_s")]))
            return true;
    }
    return false;
}

bool is_progress(const char *line)
{
    bool behind_letter = false; /* one pass for all words: every line that is read is looked at */
    for (const char *p = line; *p; p++) {
        if (!behind_letter && word_and_number(p))
            return true;
        behind_letter = isalpha((unsigned char)*p);
    }
    return strstr(line, "it/s") || strstr(line, "s/it");
}

bool is_training(const char *line)
{
    static const char *const words[] = {
        "torch",      "nccl",       "horovod",     "deepspeed",  "tensorflow", "megatron",  "world_size", "world size", "rank",
        "mpirun",     "mpiexec",    "cuda",        "gpu",        "keras",      "epoch",     "c10d",       "gloo",       "open mpi",
        "all_reduce", "allreduce",  "ddp",         "fsdp",       "pytorch",    "mxnet",     "paddle",     "jax",        "checkpoint",
        "slots",      "orte",       "prte",        "rendezvous", "dataloader", "optimizer", "ray::",      "ray.",       "raylet",
        "slurm",      "srun",       "nvrm",        "nvidia",     "mlx5",       "ucx",       "pmix",       "ibv_",       "libfabric",
        "hccl",       "rccl",       "lightning",   "accelerate", "train.py",   "train_",    "trainer",    "training",   "process group",
        "init_proc",  "all_gather", "num_workers", "batch size", "batch_size", "busbw",     "multi-node", "multi node"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *p = strcasestr(line, words[i]);
        if (p && (p == line || !isalpha((unsigned char)p[-1])))
            return true;
    }
    return false;
}

uint32_t world_size_read(const char *line)
{
    static const char *const words[] = {"world_size",    "world size",    "WORLD_SIZE",     "nranks",
                                        "num_processes", "num processes", "nproc_per_node", "nproc-per-node"};
    uint32_t best = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *p = strcasestr(line, words[i]);
        if (!p)
            continue;
        p += strlen(words[i]);
        p += strspn(p, " :='\"(");
        size_t n = strspn(p, "0123456789");
        if (n && n < 7 && !isalpha((unsigned char)p[n])) {
            uint32_t size = (uint32_t)strtoul(p, NULL, 10);
            best = size > best ? size : best;
        }
    }
    return best;
}

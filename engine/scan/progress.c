#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/words.h"

/* The word, then within a few separators a digit: "step 12", "Epoch [1][20/10000]", "loss: 1.9". No letter may precede it. */
static bool word_and_number(const struct line *line, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = line_find(line, word); p; p = strcasestr(p + 1, word)) {
        if (p > line->text && isalpha((unsigned char)p[-1]))
            continue;
        if (isdigit((unsigned char)p[n + strspn(p + n, " :=[(#_s")]))
            return true;
    }
    return false;
}

bool is_progress(const struct line *line)
{
    static const char *const words[] = {"step", "epoch", "iteration", "iter", "loss", "global_step", "samples/sec", "batch"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (word_and_number(line, words[i]))
            return true;
    return line_find_exact(line, "it/s") || line_find_exact(line, "s/it");
}

bool is_training(const struct line *line)
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
        const char *p = line_find(line, words[i]);
        if (p && (p == line->text || !isalpha((unsigned char)p[-1])))
            return true;
    }
    return false;
}

uint32_t world_size_read(const struct line *line)
{
    static const char *const words[] = {"world_size",    "world size",    "WORLD_SIZE",     "nranks",
                                        "num_processes", "num processes", "nproc_per_node", "nproc-per-node"};
    uint32_t best = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *p = line_find(line, words[i]);
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

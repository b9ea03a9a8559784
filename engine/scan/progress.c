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
        if (isdigit((unsigned char)p[n + strspn(p + n, " :=[(#_s'\"")]))
            return true;
    }
    return false;
}

/* A round of XGBoost or LightGBM: "[10]	train-rmse:0.085", "[20]	valid_0's auc: 0.71" (tabs are blanks here). */
static bool is_boosting_round(const struct line *line)
{
    const char *p = line_find_exact(line, "] ");
    if (!p || p == line->text || !isdigit((unsigned char)p[-1]))
        return false;
    const char *name = p + 2, *colon = strchr(name, ':');
    const char *mark = colon ? strpbrk(name, "-'") : NULL; /* data set and metric are joined by it */
    return mark && mark > name && mark < colon && colon - name < 60 && isdigit((unsigned char)colon[1 + strspn(colon + 1, " ")]);
}

bool is_progress(const struct line *line)
{
    static const char *const words[] = {"step", "epoch", "iteration", "iter", "loss", "global_step", "samples/sec", "batch"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (word_and_number(line, words[i]))
            return true;
    return line_find_exact(line, "it/s") || line_find_exact(line, "s/it") || is_boosting_round(line);
}

/* Is one of the words there, at its own beginning? */
static bool any_word(const struct line *line, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (const char *p = line_find(line, words[i]); p; p = strcasestr(p + 1, words[i]))
            if ((p == line->text || !isalpha((unsigned char)p[-1])) && strncasecmp(p, "tput", 4) != 0)
                return true;
    return false;
}

bool is_training(const struct line *line, bool early)
{
    static const char *const own[] = {
        "torch",      "nccl",      "horovod",    "deepspeed",  "tensorflow", "megatron",    "world_size", "world size", "mpi",
        "caffe",      "lightgbm",  "dmlc",       "byteps",     "tpu",        "xla_",        "libmpi",     "openmpi",    "cuda",
        "c10d",       "gloo",      "open mpi",   "all_reduce", "allreduce",  "ddp",         "fsdp",       "pytorch",    "mxnet",
        "rendezvous", "ray::",     "raylet",     "dataloader", "slurm",      "srun",        "nvrm",       "nvidia",     "mlx5",
        "ucx",        "pmix",      "ibv_",       "libfabric",  "hccl",       "rccl",        "train.py",   "all_gather", "num_workers",
        "busbw",      "init_proc", "multi-node", "multi node", "slots=",     "accelerate/", "accelerator"};
    static const char *const shared[] = {"rank",       "gpu",     "keras",    "epoch",      "paddle",     "jax",
                                         "checkpoint", "orte",    "prte",     "optimizer",  "ray.",       "train_",
                                         "lightning",  "trainer", "training", "batch_size", "batch size", "process group"};
    return any_word(line, own, sizeof own / sizeof own[0]) || (early && any_word(line, shared, sizeof shared / sizeof shared[0]));
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

/* Command lines and headings: how many GPUs and nodes a run is asked for, and which program it is. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/collect.h"
#include "scan/observe/commands.h"

/* The number behind an option or a variable: "--nproc_per_node=8", "nnodes 2", "-np 4". */
static unsigned option(const char *text, const char *const *names)
{
    for (size_t i = 0; names[i]; i++) {
        const char *p = *names[i] == ' ' ? strstr(text, names[i]) : strcasestr(text, names[i]); /* -n and -N differ */
        if (!p || (p > text && isalnum((unsigned char)p[-1]) && isalnum((unsigned char)*names[i])))
            continue;
        p += strlen(names[i]);
        p += strspn(p, " ='\":");
        size_t n = strspn(p, "0123456789");
        if (n && n < 6 && p[n] != ',' && p[n] != '.' && !isalpha((unsigned char)p[n]))
            return (unsigned)strtoul(p, NULL, 10);
    }
    return 0;
}

unsigned commands_listed(const char *text, const char *name, bool one_counts)
{
    const char *p = strcasestr(text, name);
    if (!p)
        return 0;
    p += strlen(name);
    p += strspn(p, " ='\"[");
    unsigned members = 0;
    while (isdigit((unsigned char)*p)) {
        members++;
        p += strspn(p, "0123456789");
        if (*p != ',')
            break;
        p += 1 + strspn(p + 1, " ");
    }
    return members > 1 || one_counts ? members : 0;
}

/* "8 GPUs", "single-node", "two machines", "1gpu" */
static unsigned counted(const char *text, const char *const *things)
{
    static const char *const words[] = {"one", "two", "three", "four", "eight", "single"};
    static const unsigned values[] = {1, 2, 3, 4, 8, 1};
    for (size_t i = 0; things[i]; i++) {
        size_t length = strlen(things[i]);
        for (const char *p = text; (p = strcasestr(p, things[i])); p += length) {
            const char *end = p;
            if (end == text || isalpha((unsigned char)p[length + (p[length] == 's')]) ||
                (end - text > 1 && end[-1] == '-' && end[-2] == '-'))
                continue; /* "--batch_size 512 --device_ids" counts no devices */
            while (end > text && (end[-1] == ' ' || end[-1] == '-' || end[-1] == '_' || end[-1] == 'x'))
                end--;
            const char *begin = end;
            while (begin > text && isdigit((unsigned char)begin[-1]))
                begin--;
            if (begin < end && end - begin < 5 && (begin == text || (begin[-1] != '.' && begin[-1] != '/' && begin[-1] != ':')))
                return (unsigned)strtoul(begin, NULL, 10);
            while (begin > text && isalpha((unsigned char)begin[-1]))
                begin--;
            for (size_t w = 0; w < sizeof words / sizeof *words; w++)
                if ((size_t)(end - begin) == strlen(words[w]) && !strncasecmp(begin, words[w], strlen(words[w])))
                    return values[w];
        }
    }
    return 0;
}

/* DeepSpeed's "--include=host1:0,1@host2:0,1" */
static bool included(const char *text, unsigned *gpus, unsigned *nodes)
{
    const char *p = strstr(text, "--include"), *colon = p ? strchr(p, ':') : NULL;
    size_t length = p ? 9 + strspn(p + 9, " =\"'") : 0;
    if (!colon || colon > p + length + strcspn(p + length, " "))
        return false;
    *gpus = commands_listed(colon, ":", true);
    *nodes = 1;
    for (const char *q = colon; *q && *q != ' '; q++)
        *nodes += *q == '@';
    return *gpus > 0;
}

void commands_counts(const char *text, unsigned *gpus, unsigned *nodes)
{
    if (included(text, gpus, nodes))
        return;
    static const char *const gpu_options[] = {
        "nproc_per_node", "nproc-per-node", "--nproc", "gpus_per_node", "gpus-per-node", "num_gpus", "num-gpus", "num_processes",
        "num-processes",  "worker_gpu",     "--gpus",  "--devices",     " -np",          "-nGPU",    " -n",      "trainer.gpus",
        "world size ",    "gres=gpu",       NULL};
    static const char *const node_options[] = {"nnodes", "num_nodes", "num-nodes", "num_machines", "num-machines", "--nodes", " -N", NULL};
    static const char *const gpu_words[] = {"gpu", "device", "card", "process", "rank", "worker", NULL};
    static const char *const node_words[] = {"node", "machine", "server", "host", NULL};
    *gpus = option(text, gpu_options);
    if (!*gpus)
        *gpus = commands_listed(text, "CUDA_VISIBLE_DEVICES", true);
    static const char *const lists[] = {"-gpus", "device_ids", "device-ids", "gpu_ids", "gpu-ids", "--gpu ", "--devices", NULL};
    for (size_t i = 0; lists[i] && !*gpus; i++)
        *gpus = commands_listed(text, lists[i], false);
    if (!*gpus)
        *gpus = counted(text, gpu_words);
    *nodes = option(text, node_options);
    if (!*nodes)
        *nodes = counted(text, node_words);
}

/* "python -m areal.launcher.local": hash of the module's name; 0: none, or one that starts scripts or looks at what is installed */
static uint64_t module_of(const char *text)
{
    static const char *const others[] = {"torch.", "pip",  "horovod", "accelerate", "deepspeed", "paddle.",  "pytest",
                                         "http",   "json", "venv",    "oneflow",    "mpi4py",    "cProfile", "pdb"};
    const char *name = strstr(text, "python -m ");
    name = name ? name : strstr(text, "python3 -m ");
    if (!name)
        return 0;
    name = strstr(name, " -m ") + 4;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncmp(name, others[i], strlen(others[i])))
            return 0;
    return text_key(name, strcspn(name, " ")) | 1;
}

uint64_t commands_program(const char *text)
{
    if (*text != '$' || strstr(text, "python -c") || strstr(text, "py-spy"))
        return 0;
    uint64_t module = module_of(text);
    if (module)
        return module;
    const char *script = strstr(text, ".py"), *test = strstr(text, "_perf ");
    script = script && !isalnum((unsigned char)script[3]) ? script : test; /* nccl-tests: all_reduce_perf */
    script = script ? script : strstr(text, ".sh ");
    if (!script)
        return 0;
    const char *begin = script;
    while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_' || begin[-1] == '-'))
        begin--;
    return text_key(begin, (size_t)(script - begin)) | 1;
}

/* Numbers and words of a line, for the observers. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/text.h"

uint64_t observe_hash(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

bool observe_any(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

bool observe_number(const char **p, double *value)
{
    const char *q = *p + (**p == '-' || **p == '+');
    if (!strncasecmp(q, "nan", 3) && !isalnum((unsigned char)q[3])) {
        *value = NAN;
        *p = q + 3;
        return true;
    }
    if (!strncasecmp(q, "inf", 3) && !isalpha((unsigned char)q[3])) {
        *value = INFINITY;
        *p = q + 3;
        return true;
    }
    if (!isdigit((unsigned char)*q) && !(*q == '.' && isdigit((unsigned char)q[1])))
        return false;
    if (*q == '0' && (q[1] == 'x' || q[1] == 'X'))
        return false; /* an address */
    char *end;
    *value = strtod(*p, &end);
    *p = end;
    return isfinite(*value);
}

const char *observe_behind(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strcasestr(p, word)); p += n) {
        bool begins = p == text || !isalnum((unsigned char)p[-1]) || !isalnum((unsigned char)*word);
        bool ends = !isalpha((unsigned char)p[n]) || !isalpha((unsigned char)word[n - 1]);
        if (begins && ends)
            return p + n;
    }
    return NULL;
}

bool observe_after(const char *text, const char *word, double *value, const char **at)
{
    for (const char *p = text; (p = observe_behind(p, word));) {
        const char *q = p + strspn(p, " \t:='\"([");
        const char *begin = q;
        if (q - p <= 8 && observe_number(&q, value)) {
            if (at)
                *at = begin;
            return true;
        }
    }
    return false;
}

bool observe_value(const struct line *line, const char *word, double *value, const char **at)
{
    return line_find(line, word) && observe_after(line->text, word, value, at);
}

void readings_add(struct readings *readings, double value, const struct place *place)
{
    readings->last = *place;
    if (!readings->stride)
        readings->stride = 1;
    if (++readings->skipped < readings->stride)
        return;
    readings->skipped = 0;
    if (readings->count == READINGS_MAX) {
        for (unsigned i = 0; i < READINGS_MAX / 2; i++)
            readings->values[i] = readings->values[2 * i];
        readings->count = READINGS_MAX / 2;
        readings->stride *= 2;
    }
    readings->values[readings->count++] = value;
}

static int ascending(const void *left, const void *right)
{
    const double *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

double readings_median(const struct readings *readings, unsigned from, unsigned to)
{
    double sorted[READINGS_MAX];
    if (to > readings->count)
        to = readings->count;
    if (from >= to)
        return NAN;
    memcpy(sorted, readings->values + from, (to - from) * sizeof *sorted);
    qsort(sorted, to - from, sizeof *sorted, ascending);
    return sorted[(to - from) / 2];
}

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

/* Members of a list behind a name: "CUDA_VISIBLE_DEVICES=0,1,2,3", "-gpus 0,1". A list of one number is no list behind "-gpus". */
static unsigned listed(const char *text, const char *name, bool one_counts)
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
    *gpus = listed(colon, ":", true);
    *nodes = 1;
    for (const char *q = colon; *q && *q != ' '; q++)
        *nodes += *q == '@';
    return *gpus > 0;
}

void observe_counts(const char *text, unsigned *gpus, unsigned *nodes)
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
        *gpus = listed(text, "CUDA_VISIBLE_DEVICES", true);
    static const char *const lists[] = {"-gpus", "device_ids", "device-ids", "gpu_ids", "gpu-ids", "--gpu ", "--devices", NULL};
    for (size_t i = 0; lists[i] && !*gpus; i++)
        *gpus = listed(text, lists[i], false);
    if (!*gpus)
        *gpus = counted(text, gpu_words);
    *nodes = option(text, node_options);
    if (!*nodes)
        *nodes = counted(text, node_words);
}

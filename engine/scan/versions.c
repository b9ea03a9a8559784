/* Versions that logs give away, as they are printed and through paths. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "scan/words.h"

/* The text, then separators, then a version. Longer texts first where one holds the other. */
static const struct {
    const char *before;
    const char *component;
    unsigned parts; /* least number of dotted parts */
} marks[] = {
    {"NCCL version", "nccl", 2},
    {"RCCL version", "rccl", 2},
    {"nvidia-nccl-cu", "nccl", 2},
    {"PyTorch version", "torch", 2},
    {"torch version", "torch", 2},
    {"torch==", "torch", 2},
    {"[pip3] torch ", "torch", 2},
    {"torch ", "torch", 2},
    {"pytorch ", "torch", 2},
    {"CUDA used to build PyTorch", "cuda", 2},
    {"CUDA runtime version", "cuda", 2},
    {"CUDA version", "cuda", 2},
    {"CUDA ", "cuda", 2},
    {"Driver Version", "driver", 2},
    {"Kernel Module ", "driver", 2},
    {"Python version", "python", 2},
    {"Python ", "python", 2},
    {"Horovod v", "horovod", 2},
    {"Horovod version", "horovod", 2},
    {"horovod==", "horovod", 2},
    {"TensorFlow version", "tensorflow", 2},
    {"TensorFlow ", "tensorflow", 2},
    {"tensorflow==", "tensorflow", 2},
    {"DeepSpeed version", "deepspeed", 2},
    {"DeepSpeed info: version", "deepspeed", 2},
    {"deepspeed==", "deepspeed", 2},
    {"accelerate==", "accelerate", 2},
    {"transformers==", "transformers", 2},
    {"pytorch-lightning==", "lightning", 2},
    {"ray==", "ray", 2},
    {"Open MPI v", "openmpi", 2},
    {"(Open MPI) ", "openmpi", 2},
    {"Open MPI: ", "openmpi", 2},
    {"UCX version", "ucx", 2},
    {"NET/OFI Initializing aws-ofi-nccl ", "aws-ofi-nccl", 2},
    {"/python3.", "python", 1}, /* the dot is part of the mark: see below */
    {"/python2.", "python", 1},
};

static size_t version_length(const char *p, unsigned parts)
{
    size_t n = 0;
    unsigned dots = 0;
    while (isdigit((unsigned char)p[n]) || (p[n] == '.' && n && isdigit((unsigned char)p[n + 1]))) {
        dots += p[n] == '.';
        n++;
    }
    if (!n || n > 40 || dots + 1 < parts)
        return 0;
    while (p[n] &&
           (isalnum((unsigned char)p[n]) || p[n] == '+' || (p[n] == '.' && isalnum((unsigned char)p[n + 1])) ||
            (p[n] == '-' && isdigit((unsigned char)p[n + 1]))) &&
           n < 60)
        n++;
    return n;
}

void versions_read(const struct line *line, version_fn found, void *context)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *before = marks[i].before;
        size_t n = strlen(before);
        const char *p = line_find(line, before);
        if (!p || (p > line->text && isalnum((unsigned char)p[-1]) && isalnum((unsigned char)*before)))
            continue;
        const char *at = p + n;
        if (before[0] == '/') { /* /lib/python3.10/site-packages: the version begins before the dot */
            size_t minor = strspn(at, "0123456789");
            if (minor && minor < 3 && at[minor] == '/')
                found(context, marks[i].component, at - 2, minor + 2);
            continue;
        }
        if (!strcmp(before, "nvidia-nccl-cu"))
            at += strspn(at, "0123456789");
        if (!strncasecmp(at, "(runtime)", 9))
            at += 9;
        at += strspn(at, " :='\"(v");
        size_t length = version_length(at, marks[i].parts);
        if (length)
            found(context, marks[i].component, at, length);
    }
}

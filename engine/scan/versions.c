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
    {"PyTorch version", "torch", 2},
    {"torch version", "torch", 2},
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
    {"TensorFlow version", "tensorflow", 2},
    {"TensorFlow ", "tensorflow", 2},
    {"DeepSpeed version", "deepspeed", 2},
    {"DeepSpeed info: version", "deepspeed", 2},
    {"Open MPI v", "openmpi", 2},
    {"(Open MPI) ", "openmpi", 2},
    {"Open MPI: ", "openmpi", 2},
    {"UCX version", "ucx", 2},
    {"NET/OFI Initializing aws-ofi-nccl ", "aws-ofi-nccl", 2},
    {"/python3.", "python", 1}, /* the dot is part of the mark: see below */
    {"/python2.", "python", 1},
};

/* Packages as pip, conda and the names of their files call them; digits may follow the name (nvidia-nccl-cu12). */
static const struct {
    const char *name, *component;
} packages[] = {
    {"torch", "torch"},
    {"pytorch", "torch"},
    {"nvidia-nccl-cu", "nccl"},
    {"tensorflow", "tensorflow"},
    {"tensorflow-gpu", "tensorflow"},
    {"tensorflow-cpu", "tensorflow"},
    {"keras", "keras"},
    {"horovod", "horovod"},
    {"deepspeed", "deepspeed"},
    {"megatron-core", "megatron"},
    {"accelerate", "accelerate"},
    {"transformers", "transformers"},
    {"lightning", "lightning"},
    {"pytorch-lightning", "lightning"},
    {"ray", "ray"},
    {"jax", "jax"},
    {"jaxlib", "jaxlib"},
    {"flash-attn", "flash-attn"},
    {"vllm", "vllm"},
    {"mpi4py", "mpi4py"},
    {"mxnet", "mxnet"},
    {"mxnet-cu", "mxnet"},
    {"paddlepaddle-gpu", "paddlepaddle"},
    {"xgboost", "xgboost"},
};

/* The component of a package's name; underscores and dashes are one. NULL when unknown. */
static const char *component_of(const char *name, size_t length)
{
    while (length && isdigit((unsigned char)name[length - 1]))
        length--;
    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        const char *known = packages[i].name;
        size_t n = 0;
        while (n < length && known[n] && (tolower((unsigned char)name[n]) == known[n] || (name[n] == '_' && known[n] == '-')))
            n++;
        if (n == length && !known[n])
            return packages[i].component;
    }
    return NULL;
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

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

/* Is the version at `at` one of a package? `name==1.2` and `name-1.2` are anywhere, `name   1.2` begins a line of a list. */
static const char *package_before(const struct line *line, const char *at)
{
    const char *end = at, *start;
    while (end > line->text && end[-1] == ' ')
        end--;
    bool listed = end < at;
    if (!listed && end - line->text >= 2 && end[-1] == '=' && end[-2] == '=')
        end -= 2;
    else if (!listed && end > line->text && end[-1] == '-')
        end--;
    else if (!listed)
        return NULL;
    for (start = end; start > line->text && is_name_byte(start[-1]);)
        start--;
    if (listed && start != line->text + strspn(line->text, " ") && (start - line->text < 2 || start[-2] != ']'))
        return NULL;
    return component_of(start, (size_t)(end - start));
}

static void packages_read(const struct line *line, version_fn found, void *context)
{
    for (const char *p = line->text; (p = strpbrk(p, "0123456789"));) {
        const char *component = p > line->text && strchr("=- ", p[-1]) ? package_before(line, p) : NULL;
        size_t length = component ? version_length(p, 2) : 0;
        if (length)
            found(context, component, p, length);
        p += length ? length : strspn(p, "0123456789.");
    }
}

void versions_read(const struct line *line, version_fn found, void *context)
{
    packages_read(line, found, context);
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
        if (!strncasecmp(at, "(runtime)", 9))
            at += 9;
        at += strspn(at, " :='\"(v");
        size_t length = version_length(at, marks[i].parts);
        if (length)
            found(context, marks[i].component, at, length);
    }
}

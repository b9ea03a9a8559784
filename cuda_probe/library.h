/* Where the job would find a vendor library: every candidate in the order in which it would be taken, and the one that is opened. */
#ifndef DTKB_CUDA_PROBE_LIBRARY_H
#define DTKB_CUDA_PROBE_LIBRARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/kit.h"

#define LIBRARY_CANDIDATES_MAX 24u
#define LIBRARY_VERSION_MAX 48u

struct library_spec {
    const char *pattern;   /* of the file's name, as glob(3): "libnccl.so.2", "libcudart.so*" */
    const char *parameter; /* of the probe: a file or folder that goes before everything else */
    const char *wheel;     /* folder below site-packages, as glob(3): "nvidia/nccl/lib"; NULL for none */
    const char *marker;    /* text in the file that stands before its version; NULL: only its name tells */
    bool toolkit;          /* also below CUDA_HOME and CUDA_PATH */
};

struct library_candidate {
    char path[PATH_MAX];               /* without symbolic links */
    char version[LIBRARY_VERSION_MAX]; /* by its name or contents; "" when neither tells */
    const char *origin;                /* why the job would look there */
    bool broken;                       /* dlopen refuses it */
};

struct library {
    const struct library_spec *spec;
    struct library_candidate *candidates;
    size_t count;
    void *handle;    /* stays open until the process ends; NULL when none could be opened */
    size_t winner;   /* index of the opened candidate */
    char error[512]; /* why none could be opened */
};

/* Finds and opens. Every candidate goes to the log, the winner marked. */
bool library_open(const struct kit *kit, const struct library_spec *spec, struct library *out);

/* The version in a file's name (libnccl.so.2.21.5), or behind `marker` in its read-only data; "" when neither tells. */
void library_file_version(const char *path, const char *marker, char *out, size_t size);

/* Calls found(context, path) for each library of the loader's cache whose name fits the pattern. */
void library_in_loader_cache(const char *cache_file, const char *pattern, void (*found)(void *context, const char *path), void *context);

#endif

/* The python_env probe's parts: which interpreter the job would use, what is installed for it, which NCCL it would load. Nothing is
 * imported or run: directories, metadata and ELF headers are read. */
#ifndef DTKB_PLUGINS_PYTHON_ENV_H
#define DTKB_PLUGINS_PYTHON_ENV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/kit.h"

#define PY_SITES_MAX 24u
#define PY_PACKAGES_MAX 128u
/* Where the dynamic loader looks last. */
#define PY_LIBRARY_FOLDERS                                                                                                     \
    "/usr/local/cuda/lib64:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:" \
    "/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib"

/* A folder of sys.path that may hold packages. */
struct py_site {
    char path[PATH_MAX];
    bool debian; /* dist-packages */
};

struct py_package {
    const char *name;    /* normal form: lower case, '-' */
    const char *version; /* from its metadata */
    const struct py_site *site;
    bool twice; /* another version stands in a later folder, or in the same one */
    const char *other;
};

struct python_env {
    struct kit kit;
    char executable[PATH_MAX];
    char prefix[PATH_MAX];      /* of the environment: PREFIX/lib/python3.N */
    char base_prefix[PATH_MAX]; /* of the interpreter that a venv was made of; otherwise as `prefix` */
    char version[32];           /* "3.11" or "3.11.7" */
    unsigned minor;             /* the 11 */
    bool is_venv, sees_system;
    struct py_site *sites;
    size_t site_count;
    struct py_package *packages;
    size_t package_count;
};

/* ---- interpreter.c ---- */
/* Fills executable to sees_system. False when there is none; kit_unavailable() has said so. */
bool py_interpreter_find(struct python_env *env);
/* ---- sites.c ---- */
void py_sites_find(struct python_env *env);
/* ---- packages.c ---- */
void py_packages_find(struct python_env *env);
void py_packages_emit(struct python_env *env);
const struct py_package *py_package(const struct python_env *env, const char *name);
/* ---- cuda.c: majors of CUDA that the wheels are for ---- */
void py_cuda_emit(struct python_env *env);
/* ---- nccl.c: the libnccl that PyTorch would load ---- */
void py_nccl_emit(struct python_env *env);

/* ---- elf.c ---- */
struct py_elf {
    bool needs_nccl;
    char rpath[2048], runpath[2048]; /* "" where there is none */
};
/* What the dynamic section of a shared object says; false when it is none. */
bool py_elf_read(const char *file, struct py_elf *out);

#endif

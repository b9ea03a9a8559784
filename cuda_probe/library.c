#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
    const struct kit *kit;
    struct library *library;
    const char *origin;
};

static void add_file(struct search *search, const char *path)
{
    struct library *library = search->library;
    char real[PATH_MAX];
    struct stat info;
    if (library->count == LIBRARY_CANDIDATES_MAX || !realpath(path, real) || stat(real, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    for (size_t i = 0; i < library->count; i++)
        if (!strcmp(library->candidates[i].path, real))
            return;
    struct library_candidate *candidate = &library->candidates[library->count++];
    (void)snprintf(candidate->path, sizeof candidate->path, "%s", real);
    candidate->origin = search->origin;
    library_file_version(real, library->spec->marker, candidate->version, sizeof candidate->version);
}

static void add_cached(void *context, const char *path)
{
    add_file(context, path);
}

__attribute__((format(printf, 2, 3))) static void add_matching(struct search *search, const char *format, ...)
{
    char pattern[PATH_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(pattern, sizeof pattern, format, args);
    va_end(args);
    glob_t found;
    if (length < 0 || (size_t)length >= sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_file(search, found.gl_pathv[i]);
    globfree(&found);
}

/* Calls add(folder) for the parts of a list of paths; an empty part of LD_LIBRARY_PATH is the working directory. */
static void each_part(struct search *search, const char *list, const char *separators, void (*add)(struct search *, const char *))
{
    char part[PATH_MAX];
    while (list && *list) {
        size_t length = strcspn(list, separators);
        if (length < sizeof part) {
            memcpy(part, list, length);
            part[length] = '\0';
            add(search, length ? part : ".");
        }
        list += length;
        list += *list != '\0';
    }
}

static void add_folder(struct search *search, const char *folder)
{
    add_matching(search, "%s/%s", folder, search->library->spec->pattern);
}

static void add_preloaded(struct search *search, const char *file)
{
    const char *name = strrchr(file, '/');
    size_t stem = strcspn(search->library->spec->pattern, "*");
    if (name && !strncmp(name + 1, search->library->spec->pattern, stem))
        add_file(search, file);
}

static void add_packages(struct search *search, const char *folder)
{
    if (search->library->spec->wheel)
        add_matching(search, "%s/%s/%s", folder, search->library->spec->wheel, search->library->spec->pattern);
}

static void add_python_prefix(struct search *search, const char *prefix)
{
    if (search->library->spec->wheel)
        add_matching(search, "%s/lib*/python3*/[sd]i[ts][et]-packages/%s/%s", prefix, search->library->spec->wheel,
                     search->library->spec->pattern);
    add_matching(search, "%s/lib/%s", prefix, search->library->spec->pattern);
}

/* PATH's python3: a link into a prefix's bin, or a launcher beside it. */
static void add_python_of_path(struct search *search, const char *folder)
{
    char file[PATH_MAX], real[PATH_MAX];
    if (snprintf(file, sizeof file, "%s/python3", folder) >= (int)sizeof file || access(file, X_OK) != 0 || !realpath(file, real))
        return;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (!slash || slash == real)
            return;
        *slash = '\0';
    }
    if (search->library->spec->wheel)
        add_matching(search, "%s/lib*/python3*/[sd]i[ts][et]-packages/%s/%s", real, search->library->spec->wheel,
                     search->library->spec->pattern);
}

static void add_toolkit(struct search *search, const char *home)
{
    static const char *const folders[] = {"lib64", "lib", "targets/*/lib"};
    for (size_t i = 0; home && *home && i < sizeof folders / sizeof *folders; i++)
        add_matching(search, "%s/%s/%s", home, folders[i], search->library->spec->pattern);
}

static void add_usual(struct search *search)
{
    static const char *const folders[] = {"/usr/lib/*-linux-gnu",  "/usr/lib64",       "/usr/lib",           "/usr/local/nvidia/lib64",
                                          "/usr/local/cuda/lib64", "/usr/lib/wsl/lib", "/opt/nccl/build/lib"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        add_folder(search, folders[i]);
}

static void add_explicit(struct search *search, const char *place)
{
    struct stat info;
    if (stat(place, &info) == 0 && S_ISDIR(info.st_mode))
        add_folder(search, place);
    else
        add_file(search, place);
}

static void find(struct search *search)
{
    const struct kit *kit = search->kit;
    const struct library_spec *spec = search->library->spec;
    const char *place = kit_param(kit, spec->parameter, NULL);
    if (place) { /* nothing else counts then */
        search->origin = "as told";
        add_explicit(search, place);
        return;
    }
    search->origin = "LD_PRELOAD";
    each_part(search, kit_env(kit, "LD_PRELOAD"), ": ", add_preloaded);
    search->origin = "LD_LIBRARY_PATH";
    each_part(search, kit_env(kit, "LD_LIBRARY_PATH"), ":;", add_folder);
    search->origin = "PYTHONPATH";
    each_part(search, kit_env(kit, "PYTHONPATH"), ":", add_packages);
    search->origin = "Python environment";
    const char *environment = kit_env(kit, "VIRTUAL_ENV"), *conda = kit_env(kit, "CONDA_PREFIX");
    if (environment && *environment)
        add_python_prefix(search, environment);
    else if (conda && *conda)
        add_python_prefix(search, conda);
    else
        each_part(search, kit_env(kit, "PATH"), ":", add_python_of_path);
    search->origin = "loader cache";
    library_in_loader_cache("/etc/ld.so.cache", spec->pattern, add_cached, search);
    if (spec->toolkit) {
        search->origin = "CUDA_HOME";
        add_toolkit(search, kit_env(kit, "CUDA_HOME"));
        search->origin = "CUDA_PATH";
        add_toolkit(search, kit_env(kit, "CUDA_PATH"));
    }
    search->origin = "usual place";
    add_usual(search);
}

static void log_candidates(const struct kit *kit, const struct library *library)
{
    for (size_t i = 0; i < library->count; i++) {
        const struct library_candidate *candidate = &library->candidates[i];
        bool wins = library->handle && i == library->winner;
        kit_log(kit, 1, "%s %s (%s%s%s)%s", wins ? "->" : "  ", candidate->path, candidate->version, *candidate->version ? ", " : "",
                candidate->origin, candidate->broken ? " cannot be loaded" : "");
    }
}

static void open_first(struct library *library)
{
    for (size_t i = 0; i < library->count; i++) {
        library->handle = dlopen(library->candidates[i].path, RTLD_NOW | RTLD_LOCAL);
        library->winner = i;
        if (library->handle)
            return;
        const char *why = dlerror();
        library->candidates[i].broken = true;
        if (!*library->error)
            (void)snprintf(library->error, sizeof library->error, "%s", why ? why : "dlopen gives no reason");
    }
}

bool library_open(const struct kit *kit, const struct library_spec *spec, struct library *out)
{
    *out = (struct library){.spec = spec, .candidates = kit_memory(kit, LIBRARY_CANDIDATES_MAX * sizeof *out->candidates)};
    if (!out->candidates) {
        (void)snprintf(out->error, sizeof out->error, "out of memory");
        return false;
    }
    struct search search = {.kit = kit, .library = out};
    find(&search);
    open_first(out);
    if (!out->count) {
        const char *place = kit_param(kit, spec->parameter, NULL);
        (void)snprintf(out->error, sizeof out->error, "no %s %s%s", spec->pattern,
                       place ? "at " : "in LD_LIBRARY_PATH, the Python environment, the loader's cache or the usual places",
                       place ? place : "");
    }
    log_candidates(kit, out);
    return out->handle != NULL;
}

#include "probe/plugin_places.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder this code was loaded from; "" when that cannot be told. */
static void own_folder(char *folder, size_t size)
{
    Dl_info info;
    char *real = NULL;
    const void *here;
    bool (*self)(const char *, char *, size_t) = places_trusted;
    memcpy(&here, &self, sizeof here); /* ISO C has no conversion from a function pointer to void * */
    if (dladdr(here, &info) && info.dli_fname)
        real = realpath(info.dli_fname, NULL);
    if (!real)
        real = realpath("/proc/self/exe", NULL); /* statically linked, and started with another working directory */
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = '\0';
    (void)snprintf(folder, size, "%s", slash ? real : "");
    free(real);
}

dtkb_status places_helper(const char *asked, struct arena *arena, const char **out, struct err *err)
{
    static const char *const beside[] = {"dtkb-probe-host", "../lib/dtkb-probe-host", "../libexec/dtkb/dtkb-probe-host",
                                         "../../libexec/dtkb/dtkb-probe-host"};
    static const char installed[] = DTKB_LIBEXECDIR "/dtkb/dtkb-probe-host";
    char folder[PATH_MAX], path[PATH_MAX];
    own_folder(folder, sizeof folder);
    const char *found = asked;
    for (size_t i = 0; !found && *folder && i < sizeof beside / sizeof *beside; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, beside[i]);
        if (length > 0 && (size_t)length < sizeof path && access(path, X_OK) == 0)
            found = path;
    }
    if (!found)
        found = installed;
    if (access(found, X_OK) != 0)
        return err_set(err, DTKB_E_IO, "the helper program dtkb-probe-host is not at %s: %s; install it with the library, or name it",
                       found, strerror(errno));
    *out = arena_strdup(arena, found);
    return *out ? DTKB_OK : err_nomem(err);
}

/* ---- directories ---- */

struct folder_list {
    const char **items;
    size_t count, capacity;
    struct arena *arena;
    bool failed;
};

static void add_folder(struct folder_list *list, const char *folder)
{
    char *real = realpath(folder, NULL);
    if (!real)
        return;
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i], real)) {
            free(real);
            return;
        }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        const char **items = arena_alloc(list->arena, capacity * sizeof *items);
        if (items && list->count)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items ? items : list->items;
        list->capacity = items ? capacity : list->capacity;
    }
    const char *copy = arena_strdup(list->arena, real);
    free(real);
    if (copy && list->count < list->capacity)
        list->items[list->count++] = copy;
    else
        list->failed = true;
}

/* Adds a list joined by ':'. A relative folder in a variable would mean another one wherever its owner happens to be: those are left out.
 */
static void add_path(struct folder_list *list, const char *path, bool relative)
{
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *folder = strndup(path, length);
        if (folder && (relative || *folder == '/'))
            add_folder(list, folder);
        list->failed = list->failed || !folder;
        free(folder);
        path += length + (path[length] == ':');
    }
}

/* A folder below another. */
static void add_below(struct folder_list *list, const char *parent, const char *rest)
{
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/%s", parent, rest);
    if (length > 0 && (size_t)length < sizeof folder)
        add_folder(list, folder);
}

static void add_own(struct folder_list *list)
{
    char own[PATH_MAX];
    size_t before = list->count;
    own_folder(own, sizeof own);
    if (*own) {
        add_below(list, own, "dtkb/plugins");
        if (list->count == before)
            add_below(list, own, "../lib/dtkb/plugins");
    }
    if (list->count == before)
        add_folder(list, DTKB_LIBDIR "/dtkb/plugins");
}

bool places_plugins(const char *path, bool only, struct arena *arena, const char ***out, size_t *count)
{
    struct folder_list list = {.arena = arena};
    add_path(&list, path, true);
    if (!only) {
        /* secure_getenv: a program with more rights than its user does not let that user choose what it loads. */
        add_path(&list, secure_getenv("DTKB_PLUGIN_PATH"), false);
        const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
        if (data && *data)
            add_below(&list, data, "dtkb/plugins");
        else if (home && *home)
            add_below(&list, home, ".local/share/dtkb/plugins");
        add_own(&list);
    }
    *out = list.items;
    *count = list.count;
    return !list.failed;
}

/* ---- trust ---- */

static bool trusted_one(const char *path, bool is_parent, char *why, size_t size)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        (void)snprintf(why, size, "%s: %s", path, strerror(errno));
        return false;
    }
    if (info.st_uid != 0 && info.st_uid != geteuid()) {
        (void)snprintf(why, size, "%s belongs to user %u, neither to root nor to you: chown it, or use another directory", path,
                       (unsigned)info.st_uid);
        return false;
    }
    /* Others may make entries in a sticky directory such as /tmp, but not replace ours. */
    bool sticky = is_parent && (info.st_mode & S_ISVTX);
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) && !sticky) {
        (void)snprintf(why, size, "%s can be written by %s: chmod go-w %s", path, info.st_mode & S_IWOTH ? "everybody" : "its group", path);
        return false;
    }
    return true;
}

bool places_trusted(const char *path, char *why, size_t why_size)
{
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) {
        (void)snprintf(why, why_size, "the path is too long");
        return false;
    }
    if (!trusted_one(part, false, why, why_size))
        return false;
    bool is_parent = false; /* the directory of the file itself gets no allowance for the sticky bit */
    for (char *slash; (slash = strrchr(part, '/')) != NULL; is_parent = true) {
        slash[slash == part] = '\0';
        if (!trusted_one(part, is_parent, why, why_size))
            return false;
        if (slash == part)
            break;
    }
    return true;
}

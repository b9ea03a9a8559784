#include "api/places.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *environment(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

/* The folder share/dtkb that belongs to this library: PREFIX/lib/libdtkb.so -> PREFIX/share/dtkb. So a moved installation and a build tree
 * work without a setting; the configured place comes after it. */
static char *share_beside_library(void)
{
    Dl_info info;
    char *path = NULL;
    if (!dladdr((const void *)(uintptr_t)&dtkb_version, &info) || !info.dli_fname)
        return NULL;
    char *library = realpath(info.dli_fname, NULL);
    if (!library)
        return NULL;
    /* lib/libdtkb.so and lib/x86_64-linux-gnu/libdtkb.so: no higher, or a stranger's folder might be searched. */
    char *slash = strrchr(library, '/');
    for (int level = 0; slash && !path && level < 3; level++, slash = strrchr(library, '/')) {
        *slash = '\0';
        char *kb = NULL;
        if (asprintf(&kb, "%s/share/dtkb/kb.db", library) < 0)
            break;
        if (access(kb, R_OK) == 0) {
            *strrchr(kb, '/') = '\0';
            path = kb;
        } else {
            free(kb);
        }
    }
    free(library);
    return path;
}

/* A file or folder of PREFIX/share/dtkb. */
static char *shared(const char *name)
{
    char *folder = share_beside_library(), *path = NULL;
    if (asprintf(&path, "%s/%s", folder ? folder : DTKB_DATADIR "/dtkb", name) < 0)
        path = NULL;
    free(folder);
    return path;
}

static bool same_file(const char *left, const char *right)
{
    struct stat l, r;
    return left && right && stat(left, &l) == 0 && stat(right, &r) == 0 && l.st_dev == r.st_dev && l.st_ino == r.st_ino;
}

static bool find_kb(const char *option, struct places *out)
{
    const char *named = option ? option : environment("DTKB_KB");
    char *installed = shared("kb.db");
    out->kb = named ? strdup(named) : installed;
    out->installed = !named || same_file(named, installed);
    if (named)
        free(installed);
    return out->kb != NULL;
}

static bool add_pack(struct places *places, const char *path)
{
    char **packs = realloc(places->packs, (places->pack_count + 1) * sizeof *packs);
    if (!packs)
        return false;
    places->packs = packs;
    packs[places->pack_count] = strdup(path);
    return packs[places->pack_count] ? (places->pack_count++, true) : false;
}

static int is_pack_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && !strcmp(entry->d_name + length - 4, ".xml");
}

/* All packs of a folder by name; a folder that isn't there holds none. */
static bool add_folder(struct places *places, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_pack_name, alphasort);
    bool ok = true;
    for (int i = 0; i < count; i++) {
        char *path;
        if (ok && asprintf(&path, "%s/%s", folder, entries[i]->d_name) >= 0) {
            ok = add_pack(places, path);
            free(path);
        } else {
            ok = false;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ok;
}

static bool add_installed_folder(struct places *places)
{
    char *folder = shared("packs");
    bool ok = folder && add_folder(places, folder);
    free(folder);
    return ok;
}

static bool add_user_folder(struct places *places)
{
    const char *data = environment("XDG_DATA_HOME"), *home = environment("HOME");
    if (!data && !home)
        return true;
    char *folder;
    if (asprintf(&folder, "%s%s/dtkb/packs", data ? data : home, data ? "" : "/.local/share") < 0)
        return false;
    bool ok = add_folder(places, folder);
    free(folder);
    return ok;
}

static bool add_path(struct places *places, const char *path)
{
    char *copy = strdup(path), *rest = copy, *part;
    bool ok = copy != NULL;
    while (ok && (part = strsep(&rest, ":")))
        if (*part)
            ok = add_folder(places, part);
    free(copy);
    return ok;
}

dtkb_status places_find(const dtkb_open_options *options, struct places *out)
{
    struct places places = {0};
    bool ok = find_kb(options->kb, &places);
    if (ok && !options->no_default_packs) {
        const char *path = environment("DTKB_PACK_PATH");
        ok = add_installed_folder(&places) && add_user_folder(&places) && (!path || add_path(&places, path));
    }
    for (size_t i = 0; ok && i < options->pack_count; i++)
        ok = add_pack(&places, options->packs[i]);
    if (!ok) {
        places_free(&places);
        return DTKB_E_NOMEM;
    }
    *out = places;
    return DTKB_OK;
}

void places_free(struct places *places)
{
    free(places->kb);
    for (size_t i = 0; i < places->pack_count; i++)
        free(places->packs[i]);
    free(places->packs);
    *places = (struct places){0};
}

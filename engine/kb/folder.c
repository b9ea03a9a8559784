#include "kb/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static char *join(const char *directory, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && name[0] != '.' && !strcmp(name + length - end, ending);
}

void names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

dtkb_status names_of(const char *directory, const char *ending, char ***names, size_t *count, struct err *err)
{
    *names = NULL;
    *count = 0;
    DIR *stream = opendir(directory);
    if (!stream)
        return errno == ENOENT ? DTKB_OK : err_set(err, DTKB_E_IO, "%s: %s", directory, strerror(errno));
    dtkb_status status = DTKB_OK;
    for (const struct dirent *entry; status == DTKB_OK && (entry = readdir(stream));) {
        if (!ends_with(entry->d_name, ending))
            continue;
        char **grown = realloc(*names, (*count + 1) * sizeof **names);
        char *path = grown ? join(directory, entry->d_name) : NULL;
        *names = grown ? grown : *names;
        if (path)
            (*names)[(*count)++] = path;
        else
            status = err_nomem(err);
    }
    closedir(stream);
    if (*count)
        qsort(*names, *count, sizeof **names, by_bytes);
    if (status != DTKB_OK) {
        names_free(*names, *count);
        *names = NULL;
        *count = 0;
    }
    return status;
}

static dtkb_status read_packs(const char *path, const char *part, struct folder *folder, struct err *err)
{
    char *directory = join(path, part), **names = NULL;
    size_t count = 0;
    dtkb_status status = directory ? names_of(directory, ".xml", &names, &count, err) : err_nomem(err);
    if (status == DTKB_OK && count) {
        struct pack *grown = realloc(folder->packs, (folder->pack_count + count) * sizeof *grown);
        if (grown)
            folder->packs = grown;
        else
            status = err_nomem(err);
    }
    for (size_t i = 0; i < count && status == DTKB_OK; i++) {
        status = pack_read(names[i], &folder->packs[folder->pack_count], err);
        folder->pack_count += status == DTKB_OK;
    }
    names_free(names, count);
    free(directory);
    return status;
}

dtkb_status folder_read(const char *path, struct folder *out, struct err *err)
{
    struct folder folder = {0};
    char *taxonomy = join(path, "taxonomy.xml"), *facts = join(path, "facts.xml");
    dtkb_status status = taxonomy && facts ? DTKB_OK : err_nomem(err);
    if (status == DTKB_OK)
        status = taxonomy_read(taxonomy, &folder.taxonomy, err);
    if (status == DTKB_OK)
        status = facts_read(facts, &folder.facts, err);
    if (status == DTKB_OK)
        status = read_packs(path, "study", &folder, err);
    if (status == DTKB_OK)
        status = read_packs(path, "reports", &folder, err);
    if (status == DTKB_OK)
        status = read_packs(path, "causes", &folder, err);
    free(taxonomy);
    free(facts);
    if (status == DTKB_OK)
        *out = folder;
    else
        folder_free(&folder);
    return status;
}

void folder_free(struct folder *folder)
{
    taxonomy_free(&folder->taxonomy);
    pack_free(&folder->facts);
    for (size_t i = 0; i < folder->pack_count; i++)
        pack_free(&folder->packs[i]);
    free(folder->packs);
    *folder = (struct folder){0};
}

#include "kb/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kb/build.h"
#include "kb/folder.h"

void check_complain(struct check *check, enum severity severity, struct place place, const char *format, ...)
{
    char text[DTKB_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_t *message = json_string(text); /* fails on text that was cut within a character */
    json_t *complaint = json_pack("{s:s, s:s, s:i, s:o}", "severity", severity == CHECK_ERROR ? "error" : "warning", "file", place.file,
                                  "line", place.line, "message", message ? message : json_string("(message is not UTF-8)"));
    if (place.cause)
        json_object_set_new(complaint, "cause", json_string(place.cause));
    if (place.signature)
        json_object_set_new(complaint, "signature", json_string(place.signature));
    json_array_append_new(check->list, complaint);
    check->errors += severity == CHECK_ERROR;
}

/* An error text that begins with "FILE:LINE: " as a complaint about that place. */
static void complain_of(struct check *check, const char *file, const char *text)
{
    size_t length = strlen(file);
    int line = 0, used = 0;
    if (strncmp(text, file, length) == 0 && sscanf(text + length, ":%d: %n", &line, &used) == 1 && used)
        text += length + (size_t)used;
    check_complain(check, CHECK_ERROR, (struct place){.file = file, .line = line}, "%s", text);
}

static dtkb_status add_pack(struct check *check, const char *file, struct err *err)
{
    struct pack *grown = realloc(check->packs, (check->pack_count + 1) * sizeof *grown);
    if (!grown)
        return err_nomem(err);
    check->packs = grown;
    struct err why = {0};
    dtkb_status status = pack_read(file, &check->packs[check->pack_count], &why);
    check->pack_count += status == DTKB_OK;
    if (status == DTKB_E_FORMAT || status == DTKB_E_LIMIT) {
        complain_of(check, file, why.text);
        return DTKB_OK;
    }
    return status == DTKB_OK ? status : err_set(err, status, "%s", why.text);
}

static dtkb_status add_directory(struct check *check, const char *directory, struct err *err)
{
    char **names = NULL;
    size_t count = 0;
    dtkb_status status = names_of(directory, ".xml", &names, &count, err);
    for (size_t i = 0; i < count && status == DTKB_OK; i++)
        status = add_pack(check, names[i], err);
    names_free(names, count);
    return status;
}

/* The taxonomy and vocabulary of the knowledge folder that is checked, or that the file lies in; the built-in ones otherwise. */
static dtkb_status read_words(struct check *check, const char *folder, struct err *err)
{
    char path[4096];
    struct err why = {0};
    bool own = folder && snprintf(path, sizeof path, "%s/taxonomy.xml", folder) < (int)sizeof path && access(path, R_OK) == 0;
    dtkb_status status = taxonomy_read(own ? path : NULL, &check->taxonomy, &why);
    if (status == DTKB_E_FORMAT)
        complain_of(check, path, why.text);
    else if (status != DTKB_OK)
        return err_set(err, status, "%s", why.text);
    own = folder && snprintf(path, sizeof path, "%s/facts.xml", folder) < (int)sizeof path && access(path, R_OK) == 0;
    status = facts_read(own ? path : NULL, &check->vocabulary, &why);
    if (status == DTKB_E_FORMAT)
        complain_of(check, path, why.text);
    else if (status != DTKB_OK)
        return err_set(err, status, "%s", why.text);
    return DTKB_OK;
}

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* The knowledge folder that the paths speak of: a directory among them, or the one above the first file; malloc'ed, NULL when none. */
static char *folder_of(const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_directory(paths[i]))
            return strdup(paths[i]);
    if (!count)
        return NULL;
    char *folder = NULL;
    const char *slash = strrchr(paths[0], '/');
    if (asprintf(&folder, "%.*s/..", slash ? (int)(slash - paths[0]) : 1, slash ? paths[0] : ".") < 0)
        return NULL;
    return folder;
}

static dtkb_status add_folder(struct check *check, const char *path, struct err *err)
{
    char part[4096];
    const char *const parts[] = {"study", "causes"};
    dtkb_status status = DTKB_OK;
    size_t before = check->pack_count;
    for (size_t i = 0; i < 2 && status == DTKB_OK; i++) {
        if (snprintf(part, sizeof part, "%s/%s", path, parts[i]) >= (int)sizeof part)
            return err_set(err, DTKB_E_USAGE, "%s: the name is too long", path);
        status = add_directory(check, part, err);
        check->has_study = check->has_study || (i == 0 && check->pack_count > before);
    }
    /* A folder of packs that is no knowledge folder. */
    if (status == DTKB_OK && check->pack_count == before && !check->errors)
        status = add_directory(check, path, err);
    if (status == DTKB_OK && check->pack_count == before && !check->errors)
        status = err_set(err, DTKB_E_NOT_FOUND, "%s: no packs (*.xml) in it", path);
    return status;
}

static void close_check(struct check *check)
{
    taxonomy_free(&check->taxonomy);
    pack_free(&check->vocabulary);
    for (size_t i = 0; i < check->pack_count; i++)
        pack_free(&check->packs[i]);
    free(check->packs);
}

/* The healthy logs that are meant: of a directory, its *.log. Malloc'ed names. */
static dtkb_status logs_of(const char *const *healthy, size_t count, char ***logs, size_t *log_count, struct err *err)
{
    if (count == 1 && is_directory(healthy[0]))
        return names_of(healthy[0], ".log", logs, log_count, err);
    *logs = calloc(count + 1, sizeof **logs);
    for (size_t i = 0; *logs && i < count; i++) {
        (*logs)[i] = strdup(healthy[i]);
        *log_count += (*logs)[i] != NULL;
    }
    return *logs && *log_count == count ? DTKB_OK : err_nomem(err);
}

dtkb_status kb_check(const char *const *paths, size_t count, const char *const *healthy, size_t healthy_count, json_t **out,
                     struct err *err)
{
    struct check check = {.list = json_array()};
    char *folder = folder_of(paths, count), **logs = NULL;
    size_t log_count = 0;
    dtkb_status status = !check.list ? err_nomem(err)
                         : count     ? DTKB_OK
                                     : err_set(err, DTKB_E_USAGE, "which pack or folder is to be checked?");
    if (status == DTKB_OK)
        status = read_words(&check, folder, err);
    for (size_t i = 0; i < count && status == DTKB_OK; i++)
        status = is_directory(paths[i]) ? add_folder(&check, paths[i], err) : add_pack(&check, paths[i], err);
    if (status == DTKB_OK) {
        check_structure(&check);
        status = logs_of(healthy, healthy_count, &logs, &log_count, err);
        if (status == DTKB_OK)
            status = check_signatures(&check, (const char *const *)logs, log_count, err);
        names_free(logs, log_count);
    }
    close_check(&check);
    free(folder);
    if (status != DTKB_OK) {
        json_decref(check.list);
        return status;
    }
    *out = check.list;
    if (check.errors)
        return err_set(err, DTKB_E_FORMAT, "%zu error%s found", check.errors, check.errors == 1 ? "" : "s");
    return DTKB_OK;
}

/* Paths: files as they are, directories by their files in the order of their names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scan/scan_private.h"

#define DEPTH_MAX 12
#define FILES_MAX 50000

struct walk {
    struct scan *scan;
    size_t files;
    struct {
        dev_t device;
        ino_t inode;
    } above[DEPTH_MAX]; /* a symbolic link to one of these is a loop */
};

static dtkb_status scan_file(struct scan *scan, const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, errno == ENOENT ? DTKB_E_NOT_FOUND : DTKB_E_IO, "%s: cannot be opened: %s", path, strerror(errno));
    dtkb_status status = scan_fd(scan, path, fd, err);
    (void)close(fd);
    return status;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static dtkb_status walk_directory(struct walk *walk, const char *path, unsigned depth, struct err *err);

/* One entry of a directory. What can't be read or is neither file nor directory is passed over: the rest of the directory still counts. */
static dtkb_status walk_entry(struct walk *walk, const char *path, unsigned depth, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return DTKB_OK;
    if (S_ISDIR(st.st_mode))
        return walk_directory(walk, path, depth + 1, err);
    if (!S_ISREG(st.st_mode) || access(path, R_OK) != 0)
        return DTKB_OK;
    if (++walk->files > FILES_MAX)
        return err_set(err, DTKB_E_LIMIT, "%s: more than %d files; name the logs", path, FILES_MAX);
    return scan_file(walk->scan, path, err);
}

static dtkb_status walk_directory(struct walk *walk, const char *path, unsigned depth, struct err *err)
{
    struct stat st;
    if (depth >= DEPTH_MAX || stat(path, &st) != 0)
        return DTKB_OK;
    for (unsigned i = 0; i < depth; i++)
        if (walk->above[i].device == st.st_dev && walk->above[i].inode == st.st_ino)
            return DTKB_OK;
    walk->above[depth].device = st.st_dev;
    walk->above[depth].inode = st.st_ino;
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, visible, versionsort);
    if (count < 0 && depth > 0)
        return DTKB_OK;
    if (count < 0)
        return err_set(err, DTKB_E_IO, "%s: cannot be listed: %s", path, strerror(errno));
    dtkb_status status = DTKB_OK;
    size_t length = strlen(path);
    for (int i = 0; i < count; i++) {
        struct buf name = {0};
        buf_addf(&name, "%s%s%s", path, length && path[length - 1] == '/' ? "" : "/", entries[i]->d_name);
        if (status == DTKB_OK)
            status = name.failed ? err_nomem(err) : walk_entry(walk, buf_text(&name), depth, err);
        buf_free(&name);
        free(entries[i]);
    }
    free((void *)entries);
    return status;
}

dtkb_status scan_path(struct scan *scan, const char *path, struct err *err)
{
    struct stat st;
    if (!strcmp(path, "-"))
        return scan_fd(scan, path, STDIN_FILENO, err);
    if (stat(path, &st) != 0)
        return err_set(err, errno == ENOENT ? DTKB_E_NOT_FOUND : DTKB_E_IO, "%s: cannot be opened: %s", path, strerror(errno));
    size_t before = scan->file_count;
    if (!S_ISDIR(st.st_mode)) {
        dtkb_status status = scan_file(scan, path, err);
        if (status == DTKB_OK && scan->file_count == before + 1 && scan->files[before].binary)
            return err_set(err, DTKB_E_FORMAT, "%s: not a text file; give a log, a directory or an archive of logs", path);
        return status;
    }
    struct walk walk = {.scan = scan};
    dtkb_status status = walk_directory(&walk, path, 0, err);
    bool any = false;
    for (size_t i = before; i < scan->file_count; i++)
        any = any || !scan->files[i].binary;
    if (status == DTKB_OK && !any)
        return err_set(err, DTKB_E_NOT_FOUND, "%s: no log files in it", path);
    return status;
}

#include "kb/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

dtkb_status replacement_begin(struct replacement *out, const char *file, struct err *err)
{
    struct replacement replacement = {.file = strdup(file)};
    if (asprintf(&replacement.temporary, "%s.XXXXXX", file) < 0)
        replacement.temporary = NULL;
    if (!replacement.file || !replacement.temporary) {
        free(replacement.file);
        free(replacement.temporary);
        return err_nomem(err);
    }
    int fd = mkostemp(replacement.temporary, O_CLOEXEC);
    if (fd < 0) {
        dtkb_status status = err_set(err, DTKB_E_IO, "%s cannot be written: %s", file, strerror(errno));
        free(replacement.file);
        free(replacement.temporary);
        return status;
    }
    mode_t mask = umask(0); /* as open() would have made it; mkostemp makes files private */
    umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
    close(fd);
    *out = replacement;
    return DTKB_OK;
}

static int sync_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int rc = fsync(fd);
    close(fd);
    return rc;
}

dtkb_status replacement_end(struct replacement *replacement, dtkb_status status, struct err *err)
{
    if (!replacement->temporary)
        return status;
    if (status == DTKB_OK && (sync_file(replacement->temporary) != 0 || rename(replacement->temporary, replacement->file) != 0))
        status = err_set(err, DTKB_E_IO, "%s cannot be written: %s", replacement->file, strerror(errno));
    if (status != DTKB_OK)
        (void)unlink(replacement->temporary);
    free(replacement->file);
    free(replacement->temporary);
    *replacement = (struct replacement){0};
    return status;
}

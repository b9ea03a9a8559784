/* /proc/self/mountinfo, one mount at a time. */
#ifndef DTKB_PLUGINS_HOST_MOUNTS_H
#define DTKB_PLUGINS_HOST_MOUNTS_H

#include "common/kit.h"

struct mount {
    uint64_t id;
    const char *root, *point;  /* what of the file system is mounted, and where */
    const char *options;       /* of the mount: "rw,relatime" */
    const char *type, *source; /* "nfs4", "server:/export" */
    const char *super_options; /* of the file system */
};

/* The text of mountinfo, for mount_next() to cut up; NULL when it cannot be read. */
char *mounts_read(struct kit *kit);
/* The next mount; its strings point into the text. False at the end. A line of another form is passed over. */
bool mount_next(char **at, struct mount *out);
/* Is `word` one of the comma-separated `options`? */
bool mount_option(const char *options, const char *word);
/* Does every access go over a network? */
bool mount_is_remote(const char *type);

#endif

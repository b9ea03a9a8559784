/* A knowledge folder read whole: taxonomy, facts, and every pack below it. */
#ifndef DTKB_KB_FOLDER_H
#define DTKB_KB_FOLDER_H

#include "kb/pack.h"
#include "kb/taxonomy.h"

struct folder {
    struct taxonomy taxonomy;
    struct pack facts;
    struct pack *packs; /* study first, then causes, each by file name */
    size_t pack_count;
};

/* Names of a directory's files that end in `ending`, with its path, sorted by bytes; malloc'ed, free with names_free. A missing directory
 * has none. */
dtkb_status names_of(const char *directory, const char *ending, char ***names, size_t *count, struct err *err);
void names_free(char **names, size_t count);

dtkb_status folder_read(const char *path, struct folder *out, struct err *err);
void folder_free(struct folder *folder);

#endif

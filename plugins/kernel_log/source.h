/* Where kernel messages come from: /dev/kmsg, the journal or a file. */
#ifndef DTKB_PLUGINS_KERNEL_LOG_SOURCE_H
#define DTKB_PLUGINS_KERNEL_LOG_SOURCE_H

#include "common/kit.h"

struct source {
    bool live;          /* this machine's log as of now, not a recording */
    char name[512];     /* the file or command */
    char problem[1024]; /* why there is nothing to read */
};

typedef void source_line_fn(void *context, const char *text);

/* Hands every line to `line`; false when no source could be read, with `problem`. */
bool source_read(struct kit *kit, struct source *source, source_line_fn *line, void *context);

#endif

/* What a plugin says of itself, read and checked. */
#ifndef DTKB_PROBE_DESCRIPTION_H
#define DTKB_PROBE_DESCRIPTION_H

#include "probe/catalog.h"

struct description {
    struct plugin *plugin; /* receives it */
    struct arena *arena;
    bool refused; /* the helper could not load it: `mistake` of the job is its reason */
};

/* Takes a line {"plugin": ...}, {"probe": ...} or {"refused": ...}. False when it breaks the contract: `mistake` says how. */
bool description_line(struct description *description, const char *text, size_t length, char *mistake, size_t mistake_size);
/* After the last line: is it complete, and does its name fit its file's? */
bool description_check(const struct description *description, char *mistake, size_t mistake_size);

#endif

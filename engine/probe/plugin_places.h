/* Where the helper program and the plugins lie, and whom to trust there. */
#ifndef DTKB_PROBE_PLUGIN_PLACES_H
#define DTKB_PROBE_PLUGIN_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* The helper: beside the library (as in a build tree), else where the library's own installation has it. */
dtkb_status places_helper(const char *asked, struct arena *arena, const char **out, struct err *err);

/* Directories to search, absolute and in order: `path` (joined by ':', may be NULL or relative), then unless `only` DTKB_PLUGIN_PATH, the
 * user's and the installed one. Those that do not exist are left out. False when out of memory. */
bool places_plugins(const char *path, bool only, struct arena *arena, const char ***out, size_t *count);

/* Can nobody but root and the caller change the file at `path` (absolute, without symbolic links) or replace it, by its own and by all
 * its directories' owner and permissions? False with the reason and the way out in `why`. */
bool places_trusted(const char *path, char *why, size_t why_size);

#endif

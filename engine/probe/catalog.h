/* All plugins there are, with what they say of themselves and why some cannot be used. */
#ifndef DTKB_PROBE_CATALOG_H
#define DTKB_PROBE_CATALOG_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"
#include "probe/probe.h"

enum plugin_kind { PLUGIN_SHARED, PLUGIN_PROGRAM };
enum plugin_state {
    PLUGIN_GOOD,
    PLUGIN_UNTRUSTED,  /* somebody else could have written it */
    PLUGIN_UNLOADABLE, /* it does not load, crashes or hangs when asked what it is */
    PLUGIN_REFUSED,    /* what it says of itself breaks the contract */
    PLUGIN_CLASH,      /* an earlier one has its name or one of its probes' */
    PLUGIN_LEFT_OUT    /* this build of dtkb lacks it; a note lies in its place */
};
const char *plugin_state_name(enum plugin_state state); /* "loadable", "untrusted", ... */

struct plugin_probe {
    const char *name, *summary;
    uint64_t caps; /* DTKB_CAP_* */
    unsigned timeout_ms;
    const char **facts; /* names or patterns */
    size_t fact_count;
    json_t *params; /* array of {name, summary, default}; owned by the catalog */
};
struct plugin {
    const char *path, *name, *version, *licence, *summary, *reason;
    enum plugin_kind kind;
    enum plugin_state state;
    unsigned abi;
    struct plugin_probe *probes;
    size_t probe_count;
};
struct catalog {
    struct plugin *plugins; /* in the order of the search path, by file name within a directory */
    size_t count;
    const char *helper;
    struct arena arena;
};

/* Searches and asks every plugin, side by side. */
dtkb_status catalog_load(const struct probe_options *options, struct catalog *out, struct err *err);
/* The same for one file, whatever its directory or permissions. */
dtkb_status catalog_load_file(const struct probe_options *options, const char *file, struct catalog *out, struct err *err);
void catalog_free(struct catalog *catalog);

#endif

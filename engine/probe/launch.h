/* The command line and environment of a plugin's process: the contract of DTKB_* variables that engine/probe/README.md documents. */
#ifndef DTKB_PROBE_LAUNCH_H
#define DTKB_PROBE_LAUNCH_H

#include "probe/catalog.h"
#include "probe/supervise.h"

struct launch {
    const char *helper;
    const struct plugin *plugin;
    const struct plugin_probe *probe; /* NULL: describe */
    const struct probe_options *options;
    uint64_t timeout_ns;
    bool offline;             /* in a network namespace without a network */
    const char *const *extra; /* further NAME=VALUE, NULL-terminated; may be NULL */
};

/* Sets argv, env, deadline_text, timeout_ns of the job; false when out of memory. */
bool launch_prepare(const struct launch *launch, struct arena *arena, struct job *job);

#endif

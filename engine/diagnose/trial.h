/* Trials: a failing probe run again with one thing changed. What they showed goes into score and report. */
#ifndef DTKB_DIAGNOSE_TRIAL_H
#define DTKB_DIAGNOSE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "probe/probe.h"

struct trial_run {
    const char *probe, *change; /* what was run, and with which NAME=VALUE */
    enum probe_status before, after;
    const char *before_reason, *after_reason;
    double before_seconds, after_seconds;
    unsigned confirmed; /* further runs that gave the same good result */
    bool works;         /* failing before, healthy after, each time */
};

struct trial_runs {
    struct trial_run *runs;
    size_t count;
    struct arena arena;
};

/* The run of this probe with this change, NULL when it was not tried. */
const struct trial_run *trial_find(const struct trial_runs *runs, const char *probe, const char *change);

#endif

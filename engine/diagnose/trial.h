/* Trials: a failing probe run again with one thing changed. What they showed goes into score and report. */
#ifndef DTKB_DIAGNOSE_TRIAL_H
#define DTKB_DIAGNOSE_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "probe/probe.h"

struct trial_run {
    const char *probe, *change; /* what was run, and with which NAME=VALUE */
    const char *named;          /* the change as the card has it, place holder and all */
    const char *replaces;       /* the job's own value of that variable, NULL where it had none */
    const char *rules_out;      /* ids of causes that cannot be where it works, separated by blanks; "" for none */
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

/* The run of this probe with the change that a card names, NULL when it was not tried; of several values, the one that works. */
const struct trial_run *trial_find(const struct trial_runs *runs, const char *probe, const char *named);

struct cause;
/* What the trials say of a cause: proven by one of its own that works; disproven where those of its own that were run are in vain (all of
 * them, or another change was found that works), or one that works rules it out. */
enum trial_word { TRIAL_SILENT, TRIAL_PROVES, TRIAL_DISPROVES };
enum trial_word trial_judge(const struct trial_runs *runs, const struct cause *cause);
/* The same for one run alone. */
enum trial_word trial_run_judge(const struct trial_runs *runs, const struct trial_run *run, const struct cause *cause);

/* Does the run say anything? Not when the probe could not be run with the change. */
bool trial_tells(const struct trial_run *run);

#endif

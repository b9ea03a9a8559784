/* One run of a probe under watch, for the conformance check: in a scratch folder, and with a mark by which what it leaves is found. */
#ifndef DTKB_PROBE_CHECK_RUN_H
#define DTKB_PROBE_CHECK_RUN_H

#include "probe/intake.h"
#include "probe/launch.h"

struct check_scratch {
    char folder[400]; /* of all, in TMPDIR */
    char work[420];   /* where probes run, and where they may think they can write */
    char empty[420];  /* stands for /proc, /sys, /dev */
    char mark[64];    /* NAME=VALUE in the environment of what was started */
};
dtkb_status check_scratch_make(struct check_scratch *scratch, struct err *err);
void check_scratch_remove(const struct check_scratch *scratch);

struct check_run {
    /* Set by the caller. */
    const struct check_scratch *scratch;
    const struct vocabulary *vocabulary;
    const struct plugin *plugin;
    const struct plugin_probe *probe;
    const struct probe_options *options;
    const char *helper;
    uint64_t timeout_ns;
    bool bare;     /* empty roots, hardly an environment, no GPU */
    bool offline;  /* no network */
    bool unwarned; /* it is told of a later deadline than its real one: ended half-way */
    /* Set by check_run(). */
    struct job job;
    struct intake intake;
    unsigned left_processes;
    char left_file[128]; /* the first file it wrote; "" for none */
};

dtkb_status check_run(struct check_run *run, struct err *err);
void check_run_free(struct check_run *run);

/* Can programs be run without a network here? */
bool check_can_go_offline(const char *helper);

#endif

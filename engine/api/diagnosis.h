/* A diagnosis in progress, shared by the files of this folder that feed and conclude it. */
#ifndef DTKB_API_DIAGNOSIS_H
#define DTKB_API_DIAGNOSIS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fact.h"
#include "diagnose/trial.h"
#include "probe/probe.h"
#include "scan/scan.h"

struct dtkb_diagnosis {
    dtkb *engine;
    struct arena arena;            /* owns the copied options */
    dtkb_diagnose_options options; /* strings point into the arena */
    struct scan *scan;
    bool fed; /* some log was fed */
    atomic_int cancelled;
    struct fact_set facts;
    struct probe_results probes;
    struct trial_runs trials;
    struct findings bundle; /* read from a bundle instead of scanned */
    bool bundled;
    bool probed; /* the probes the options ask for were run */
};

/* Runs probes (names joined by commas; "all": every passive one) and adds their facts and the evidence they brought. */
dtkb_status diagnosis_probe(struct dtkb_diagnosis *diagnosis, const char *names, struct err *err);

/* Runs those probes that would tell the facts which a first report says it misses; all passive ones where no log was fed. */
dtkb_status diagnosis_probe_wanted(struct dtkb_diagnosis *diagnosis, const json_t *report, struct err *err);

/* What the logs (or the bundle) gave so far, secrets removed. Free with findings_free() unless it came from a bundle: see
 * diagnosis_release(). */
dtkb_status diagnosis_findings(struct dtkb_diagnosis *diagnosis, struct findings *out, struct err *err);
void diagnosis_release(const struct dtkb_diagnosis *diagnosis, struct findings *findings);

/* Judges what there is so far. */
dtkb_status diagnosis_judge(struct dtkb_diagnosis *diagnosis, json_t **report, struct err *err);

/* int (*)(void *) for scan and probes: was the diagnosis cancelled? */
int diagnosis_cancelled(void *diagnosis);

#endif

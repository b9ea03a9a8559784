/* Is anything wrong at all, and where did it begin? */
#ifndef DTKB_DIAGNOSE_VERDICT_H
#define DTKB_DIAGNOSE_VERDICT_H

#include "diagnose/score.h"
#include "probe/probe.h"

/* "fault", "no-fault" or "unknown".
 *   fault     a convincing cause; or a job that visibly died (signal, exit status, uncaught exception in a training log); or a probe's fault
 *   no-fault  steps and nothing that looks like an error, or steps after what does; or a job that ended well, or only probes that were asked,
 *             all of them healthy
 *   unknown   something looks like an error, but nothing is convincing; or a job that was not seen to train */
const char *verdict_decide(const struct findings *findings, const struct candidates *candidates, const struct probe_results *probes);

/* Is all that was read what probes' own libraries printed (NCCL's lines)? */
bool verdict_without_log(const struct findings *findings);

/* The rank on which the trouble began, RANK_UNKNOWN when the log does not tell. */
int32_t verdict_first_failing_rank(const struct findings *findings, const struct candidates *candidates);

#endif

/* Secrets out of all that a report or a bundle may show, once, before anything is judged: so both say the same. */
#ifndef DTKB_API_SECRETS_H
#define DTKB_API_SECRETS_H

#include "base/err.h"
#include "base/fact.h"
#include "probe/probe.h"
#include "scan/findings.h"

dtkb_status secrets_remove(struct findings *findings, struct fact_set *facts, struct probe_results *probes, struct err *err);

#endif

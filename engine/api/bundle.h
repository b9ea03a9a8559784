/* A bundle: what a diagnosis stands on (findings, facts, probe results), as JSON to be carried elsewhere. */
#ifndef DTKB_API_BUNDLE_H
#define DTKB_API_BUNDLE_H

#include <jansson.h>

#include "base/err.h"
#include "base/fact.h"
#include "kb/kb.h"
#include "probe/probe.h"
#include "scan/findings.h"

/* Signatures are named by cause and id, so that a bundle survives a newer knowledge base. */
dtkb_status bundle_write(struct kb *kb, const struct findings *findings, const struct fact_set *facts, const struct probe_results *probes,
                         json_t **out, struct err *err);

/* Fills empty findings, facts and results from a bundle, which is untrusted: a wrong member is DTKB_E_FORMAT and named. A signature that
 * the knowledge base no longer has keeps its line as plain evidence. */
dtkb_status bundle_read(struct kb *kb, const json_t *bundle, struct findings *findings, struct fact_set *facts,
                        struct probe_results *probes, struct err *err);

#endif

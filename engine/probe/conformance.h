/* `dtkb plugin check`: a plugin against the whole contract. */
#ifndef DTKB_PROBE_CONFORMANCE_H
#define DTKB_PROBE_CONFORMANCE_H

#include "probe/probe.h"
#include "probe/vocabulary.h"

/* The document "dtkb.plugin-check/1": {schema, file, plugin, version, verdict, clauses: [{id, title, result, reason}]}, where a result is
 * pass, fail, warn or not-tested. A plugin that breaks the contract is a document, not an error; a file that is not there is an error. */
dtkb_status conformance_check(const struct vocabulary *vocabulary, const struct probe_options *options, const char *file, json_t **out,
                              struct err *err);

#endif

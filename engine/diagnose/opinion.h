/* What the log's words alone say of its trouble: a second opinion beside the signatures, and the only one where none fits. */
#ifndef DTKB_DIAGNOSE_OPINION_H
#define DTKB_DIAGNOSE_OPINION_H

#include "kb/kb.h"
#include "scan/findings.h"

struct opinion {
    struct guesses symptoms, fixes; /* both empty without a log */
};

dtkb_status opinion_form(struct kb *kb, const struct findings *findings, struct opinion *out, struct err *err);

#endif

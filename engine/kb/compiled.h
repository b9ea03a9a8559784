/* Storing the compiled set of signatures in a knowledge base. */
#ifndef DTKB_KB_COMPILED_H
#define DTKB_KB_COMPILED_H

#include "kb/store.h"

/* Compiles the signatures of the packs, in order, and stores the set. A refused expression is an error with file and line. */
dtkb_status compiled_store(struct store *store, const struct pack *packs, size_t count, struct err *err);

#endif

/* Which facts there are: asked of the knowledge base, or of a test. */
#ifndef DTKB_PROBE_VOCABULARY_H
#define DTKB_PROBE_VOCABULARY_H

#include <stdbool.h>

#include "base/fact.h"

struct kb;

struct vocabulary {
    /* Type and unit of a fact by its name; false: no such fact. NULL: every fact is welcome. */
    bool (*definition)(void *context, const char *name, enum fact_type *type, const char **unit);
    void *context;
};

/* The knowledge base's and its packs'; `kb` NULL: every fact is welcome. */
struct vocabulary vocabulary_of(struct kb *kb);

#endif

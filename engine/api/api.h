/* What the handles of dtkb.h are inside. */
#ifndef DTKB_API_API_H
#define DTKB_API_API_H

#include <jansson.h>

#include "base/err.h"
#include "kb/kb.h"

struct dtkb {
    struct kb *kb;
    struct err err; /* of the last failure on this handle */
    dtkb_log_fn log;
    void *log_context;
};

struct dtkb_doc {
    json_t *tree;
    char *json; /* rendered by dtkb_doc_json() on demand */
};

/* Wraps a tree, whose reference is taken over even on failure. */
dtkb_status doc_new(json_t *tree, dtkb_doc **out, struct err *err);

/* Clears the handle's error and returns the place for a new one. */
struct err *api_begin(dtkb *engine);

/* A line for the embedding program's log, if it wants one. */
void api_log(const dtkb *engine, int level, const char *text);

/* Copies an error text to a caller's buffer (either may be NULL) and returns the code. */
dtkb_status api_report(const struct err *err, char *error, size_t error_size);

#endif

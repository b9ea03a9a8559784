/* Writing a file so that it is there whole or not at all. */
#ifndef DTKB_KB_REPLACE_H
#define DTKB_KB_REPLACE_H

#include "base/err.h"

struct replacement {
    char *file, *temporary; /* the temporary file lies beside the other, empty at first */
};
dtkb_status replacement_begin(struct replacement *out, const char *file, struct err *err);
/* Moves the temporary file to its place when `status` is DTKB_OK, removes it otherwise. Returns the first failure. */
dtkb_status replacement_end(struct replacement *replacement, dtkb_status status, struct err *err);

#endif

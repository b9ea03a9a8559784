/* Pickles of plain data (dictionaries, lists, tuples, sets, strings, bytes, numbers, booleans, None), protocols 0 to 5. Anything that could
 * import, build or run code is refused by its opcode's name. */
#ifndef DTKB_SCAN_PICKLE_H
#define DTKB_SCAN_PICKLE_H

#include <jansson.h>

#include "base/err.h"

/* Tuples and sets become arrays, keys become strings, whole numbers of more than 64 bits become reals, bytes become strings in which what
 * is no ASCII is written as \xNN. `name` is for the error. */
dtkb_status pickle_read(const char *name, const void *bytes, size_t length, json_t **out, struct err *err);

#endif

/* Lines that a launcher prints around any failure: they say that ranks ended and nothing of why, so no classifier should hear them. */
#ifndef DTKB_KB_BOILERPLATE_H
#define DTKB_KB_BOILERPLATE_H

#include <stdbool.h>
#include <stddef.h>

/* `line` of `length` bytes, without its end; a rank's prefix may stand before it. */
bool is_boilerplate(const char *line, size_t length);

#endif

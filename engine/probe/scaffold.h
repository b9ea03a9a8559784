/* `dtkb plugin new`: a small project outside this tree, with a probe, a knowledge pack that uses its fact, and a test. */
#ifndef DTKB_PROBE_SCAFFOLD_H
#define DTKB_PROBE_SCAFFOLD_H

#include "base/err.h"

/* Writes it to `folder` (NULL: dtkb-probe-NAME here), which must not exist or be empty. `language` is c, sh or python; NULL: c. */
dtkb_status scaffold_write(const char *name, const char *language, const char *folder, struct err *err);

#endif

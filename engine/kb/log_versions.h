/* The versions a report's own log gives away, where nobody wrote them down. */
#ifndef DTKB_KB_LOG_VERSIONS_H
#define DTKB_KB_LOG_VERSIONS_H

#include "kb/kb.h"

/* Of each component the first that the log names; an issue that has versions, or no log, stays as it is. The copies are the arena's. */
dtkb_status log_versions(struct issue *issue, struct arena *arena, struct err *err);

#endif

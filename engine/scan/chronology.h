/* Which evidence came first when each rank wrote a file of its own. */
#ifndef DTKB_SCAN_CHRONOLOGY_H
#define DTKB_SCAN_CHRONOLOGY_H

#include "base/err.h"
#include "scan/findings.h"

/* Evidence comes in by file order. Where every file with evidence has time stamps, it is put in the order of time and numbered anew; evidence without a
 * stamp of its own stands where the stamp before it in its file says. Otherwise nothing changes. */
dtkb_status chronology_order(struct findings *findings, struct err *err);

#endif

/* The timeline of the ranks in the HTML report. */
#ifndef DTKB_REPORT_TIMELINE_H
#define DTKB_REPORT_TIMELINE_H

#include <jansson.h>

#include "base/buf.h"

/* One track per rank, one mark per piece of evidence, in the order (or at the time) they came. Nothing when fewer than two ranks are known.
 */
void add_timeline(struct buf *out, const json_t *report);

#endif

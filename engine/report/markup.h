/* Text into XML and HTML. */
#ifndef DTKB_REPORT_MARKUP_H
#define DTKB_REPORT_MARKUP_H

#include "base/buf.h"

/* Escapes & < > " and '; characters that XML forbids become '?'. */
void add_escaped(struct buf *out, const char *text);

#endif

/* Files that are one document rather than lines: Flight Recorder dumps (pickle or JSON), TORCHELASTIC_ERROR_FILE, reports of tools (tool.h),
 * known by what is in them. */
#ifndef DTKB_SCAN_DOCUMENT_H
#define DTKB_SCAN_DOCUMENT_H

#include "scan/scan_private.h"

/* May these first bytes begin such a document, JSON or XML? */
bool document_may_be(const void *first, size_t length);
/* Reads the whole of `fd` (from its beginning). `*taken` is false if it turns out to be something else: read it as a log then. */
dtkb_status document_read(struct scan *scan, const char *name, int fd, bool pickle, bool *taken, struct err *err);
/* The same where the text is at hand: it came through a pipe, or out of an archive. */
dtkb_status document_text(struct scan *scan, const char *name, const struct buf *text, bool *taken, struct err *err);

#endif

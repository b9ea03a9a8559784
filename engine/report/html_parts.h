/* The parts of the HTML report: each writes its section, or nothing. */
#ifndef DTKB_REPORT_HTML_PARTS_H
#define DTKB_REPORT_HTML_PARTS_H

#include <jansson.h>

#include "base/buf.h"

/* An element with a class and an escaped text. */
void add_tagged(struct buf *out, const char *tag, const char *class, const char *text);

/* What would make the answer surer, what was tried, what merged reports say of their ranks, and the machine's probes and facts. */
void add_next(struct buf *out, const json_t *report);
void add_trials(struct buf *out, const json_t *report);
void add_merged(struct buf *out, const json_t *report);
void add_machine(struct buf *out, const json_t *report);

#endif

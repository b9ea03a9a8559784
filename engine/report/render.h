/* Rendering: a document (a report, search results, a card, ...) as a JSON tree -> bytes in a format. */
#ifndef DTKB_REPORT_RENDER_H
#define DTKB_REPORT_RENDER_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

struct render_options {
    unsigned width; /* columns; 0: 80 */
    bool color;
};

/* `document` has a member "schema" that says what it is ("dtkb.report/1", "dtkb.search/1", ...). DTKB_E_UNSUPPORTED when the format can't
 * show it. */
dtkb_status render(const json_t *document, dtkb_format format, const struct render_options *options, struct buf *out, struct err *err);

#endif

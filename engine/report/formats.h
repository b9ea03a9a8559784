/* One function per kind of document and format; render.c holds the table. */
#ifndef DTKB_REPORT_FORMATS_H
#define DTKB_REPORT_FORMATS_H

#include "report/render.h"

typedef dtkb_status (*render_fn)(const json_t *document, const struct render_options *options, struct buf *out);

dtkb_status render_json(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_report(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_plugins(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_plugin_check(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_search(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_issue(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_cause(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_causes(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_stats(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_taxonomy(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_kb_info(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_text_check(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_markdown(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_sarif(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_junit(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_html(const json_t *document, const struct render_options *options, struct buf *out);
dtkb_status render_github(const json_t *document, const struct render_options *options, struct buf *out);

#endif

/* What a knowledge base holds, as JSON: the study's tables, the taxonomy, the layers. */
#ifndef DTKB_KB_TABLES_H
#define DTKB_KB_TABLES_H

#include <jansson.h>

#include "kb/kb.h"

/* {totals, stages, symptoms, fix_patterns, fixes_by_symptom, topics, frameworks, sources, evidence}; counts are of issues. */
dtkb_status kb_stats(struct kb *kb, json_t **out, struct err *err);
/* {stages, fix_patterns, topics}, each with id, title, definition and what lies below. */
dtkb_status kb_taxonomy(struct kb *kb, json_t **out, struct err *err);
/* {layers: [{file, schema, counts}], causes, signatures}. */
dtkb_status kb_info(struct kb *kb, json_t **out, struct err *err);

json_t *issue_to_json(const struct issue *issue);

#endif

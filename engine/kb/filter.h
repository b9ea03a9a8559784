/* Filters of a search: values are checked, and become marks of the search index. */
#ifndef DTKB_KB_FILTER_H
#define DTKB_KB_FILTER_H

#include "kb/search.h"

/* Fills in search->marks; unknown values and filters that no issue passes are DTKB_E_NOT_FOUND, with what would be right. */
dtkb_status filter_set(const struct kb_query *query, struct search *search, struct arena *arena, struct err *err);

#endif

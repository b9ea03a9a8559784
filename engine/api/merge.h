/* Joining reports of several ranks or nodes. */
#ifndef DTKB_API_MERGE_H
#define DTKB_API_MERGE_H

#include "api/api.h"

#define SOURCE_NAME_MAX 160

/* One report to join: "rank 3 on node2", the log it read, or "report 2". */
struct source {
    const json_t *report;
    size_t position; /* as given */
    int64_t rank;    /* -1: not told */
    bool follows;    /* its best cause stands on cascade evidence only: it merely lost its peer */
    bool begins;     /* its best cause has initiating evidence or a fact */
    char name[SOURCE_NAME_MAX];
};

/* What differs between reports that should be alike: [{fact, values: [{value, count, reports}]}], the majority's value first. */
json_t *merge_differences(const struct source *sources, size_t count);

/* Who is there and who is not: {reports, world_size, ranks, without_report, missing_ranks, lost_ranks, bad_pairs, bad_ranks}. */
json_t *merge_ranks(const struct source *sources, size_t count);

/* "" where the member is no string or absent. */
const char *merge_string(const json_t *object, const char *key);

#endif

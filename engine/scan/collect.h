/* Where evidence comes together: doubles counted, caps kept, order by place in the input and not by arrival. */
#ifndef DTKB_SCAN_COLLECT_H
#define DTKB_SCAN_COLLECT_H

#include "base/err.h"
#include "scan/findings.h"

#define EVIDENCE_MAX 4096
#define PER_SIGNATURE_MAX 64 /* ranks told apart */
#define ERROR_LINES_MAX 40
#define TEXT_LINES_MAX 60
#define JOB_LINES_SURE 3
#define SHORT_LOG_LINES 300 /* one line with a word of a job makes so short a text a job's; a long one has some of anybody's words */
#define VERSIONS_MAX 128
#define FIELD_MAX 512 /* bytes of one field's value */
#define PROGRESS_TEXT 240

struct progress {
    int32_t rank;
    uint32_t file;
    uint64_t line, sequence;
    double time;
    char text[PROGRESS_TEXT];
};

struct collect {
    struct evidence *items;
    uint64_t *keys; /* of items */
    size_t count, capacity;
    uint32_t *table; /* item index + 1 by key, open addressing */
    size_t table_mask;
    uint16_t *per_signature; /* distinct ranks, grown on demand */
    size_t per_signature_count;
    size_t error_lines, text_lines;
    struct progress *progress;
    size_t progress_count;
    struct detected_version versions[VERSIONS_MAX];
    size_t version_count;
    int32_t *ranks; /* open addressing, rank + 1; 0 free */
    size_t rank_count, rank_mask;
    uint32_t world_size;
    bool training_log;  /* for certain */
    unsigned job_lines; /* that have a word of a training job; counted up to JOB_LINES_SURE */
    uint64_t dropped;
    bool failed; /* out of memory somewhere: told at the end */
    struct arena arena;
};

/* Takes a copy of what `evidence` points to unless it is known already. `key` tells occurrences apart within a kind. */
void collect_add(struct collect *collect, const struct evidence *evidence, uint64_t key);
void collect_progress(struct collect *collect, const struct evidence *evidence);
void collect_version(struct collect *collect, const char *component, const char *version, size_t length, uint32_t file, uint64_t line);
void collect_rank(struct collect *collect, int32_t rank);
/* Has this error line, but for its numbers, been taken? Then nothing is to be done. */
bool collect_full_of_errors(const struct collect *collect);

/* A copy to which more can be added without touching the original, whose strings it borrows. */
bool collect_clone(const struct collect *from, struct collect *to);
void collect_free(struct collect *collect);

/* Writes everything into `out` (whose arena owns it then), in order. */
dtkb_status collect_finish(const struct collect *collect, struct findings *out, struct err *err);

/* Hash of a text with runs of digits and hexadecimal numbers taken as equal. */
uint64_t text_key(const char *text, size_t length);

#endif

/* Reading: bytes -> lines -> evidence, in one pass over whole blocks. */
#ifndef DTKB_SCAN_SCAN_H
#define DTKB_SCAN_SCAN_H

#include "base/err.h"
#include "scan/findings.h"
#include "scan/signature.h"

/* A compiled set of signatures. Immutable, may be shared by threads. */
struct scan_db;

/* Compiles signatures (borrowed: must outlive the set). The error names the signature whose pattern is refused and why. */
dtkb_status scan_db_build(const struct signature *signatures, size_t count, struct scan_db **out, struct err *err);

/* Reads one signature alone and says why it can't be used (no fixed run of 5 characters, not linear-time, bad syntax). */
dtkb_status scan_check_signature(const struct signature *signature, struct err *err);

/* Does this signature match this line (already clean)? For samples and near misses. */
dtkb_status scan_test_signature(const struct signature *signature, const char *line, bool *matches, struct err *err);

/* The compiled form as bytes for the KB, so that a start needs no compilation. load fails with DTKB_E_UNSUPPORTED when the bytes are of
 * another version or platform of the matcher: build instead. `bytes` is malloc'ed for the caller. Same signatures, same bytes. */
dtkb_status scan_db_save(const struct scan_db *db, void **bytes, size_t *length, struct err *err);
dtkb_status scan_db_load(const void *bytes, size_t length, const struct signature *signatures, size_t count, struct scan_db **out,
                         struct err *err);
void scan_db_free(struct scan_db *db);

/* In how many lines of `text` the fixed text is that each signature is found by: added to `lines`, one number per signature. Each such
 * line costs a closer look. `*total`: the lines of the text, added. */
dtkb_status scan_count_texts(const struct scan_db *db, const char *text, size_t length, uint32_t *lines, uint64_t *total, struct err *err);

struct scan;

struct scan_options {
    unsigned threads;                                                           /* 0: as many as pay, at most 4 */
    int (*cancelled)(void *context);                                            /* may be NULL; asked every block */
    void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total); /* may be NULL; total 0 when unknown */
    void *context;
};

dtkb_status scan_new(const struct scan_db *db, const struct scan_options *options, struct scan **out, struct err *err);
/* A file, a directory (logs and dumps in it, depth-limited, sorted), an archive or a compressed file; "-" is standard input. */
dtkb_status scan_path(struct scan *scan, const char *path, struct err *err);
dtkb_status scan_fd(struct scan *scan, const char *name, int fd, struct err *err);
/* Bytes as they come; lines may be split anywhere. `name` tells the stream apart (one per rank); the same name goes on where it stopped.
 * A document (a tool's report, a dump in JSON) is read as one if it is whole when findings are asked for. */
dtkb_status scan_feed(struct scan *scan, const char *name, const void *bytes, size_t length, struct err *err);
/* Everything found so far, the unfinished last lines included. The scan can go on afterwards; `out` is the caller's. */
dtkb_status scan_findings(struct scan *scan, struct findings *out, struct err *err);
void scan_free(struct scan *scan);

#endif

/* One input stream: its lines in order, block by block, turned into evidence. */
#ifndef DTKB_SCAN_STREAM_H
#define DTKB_SCAN_STREAM_H

#include "scan/block.h"
#include "scan/collect.h"
#include "scan/observe/observe.h"
#include "scan/trace.h"

struct stream {
    const struct scan_db *db;
    uint32_t file;
    int32_t rank;        /* of the file's name */
    uint64_t newlines;   /* before the next block */
    uint64_t lines_read; /* of all blocks, an unfinished last line included */
    uint64_t next;       /* offset up to which lines have been read */
    unsigned attention;  /* lines that are read one by one from `next` on */
    bool in_long_line;   /* `next` lies within a line that is longer than we read */
    uint64_t attention_spent;
    int32_t table_rank;    /* launcher's table: the rank that the following exit code is of */
    bool table_root;       /* below "Root Cause" */
    uint16_t *tries;       /* per signature: lines read for it */
    struct traces *traces; /* NULL until needed */
    struct observer *observer;
    bool sampled; /* the line that is read is of a sample, not only one that something was found in */
    struct matching *matching;
    struct line line;
};

/* A stream's part that lives in memory of its own is made here. */
bool stream_open(struct stream *stream, const struct scan_db *db, uint32_t file, int32_t rank);
bool stream_clone(const struct stream *from, struct stream *to);
void stream_close(struct stream *stream);

/* Evidence of a signature that matched, with its named groups; `at` says where. */
void signature_found(struct collect *collect, const struct scan_db *db, uint32_t signature, const struct capture *captures, size_t count,
                     const struct evidence *at);

/* Blocks in order; `last`: nothing follows. */
void stream_block(struct stream *stream, struct collect *collect, const struct block *block, bool last);

#endif

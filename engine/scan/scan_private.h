/* Inside of struct scan: shared by the readers (files, feeds, directories, archives). */
#ifndef DTKB_SCAN_SCAN_PRIVATE_H
#define DTKB_SCAN_SCAN_PRIVATE_H

#include <sys/types.h>

#include "base/buf.h"
#include "scan/flight.h"
#include "scan/scan.h"
#include "scan/stream.h"

/* Bytes as they come, cut into blocks. */
struct feed {
    struct stream stream;
    struct block block;
    size_t filled, room; /* bytes of block.data in use, and there */
    uint64_t bytes;
    enum { FEED_NEW, FEED_PLAIN, FEED_UTF16LE, FEED_UTF16BE } form;
    unsigned char held[4]; /* of a byte order mark or a UTF-16 unit that was cut */
    size_t held_count;
    bool ended;
};

/* Fed bytes that may be a document. */
struct held {
    char *name;
    struct buf text;
};
#define HELD_MAX 64

struct scan {
    const struct scan_db *db;
    struct scan_options options;
    struct finder finder;
    struct collect collect;
    struct input_file *files; /* names are malloc'ed */
    size_t file_count, file_capacity;
    struct feed **feeds;   /* by file; NULL for files that were read whole */
    struct flight *flight; /* NULL until a dump was read */
    struct held held[HELD_MAX];
    size_t held_count, held_bytes;
};

/* silent.c: tells of the one rank that has no complaint while the others lost a peer. */
void silent_conclude(const struct input_file *files, size_t count, struct collect *collect);

/* told.c: signatures on the words of EV_DUMP and EV_OBSERVED evidence. */
void told_signatures(const struct finder *finder, struct collect *collect);

/* A new entry of files; `*file` is its index. */
dtkb_status scan_add_file(struct scan *scan, const char *name, uint32_t *file, struct err *err);
bool scan_cancelled(const struct scan *scan);
void scan_progress(struct scan *scan, uint64_t done, uint64_t total);

/* feed.c */
dtkb_status feed_open(struct scan *scan, const char *name, uint32_t *file, struct err *err);
dtkb_status feed_bytes(struct scan *scan, uint32_t file, const void *bytes, size_t length, struct err *err);
/* Everything that is held goes through; the feed is over. */
dtkb_status feed_end(struct scan *scan, uint32_t file, struct err *err);
void feed_free(struct feed *feed);
/* What feed_end would find, into `collect`; the feed stays as it is. `*lines` and `*bytes` are the totals then. */
dtkb_status feed_peek(const struct scan *scan, uint32_t file, struct collect *collect, uint64_t *lines, struct err *err);

/* held.c: `*taken` is false for bytes of what is a log. */
dtkb_status held_feed(struct scan *scan, const char *name, const void *bytes, size_t length, bool *taken, struct err *err);
/* What is held is read, as a document if it is a whole one, else as a log that goes on. */
dtkb_status held_settle(struct scan *scan, struct err *err);
void held_free(struct scan *scan);

/* parallel.c: a regular file of `size` bytes, by several threads where that pays. */
dtkb_status scan_regular(struct scan *scan, const char *name, int fd, uint64_t size, struct err *err);

/* archive.c: `first` bytes were read from `fd` already. */
dtkb_status scan_archive(struct scan *scan, const char *name, int fd, const void *first, size_t first_length, struct err *err);

/* sniff.c: what the first bytes say. */
enum content { CONTENT_TEXT, CONTENT_UTF16, CONTENT_COMPRESSED, CONTENT_PICKLE, CONTENT_BINARY };
#define SNIFF_BYTES 4096
enum content sniff(const void *bytes, size_t length);
int32_t rank_of_name(const char *path);

#endif

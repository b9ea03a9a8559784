#include "scan/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scan/document.h"
#include "scan/chronology.h"
#include "scan/scan_private.h"

#define FILES_MAX 1000000
#define PIPED_MAX ((size_t)16 << 20) /* of a document that comes through a pipe */

dtkb_status scan_new(const struct scan_db *db, const struct scan_options *options, struct scan **out, struct err *err)
{
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return err_nomem(err);
    scan->db = db;
    if (options)
        scan->options = *options;
    if (!finder_open(&scan->finder, db)) {
        free(scan);
        return err_nomem(err);
    }
    *out = scan;
    return DTKB_OK;
}

void scan_free(struct scan *scan)
{
    if (!scan)
        return;
    for (size_t i = 0; i < scan->file_count; i++) {
        feed_free(scan->feeds[i]);
        free((char *)scan->files[i].name);
    }
    free(scan->files);
    free((void *)scan->feeds);
    held_free(scan);
    flight_free(scan->flight);
    collect_free(&scan->collect);
    finder_close(&scan->finder);
    free(scan);
}

dtkb_status scan_add_file(struct scan *scan, const char *name, uint32_t *file, struct err *err)
{
    if (scan->file_count == FILES_MAX)
        return err_set(err, DTKB_E_LIMIT, "%s: more than %d files; give fewer", name, FILES_MAX);
    if (scan->file_count == scan->file_capacity) {
        size_t capacity = scan->file_capacity ? scan->file_capacity * 2 : 16;
        struct input_file *files = realloc(scan->files, capacity * sizeof *files);
        if (files)
            scan->files = files;
        struct feed **feeds = realloc((void *)scan->feeds, capacity * sizeof(struct feed *));
        if (feeds)
            scan->feeds = feeds;
        if (!files || !feeds)
            return err_nomem(err);
        scan->file_capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy)
        return err_nomem(err);
    *file = (uint32_t)scan->file_count;
    scan->files[*file] = (struct input_file){.name = copy, .rank = rank_of_name(name)};
    scan->feeds[*file] = NULL;
    scan->file_count++;
    return DTKB_OK;
}

bool scan_cancelled(const struct scan *scan)
{
    return scan->options.cancelled && scan->options.cancelled(scan->options.context);
}

void scan_progress(struct scan *scan, uint64_t done, uint64_t total)
{
    if (scan->options.progress)
        scan->options.progress(scan->options.context, done, total);
}

dtkb_status scan_feed(struct scan *scan, const char *name, const void *bytes, size_t length, struct err *err)
{
    uint32_t file = 0;
    while (file < scan->file_count && !(scan->feeds[file] && !strcmp(scan->files[file].name, name)))
        file++;
    if (file < scan->file_count)
        return feed_bytes(scan, file, bytes, length, err);
    bool taken;
    dtkb_status status = held_feed(scan, name, bytes, length, &taken, err);
    if (status == DTKB_OK && !taken)
        status = feed_open(scan, name, &file, err);
    return status == DTKB_OK && !taken ? feed_bytes(scan, file, bytes, length, err) : status;
}

static dtkb_status cannot_read(const char *name, struct err *err)
{
    return err_set(err, DTKB_E_IO, "%s: cannot be read: %s", name, strerror(errno));
}

/* A pipe, a terminal, or a file whose text has to be converted: from `first` on, as it comes. */
static dtkb_status read_stream(struct scan *scan, const char *name, int fd, const char *first, size_t length, struct err *err)
{
    uint32_t file;
    char *chunk = malloc(BLOCK_BYTES);
    dtkb_status status = chunk ? feed_open(scan, name, &file, err) : err_nomem(err);
    if (status == DTKB_OK)
        status = feed_bytes(scan, file, first, length, err);
    while (status == DTKB_OK) {
        if (scan_cancelled(scan)) {
            status = err_set(err, DTKB_E_CANCELLED, "%s: reading was cancelled", name);
            break;
        }
        ssize_t n = read(fd, chunk, BLOCK_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            status = cannot_read(name, err);
        if (n <= 0)
            break;
        status = feed_bytes(scan, file, chunk, (size_t)n, err);
        scan_progress(scan, scan->files[file].bytes, 0);
    }
    free(chunk);
    return status == DTKB_OK ? feed_end(scan, file, err) : status;
}

/* A pipe that may hold a document is read to its end first, or until it is too long for one. */
static dtkb_status read_piped(struct scan *scan, const char *name, int fd, const char *first, size_t length, struct err *err)
{
    struct buf text = {0};
    char chunk[4096];
    ssize_t n = 0;
    bool taken = false;
    buf_add(&text, first, length);
    do {
        n = read(fd, chunk, sizeof chunk);
        if (n > 0)
            buf_add(&text, chunk, (size_t)n);
    } while (!text.failed && text.length < PIPED_MAX && !scan_cancelled(scan) && (n > 0 || (n < 0 && errno == EINTR)));
    dtkb_status status = text.failed ? err_nomem(err) : n < 0 ? cannot_read(name, err) : DTKB_OK;
    if (status == DTKB_OK && text.length < PIPED_MAX)
        status = document_text(scan, name, &text, &taken, err);
    if (status == DTKB_OK && !taken)
        status = read_stream(scan, name, fd, text.data, text.length, err);
    buf_free(&text);
    return status;
}

static dtkb_status pass_over(struct scan *scan, const char *name, uint64_t bytes, struct err *err)
{
    uint32_t file = 0;
    dtkb_status status = scan_add_file(scan, name, &file, err);
    if (status == DTKB_OK) {
        scan->files[file].binary = true;
        scan->files[file].bytes = bytes;
    }
    return status;
}

/* `first`: what was read from `fd` in order to see what it is. */
static dtkb_status read_content(struct scan *scan, const char *name, int fd, const struct stat *st, const char *first, size_t length,
                                struct err *err)
{
    /* Only from its beginning is a descriptor read as a file; a shell may hand over one that was read already. */
    bool whole = S_ISREG(st->st_mode) && st->st_size > 0 && lseek(fd, 0, SEEK_CUR) == (off_t)length;
    enum content content = sniff(first, length);
    bool taken = false;
    dtkb_status status = DTKB_OK;
    if (whole && (content == CONTENT_PICKLE || (content == CONTENT_TEXT && document_may_be(first, length))))
        status = document_read(scan, name, fd, content == CONTENT_PICKLE, &taken, err);
    if (taken || status != DTKB_OK)
        return status;
    if (content == CONTENT_COMPRESSED)
        return scan_archive(scan, name, fd, first, length, err);
    if (content == CONTENT_PICKLE || content == CONTENT_BINARY)
        return pass_over(scan, name, S_ISREG(st->st_mode) ? (uint64_t)st->st_size : length, err);
    if (!whole && content == CONTENT_TEXT && document_may_be(first, length))
        return read_piped(scan, name, fd, first, length, err);
    bool marked = length >= 3 && !memcmp(first, "\xef\xbb\xbf", 3);
    if (whole && content == CONTENT_TEXT && !marked)
        return scan_regular(scan, name, fd, (uint64_t)st->st_size, err);
    return read_stream(scan, name, fd, first, length, err);
}

dtkb_status scan_fd(struct scan *scan, const char *name, int fd, struct err *err)
{
    char first[SNIFF_BYTES];
    size_t length = 0;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return cannot_read(name, err);
    while (length < sizeof first) {
        ssize_t n = read(fd, first + length, sizeof first - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot_read(name, err);
        if (n == 0)
            break;
        length += (size_t)n;
    }
    return read_content(scan, name, fd, &st, first, length, err);
}

static bool ended_well(const struct findings *findings)
{
    bool trouble = false, good_exit = false;
    for (size_t i = 0; i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (evidence->kind == EV_SIGNAL || evidence->kind == EV_DUMP || (evidence->kind == EV_EXIT && evidence->number != 0))
            return false;
        good_exit = good_exit || evidence->kind == EV_EXIT;
        trouble = trouble || evidence->kind == EV_EXCEPTION || evidence->kind == EV_ERROR_LINE;
    }
    return good_exit || !trouble;
}

static dtkb_status copy_files(const struct scan *scan, struct findings *out, struct err *err)
{
    out->files = arena_alloc(&out->arena, (scan->file_count + 1) * sizeof *out->files);
    if (!out->files)
        return err_nomem(err);
    for (size_t i = 0; i < scan->file_count; i++) {
        out->files[i] = scan->files[i];
        out->files[i].name = arena_strdup(&out->arena, scan->files[i].name);
        if (!out->files[i].name)
            return err_nomem(err);
        out->bytes += out->files[i].bytes;
    }
    out->file_count = scan->file_count;
    return DTKB_OK;
}

dtkb_status scan_findings(struct scan *scan, struct findings *out, struct err *err)
{
    struct findings findings = {0};
    struct collect collect;
    dtkb_status status = held_settle(scan, err);
    if (status != DTKB_OK)
        return status;
    if (!collect_clone(&scan->collect, &collect))
        return err_nomem(err);
    status = copy_files(scan, &findings, err);
    for (uint32_t i = 0; i < scan->file_count && status == DTKB_OK; i++) {
        if (scan->feeds[i])
            status = feed_peek(scan, i, &collect, &findings.files[i].lines, err);
        findings.lines += findings.files[i].lines;
    }
    if (status == DTKB_OK)
        flight_conclude(scan->flight, &collect);
    if (status == DTKB_OK)
        silent_conclude(findings.files, findings.file_count, &collect);
    if (status == DTKB_OK)
        told_signatures(&scan->finder, &collect);
    if (status == DTKB_OK)
        status = collect_finish(&collect, &findings, err);
    if (status == DTKB_OK)
        status = chronology_order(&findings, err);
    collect_free(&collect);
    if (status != DTKB_OK) {
        findings_free(&findings);
        return status;
    }
    findings.clean_end = ended_well(&findings);
    *out = findings;
    return DTKB_OK;
}

/* Compressed logs and archives of logs, through libarchive, as streams. An archive within an archive is read too, to a small depth. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan/document.h"
#include "scan/scan_private.h"

#define DEPTH_MAX 3
#define MEMBERS_MAX 20000
#define CHUNK ((size_t)64 << 10)
#define EXPANSION_FREE ((uint64_t)1 << 30) /* up to this many bytes any ratio is allowed */
#define EXPANSION_MAX 1000                 /* times the bytes read; beyond it is a bomb */
#define DOCUMENT_MEMBER_MAX ((size_t)16 << 20)

struct budget {
    uint64_t in, out, members;
};

/* Where an archive's bytes come from: a descriptor, or a member of another archive. */
struct input {
    int fd;
    struct archive *parent;
    const void *first; /* bytes that were read in advance */
    size_t first_length;
    char *chunk;
    struct budget *budget;
};

static la_ssize_t read_input(struct archive *archive, void *context, const void **bytes)
{
    struct input *input = context;
    if (input->first_length) {
        *bytes = input->first;
        la_ssize_t n = (la_ssize_t)input->first_length;
        input->first_length = 0;
        return n;
    }
    *bytes = input->chunk;
    if (input->parent)
        return archive_read_data(input->parent, input->chunk, CHUNK);
    ssize_t n;
    do
        n = read(input->fd, input->chunk, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        archive_set_error(archive, errno, "%s", strerror(errno));
    else
        input->budget->in += (uint64_t)n;
    return n;
}

static dtkb_status read_archive(struct scan *scan, const char *name, struct input *input, unsigned depth, struct err *err);

static dtkb_status bad_archive(struct archive *archive, const char *name, struct err *err)
{
    const char *why = archive_error_string(archive);
    return err_set(err, DTKB_E_FORMAT, "%s: damaged or not a readable archive: %s", name, why ? why : "unknown format");
}

static dtkb_status read_text(struct scan *scan, const char *name, struct archive *archive, struct input *input, const char *first,
                             size_t length, struct err *err)
{
    uint32_t file;
    dtkb_status status = feed_open(scan, name, &file, err);
    la_ssize_t n = (la_ssize_t)length;
    char *chunk = malloc(CHUNK);
    if (status == DTKB_OK && !chunk)
        status = err_nomem(err);
    const char *bytes = first;
    while (status == DTKB_OK && n > 0) {
        input->budget->out += (uint64_t)n;
        if (input->budget->out > EXPANSION_FREE && input->budget->out / EXPANSION_MAX > input->budget->in)
            status =
                err_set(err, DTKB_E_LIMIT, "%s: expands to more than %d times its size; unpack it if that is meant", name, EXPANSION_MAX);
        else if (scan_cancelled(scan))
            status = err_set(err, DTKB_E_CANCELLED, "%s: reading was cancelled", name);
        else
            status = feed_bytes(scan, file, bytes, (size_t)n, err);
        bytes = chunk;
        if (status == DTKB_OK)
            n = archive_read_data(archive, chunk, CHUNK);
        scan_progress(scan, input->budget->out, 0);
    }
    free(chunk);
    if (status == DTKB_OK && n < 0 && length == 0)
        return bad_archive(archive, name, err); /* what came before the damage is kept otherwise */
    return status == DTKB_OK ? feed_end(scan, file, err) : status;
}

/* A member that may be a document is unpacked whole first, up to the longest that one may be. */
static dtkb_status read_document(struct scan *scan, const char *name, struct archive *archive, struct input *input, const char *first,
                                 size_t length, struct err *err)
{
    struct buf text = {.maximum = DOCUMENT_MEMBER_MAX};
    char chunk[4096];
    la_ssize_t n = (la_ssize_t)length;
    bool taken = false;
    buf_add(&text, first, length);
    while (!text.failed && text.length <= DOCUMENT_MEMBER_MAX - sizeof chunk && (n = archive_read_data(archive, chunk, sizeof chunk)) > 0)
        buf_add(&text, chunk, (size_t)n);
    dtkb_status status = text.failed ? err_nomem(err) : DTKB_OK;
    if (status == DTKB_OK && n == 0)
        status = document_text(scan, name, &text, &taken, err);
    if (status == DTKB_OK && taken)
        input->budget->out += text.length;
    else if (status == DTKB_OK)
        status = read_text(scan, name, archive, input, text.data, text.length, err);
    buf_free(&text);
    return status;
}

static dtkb_status read_member(struct scan *scan, const char *name, struct archive *archive, struct input *input, unsigned depth,
                               struct err *err)
{
    char *first = malloc(SNIFF_BYTES);
    if (!first)
        return err_nomem(err);
    size_t length = 0;
    la_ssize_t n;
    while (length < SNIFF_BYTES && (n = archive_read_data(archive, first + length, SNIFF_BYTES - length)) > 0)
        length += (size_t)n;
    dtkb_status status = DTKB_OK;
    uint32_t file;
    enum content content = sniff(first, length);
    if (content == CONTENT_COMPRESSED && depth < DEPTH_MAX) {
        struct input inner = {.fd = -1, .parent = archive, .first = first, .first_length = length, .budget = input->budget};
        status = read_archive(scan, name, &inner, depth + 1, err);
    } else if (content == CONTENT_TEXT && input->budget->out < EXPANSION_FREE && document_may_be(first, length)) {
        status = read_document(scan, name, archive, input, first, length, err);
    } else if (content == CONTENT_TEXT || content == CONTENT_UTF16) {
        status = read_text(scan, name, archive, input, first, length, err);
    } else if ((status = scan_add_file(scan, name, &file, err)) == DTKB_OK) {
        scan->files[file].binary = true;
    }
    free(first);
    return status;
}

/* "ARCHIVE/member", or just the archive's name for a compressed file. */
static dtkb_status read_entry(struct scan *scan, const char *name, struct archive *archive, struct archive_entry *entry,
                              struct input *input, unsigned depth, struct err *err)
{
    if (archive_format(archive) == ARCHIVE_FORMAT_RAW)
        return read_member(scan, name, archive, input, depth, err);
    if (archive_entry_filetype(entry) != AE_IFREG)
        return DTKB_OK;
    const char *path = archive_entry_pathname(entry);
    struct buf member = {0};
    buf_addf(&member, "%s/%s", name, path ? path : "?");
    dtkb_status status = member.failed ? err_nomem(err) : read_member(scan, buf_text(&member), archive, input, depth, err);
    buf_free(&member);
    return status;
}

static dtkb_status read_archive(struct scan *scan, const char *name, struct input *input, unsigned depth, struct err *err)
{
    struct archive *archive = archive_read_new();
    input->chunk = malloc(CHUNK);
    dtkb_status status = DTKB_OK;
    if (!archive || !input->chunk) {
        status = err_nomem(err);
    } else {
        (void)archive_read_support_filter_all(archive);
        (void)archive_read_support_format_tar(archive);
        (void)archive_read_support_format_zip_streamable(archive);
        (void)archive_read_support_format_7zip(archive);
        (void)archive_read_support_format_raw(archive);
        if (archive_read_open(archive, input, NULL, read_input, NULL) != ARCHIVE_OK)
            status = bad_archive(archive, name, err);
        struct archive_entry *entry;
        int result = ARCHIVE_OK;
        while (status == DTKB_OK && (result = archive_read_next_header(archive, &entry)) >= ARCHIVE_WARN && result != ARCHIVE_EOF) {
            if (++input->budget->members > MEMBERS_MAX)
                status = err_set(err, DTKB_E_LIMIT, "%s: more than %d files in it; unpack it if that is meant", name, MEMBERS_MAX);
            else
                status = read_entry(scan, name, archive, entry, input, depth, err);
        }
        if (status == DTKB_OK && result < ARCHIVE_WARN)
            status = bad_archive(archive, name, err);
    }
    (void)archive_read_free(archive);
    free(input->chunk);
    return status;
}

dtkb_status scan_archive(struct scan *scan, const char *name, int fd, const void *first, size_t first_length, struct err *err)
{
    struct budget budget = {.in = first_length};
    struct input input = {.fd = fd, .first = first, .first_length = first_length, .budget = &budget};
    return read_archive(scan, name, &input, 1, err);
}

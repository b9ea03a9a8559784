#include "scan/document.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan/pickle.h"
#include "scan/tool.h"
#include "scan/words.h"

#define DOCUMENT_MAX ((size_t)256 << 20)

bool document_may_be(const void *first, size_t length)
{
    static const char *const keys[] = {"\"pg_config\"", "\"pg_status\"",     "\"record_id\"",       "\"py_callstack\"",
                                       "\"extraInfo\"", "\"communicators\"", "\"DCGM Diagnostic\"", "\"DCGM GPU Diagnostic\""};
    const char *p = first, *end = p + length;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    size_t left = (size_t)(end - p);
    if (left && *p == '<')
        return memmem(p, left, "<nvidia_smi_log", 15);
    bool found = false;
    for (size_t i = 0; left && *p == '{' && i < sizeof keys / sizeof *keys && !found; i++)
        found = memmem(p, left, keys[i], strlen(keys[i]));
    return found;
}

static dtkb_status read_whole(const char *name, int fd, struct buf *out, struct err *err)
{
    char chunk[65536];
    out->maximum = DOCUMENT_MAX;
    off_t offset = 0;
    ssize_t n;
    while ((n = pread(fd, chunk, sizeof chunk, offset)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, DTKB_E_IO, "%s: cannot be read: %s", name, strerror(errno));
        buf_add(out, chunk, (size_t)n);
        if (out->failed)
            return err_set(err, DTKB_E_LIMIT, "%s: a dump of more than %zu MiB is not read", name, DOCUMENT_MAX >> 20);
        offset += n;
    }
    return DTKB_OK;
}

static void first_line(char *out, size_t size, const char *text)
{
    size_t length = strcspn(text, "\r\n");
    length = length < size - 1 ? length : size - 1;
    length = line_strip(text, length, out);
    out[length] = '\0';
}

/* The innermost frame of the user's own in a traceback's text. */
static uint32_t user_frame(const char *stack, char *file, size_t size)
{
    uint32_t line = 0;
    *file = '\0';
    for (const char *p = strstr(stack, "File \""); p; p = strstr(p + 1, "File \"")) {
        const char *start = p + 6, *close = strchr(start, '"');
        char path[256];
        if (!close || (size_t)(close - start) >= sizeof path)
            continue;
        memcpy(path, start, (size_t)(close - start));
        path[close - start] = '\0';
        if (strncmp(close, "\", line ", 8) != 0 || !is_user_file(path))
            continue;
        first_line(file, size, path);
        line = (uint32_t)strtoul(close + 8, NULL, 10);
    }
    return line;
}

/* {"message": {"message": "ValueError: ..", "extraInfo": {"py_callstack": "..", "timestamp": "1700000000"}}} */
static bool read_error_file(struct scan *scan, uint32_t file, const json_t *root)
{
    const json_t *outer = json_object_get(root, "message");
    const char *message = json_string_value(json_is_object(outer) ? json_object_get(outer, "message") : outer);
    const json_t *extra = json_object_get(json_is_object(outer) ? outer : root, "extraInfo");
    if (!message || !json_is_object(extra))
        return false;
    const char *stack = json_string_value(json_object_get(extra, "py_callstack"));
    const json_t *stamp = json_object_get(extra, "timestamp");
    char text[EVIDENCE_TEXT_MAX], type_text[160] = "Exception", place[256];
    first_line(text, sizeof text, message);
    struct span type, rest = {text, strlen(text)};
    if (exception_read(text, true, &type, &rest) && type.length < sizeof type_text) {
        memcpy(type_text, type.text, type.length);
        type_text[type.length] = '\0';
    }
    uint32_t line = user_frame(stack ? stack : "", place, sizeof place);
    double time = json_is_string(stamp) ? strtod(json_string_value(stamp), NULL) : json_is_number(stamp) ? json_number_value(stamp) : NAN;
    struct evidence_field fields[] = {{"type", type_text}, {"message", rest.text}};
    struct evidence evidence = {.kind = EV_EXCEPTION,
                                .role = exception_role(type_text, rest.text),
                                .signature = SIGNATURE_NONE,
                                .file = file,
                                .sequence = (uint64_t)file << 40,
                                .rank = scan->files[file].rank,
                                .time = time > 0 && isfinite(time) ? time : (double)NAN,
                                .text = text,
                                .fields = fields,
                                .field_count = 2,
                                .source_file = *place ? place : NULL,
                                .source_line = line};
    collect_add(&scan->collect, &evidence, text_key(text, strlen(text)));
    collect_rank(&scan->collect, evidence.rank);
    scan->collect.training_log = true;
    return true;
}

/* The message's lines may hold signatures: they are read as a log under the same name. */
static dtkb_status read_message_lines(struct scan *scan, const char *name, const json_t *root, struct err *err)
{
    const json_t *outer = json_object_get(root, "message");
    const char *message = json_string_value(json_is_object(outer) ? json_object_get(outer, "message") : outer);
    uint32_t file;
    dtkb_status status = feed_open(scan, name, &file, err);
    if (status == DTKB_OK)
        status = feed_bytes(scan, file, message, strlen(message), err);
    return status == DTKB_OK ? feed_end(scan, file, err) : status;
}

/* A new input file that was one document. */
static dtkb_status add_document(struct scan *scan, const char *name, size_t bytes, uint32_t *file, struct err *err)
{
    dtkb_status status = scan_add_file(scan, name, file, err);
    if (status == DTKB_OK)
        scan->files[*file].bytes = bytes;
    return status;
}

/* As if it had never been added. */
static void drop_last(struct scan *scan)
{
    free((char *)scan->files[--scan->file_count].name);
}

static dtkb_status use_flight(struct scan *scan, const char *name, const json_t *root, size_t bytes, struct err *err)
{
    uint32_t file;
    if (!scan->flight && !(scan->flight = flight_new()))
        return err_nomem(err);
    dtkb_status status = add_document(scan, name, bytes, &file, err);
    if (status != DTKB_OK)
        return status;
    scan->files[file].rank = flight_rank_of_name(name);
    return flight_add(scan->flight, root, file, scan->files[file].rank, err);
}

static dtkb_status use_report(struct scan *scan, const char *name, const json_t *root, size_t bytes, struct err *err)
{
    struct tool_report report = {.collect = &scan->collect};
    dtkb_status status = add_document(scan, name, bytes, &report.file, err);
    if (status == DTKB_OK)
        (ras_is_report(root) ? ras_tell : dcgm_tell)(&report, root);
    return status;
}

static dtkb_status use_json(struct scan *scan, const char *name, const json_t *root, size_t bytes, bool *taken, struct err *err)
{
    uint32_t file;
    *taken = true;
    if (flight_is_dump(root))
        return use_flight(scan, name, root, bytes, err);
    if (ras_is_report(root) || dcgm_is_report(root))
        return use_report(scan, name, root, bytes, err);
    const json_t *message = json_object_get(root, "message");
    *taken = json_is_object(message) || json_object_get(root, "extraInfo");
    dtkb_status status = *taken ? add_document(scan, name, bytes, &file, err) : DTKB_OK;
    if (status != DTKB_OK || !*taken)
        return status;
    *taken = read_error_file(scan, file, root);
    if (*taken)
        return read_message_lines(scan, name, root, err);
    drop_last(scan);
    return DTKB_OK;
}

static dtkb_status use_xml(struct scan *scan, const char *name, const struct buf *text, bool *taken, struct err *err)
{
    struct tool_report report = {.collect = &scan->collect};
    dtkb_status status = add_document(scan, name, text->length, &report.file, err);
    if (status != DTKB_OK)
        return status;
    *taken = smi_tell(&report, buf_text(text), text->length);
    if (!*taken)
        drop_last(scan);
    return DTKB_OK;
}

/* NCCL 2.28 forgets commas between the members of a missing rank: each on a line of its own, one after a value. */
static json_t *load_mended(const struct buf *text)
{
    struct buf mended = {.maximum = DOCUMENT_MAX};
    const char *data = buf_text(text), *written = data, *end = data + text->length;
    if (!memmem(data, text->length, "\"communicators\"", 15))
        return NULL;
    for (const char *line = memchr(data, '\n', text->length); line; line = memchr(line + 1, '\n', (size_t)(end - line - 1))) {
        const char *last = line, *next = line + 1;
        while (last > written && strchr(" \r\t", last[-1]))
            last--;
        while (next < end && (*next == ' ' || *next == '\t'))
            next++;
        bool value = last > written && (strchr("\"}]el", last[-1]) || (last[-1] >= '0' && last[-1] <= '9'));
        if (!value || next == end || *next != '"')
            continue;
        buf_add(&mended, written, (size_t)(last - written));
        buf_addc(&mended, ',');
        written = last;
    }
    buf_add(&mended, written, (size_t)(end - written));
    json_t *root = mended.failed ? NULL : json_loadb(buf_text(&mended), mended.length, 0, NULL);
    buf_free(&mended);
    return root;
}

static dtkb_status use_text(struct scan *scan, const char *name, const struct buf *text, bool *taken, struct err *err)
{
    const char *start = buf_text(text);
    if (start[strspn(start, " \r\n\t")] == '<')
        return use_xml(scan, name, text, taken, err);
    json_t *root = json_loadb(start, text->length, 0, NULL);
    if (!root)
        root = load_mended(text);
    dtkb_status status = root ? use_json(scan, name, root, text->length, taken, err) : DTKB_OK;
    json_decref(root);
    return status;
}

static dtkb_status use_pickle(struct scan *scan, const char *name, const struct buf *bytes, bool *taken, struct err *err)
{
    json_t *root = NULL;
    dtkb_status status = pickle_read(name, bytes->data, bytes->length, &root, err);
    if (status == DTKB_OK && root)
        status = use_json(scan, name, root, bytes->length, taken, err);
    json_decref(root);
    return status;
}

dtkb_status document_text(struct scan *scan, const char *name, const struct buf *text, bool *taken, struct err *err)
{
    *taken = false;
    return use_text(scan, name, text, taken, err);
}

dtkb_status document_read(struct scan *scan, const char *name, int fd, bool pickle, bool *taken, struct err *err)
{
    struct buf whole = {0};
    *taken = false;
    dtkb_status status = read_whole(name, fd, &whole, err);
    if (status == DTKB_OK)
        status = (pickle ? use_pickle : use_text)(scan, name, &whole, taken, err);
    buf_free(&whole);
    return status;
}

#include "scan/document.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan/pickle.h"
#include "scan/words.h"

#define DOCUMENT_MAX ((size_t)256 << 20)

bool document_may_be(const void *first, size_t length)
{
    const char *p = first, *end = p + length;
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    if (p == end || *p != '{')
        return false;
    size_t left = (size_t)(end - p);
    return memmem(p, left, "\"pg_config\"", 11) || memmem(p, left, "\"pg_status\"", 11) || memmem(p, left, "\"record_id\"", 11) ||
           memmem(p, left, "\"py_callstack\"", 14) || memmem(p, left, "\"extraInfo\"", 11);
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

static dtkb_status use(struct scan *scan, const char *name, const json_t *root, size_t bytes, bool *taken, struct err *err)
{
    uint32_t file;
    dtkb_status status;
    if (flight_is_dump(root)) {
        *taken = true;
        if (!scan->flight && !(scan->flight = flight_new()))
            return err_nomem(err);
        if ((status = scan_add_file(scan, name, &file, err)) != DTKB_OK)
            return status;
        scan->files[file].bytes = bytes;
        scan->files[file].rank = flight_rank_of_name(name);
        return flight_add(scan->flight, root, file, scan->files[file].rank, err);
    }
    const json_t *message = json_object_get(root, "message");
    if (!json_is_object(message) && !json_object_get(root, "extraInfo"))
        return DTKB_OK;
    if ((status = scan_add_file(scan, name, &file, err)) != DTKB_OK)
        return status;
    scan->files[file].bytes = bytes;
    *taken = read_error_file(scan, file, root);
    if (!*taken) {
        free((char *)scan->files[file].name);
        scan->file_count--;
        return DTKB_OK;
    }
    return read_message_lines(scan, name, root, err);
}

dtkb_status document_read(struct scan *scan, const char *name, int fd, bool pickle, bool *taken, struct err *err)
{
    struct buf whole = {0};
    json_t *root = NULL;
    *taken = false;
    dtkb_status status = read_whole(name, fd, &whole, err);
    if (status == DTKB_OK && pickle)
        status = pickle_read(name, whole.data, whole.length, &root, err);
    else if (status == DTKB_OK)
        root = json_loadb(buf_text(&whole), whole.length, 0, NULL);
    if (status == DTKB_OK && root)
        status = use(scan, name, root, whole.length, taken, err);
    json_decref(root);
    buf_free(&whole);
    return status;
}

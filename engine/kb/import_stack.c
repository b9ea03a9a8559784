/* Posts.xml of a Stack Exchange dump: one <row .../> a post, questions before their answers. Read as a stream: what is kept are the study's
 * questions whose accepted answer is still to come. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libxml/xmlreader.h>

#include "kb/import.h"

#define PROGRESS_BYTES ((uint64_t)8 << 20)

/* A question that waits for its answer. */
struct waiting {
    char answer[24];
    struct imported thread;
    struct arena arena;
};
struct dump {
    struct importer *importer;
    const char *file;
    int fd;
    uint64_t bytes, told;
    bool io_failed;
    struct waiting *waiting;
    size_t waiting_count;
    int error_line;
    char error[300];
};

static int read_bytes(void *context, char *buffer, int length)
{
    struct dump *dump = context;
    ssize_t got;
    do {
        got = read(dump->fd, buffer, (size_t)length);
    } while (got < 0 && errno == EINTR);
    dump->io_failed = got < 0;
    dump->bytes += got > 0 ? (uint64_t)got : 0;
    return (int)got;
}

static void note_error(void *context, xmlErrorPtr error)
{
    struct dump *dump = context;
    if (dump->error[0] || error->level < XML_ERR_ERROR)
        return;
    dump->error_line = error->line;
    (void)snprintf(dump->error, sizeof dump->error, "%.*s", (int)strcspn(error->message ? error->message : "", "\n"),
                   error->message ? error->message : "not well-formed");
}

/* The value of an attribute of the current row in the arena, NULL when absent. */
static const char *value(xmlTextReaderPtr reader, const char *name, struct arena *arena)
{
    if (xmlTextReaderMoveToAttribute(reader, (const xmlChar *)name) != 1)
        return NULL;
    const char *copy = arena_strdup(arena, (const char *)xmlTextReaderConstValue(reader));
    (void)xmlTextReaderMoveToElement(reader);
    return copy;
}

static dtkb_status finish(struct dump *dump, size_t at, const char *answer_html, struct err *err)
{
    struct waiting *waiting = &dump->waiting[at];
    struct buf text = {0}, ignored = {0};
    bool ok = !answer_html || html_to_text(answer_html, &text, &ignored);
    waiting->thread.fix = text.length ? buf_text(&text) : NULL;
    dtkb_status status = ok ? importer_add(dump->importer, &waiting->thread, err) : err_nomem(err);
    buf_free(&text);
    buf_free(&ignored);
    arena_free(&waiting->arena);
    dump->waiting[at] = dump->waiting[--dump->waiting_count];
    return status;
}

static dtkb_status take_question(struct dump *dump, xmlTextReaderPtr reader, const char *url, struct err *err)
{
    struct waiting *grown = realloc(dump->waiting, (dump->waiting_count + 1) * sizeof *grown);
    if (!grown)
        return err_nomem(err);
    dump->waiting = grown;
    struct waiting *waiting = &dump->waiting[dump->waiting_count++];
    *waiting = (struct waiting){0};
    struct arena *arena = &waiting->arena;
    struct buf text = {0}, errors = {0};
    const char *html = value(reader, "Body", arena), *answer = value(reader, "AcceptedAnswerId", arena);
    bool ok = !html || html_to_text(html, &text, &errors);
    waiting->thread = (struct imported){.url = arena_strdup(arena, url),
                                        .source = "stackoverflow",
                                        .title = value(reader, "Title", arena),
                                        .body = arena_strdup(arena, buf_text(&text))};
    ok = ok && waiting->thread.url && waiting->thread.body &&
         split_errors(arena, buf_text(&errors), &waiting->thread.error_lines, &waiting->thread.error_line_count);
    buf_free(&text);
    buf_free(&errors);
    if (!ok)
        return err_nomem(err);
    if (!answer)
        return finish(dump, dump->waiting_count - 1, NULL, err);
    (void)snprintf(waiting->answer, sizeof waiting->answer, "%s", answer);
    return DTKB_OK;
}

static dtkb_status take_row(struct dump *dump, xmlTextReaderPtr reader, struct err *err)
{
    char id[24] = "", type[4] = "";
    if (xmlTextReaderMoveToAttribute(reader, (const xmlChar *)"Id") == 1)
        (void)snprintf(id, sizeof id, "%s", (const char *)xmlTextReaderConstValue(reader));
    if (xmlTextReaderMoveToAttribute(reader, (const xmlChar *)"PostTypeId") == 1)
        (void)snprintf(type, sizeof type, "%s", (const char *)xmlTextReaderConstValue(reader));
    (void)xmlTextReaderMoveToElement(reader);
    dtkb_status status = DTKB_OK;
    if (strcmp(type, "1") == 0) {
        char url[80];
        (void)snprintf(url, sizeof url, "https://stackoverflow.com/questions/%s", id);
        importer_count(dump->importer, dump->told, true);
        if (importer_knows(dump->importer, url))
            status = take_question(dump, reader, url, err);
    } else if (strcmp(type, "2") == 0) {
        for (size_t i = 0; i < dump->waiting_count; i++)
            if (strcmp(dump->waiting[i].answer, id) == 0) {
                struct arena arena = {0};
                status = finish(dump, i, value(reader, "Body", &arena), err);
                arena_free(&arena);
                break;
            }
    }
    return status;
}

static dtkb_status read_rows(struct dump *dump, xmlTextReaderPtr reader, struct err *err)
{
    dtkb_status status = DTKB_OK;
    int rc = 1;
    while (status == DTKB_OK && (rc = xmlTextReaderRead(reader)) == 1) {
        int type = xmlTextReaderNodeType(reader);
        if (type == XML_READER_TYPE_DOCUMENT_TYPE)
            return err_set(err, DTKB_E_FORMAT, "%s:%d: a document type declaration is not allowed", dump->file,
                           xmlTextReaderGetParserLineNumber(reader));
        if (type == XML_READER_TYPE_ELEMENT && xmlTextReaderDepth(reader) == 1 &&
            strcmp((const char *)xmlTextReaderConstLocalName(reader), "row") == 0)
            status = take_row(dump, reader, err);
        if (dump->bytes - dump->told >= PROGRESS_BYTES) {
            dump->told = dump->bytes;
            importer_count(dump->importer, dump->bytes, false);
        }
    }
    if (status == DTKB_OK && dump->io_failed)
        return err_set(err, DTKB_E_IO, "%s: cannot be read", dump->file);
    if (status == DTKB_OK && rc < 0)
        return err_set(err, DTKB_E_FORMAT, "%s:%d: %s (about %llu bytes into the file); nothing was imported", dump->file, dump->error_line,
                       dump->error, (unsigned long long)dump->bytes);
    return status;
}

dtkb_status import_stack_exchange(struct importer *importer, const char *file, struct err *err)
{
    struct dump dump = {.importer = importer, .file = file, .fd = open(file, O_RDONLY | O_CLOEXEC)};
    if (dump.fd < 0)
        return err_set(err, DTKB_E_IO, "%s: %s", file, strerror(errno));
    xmlTextReaderPtr reader = xmlReaderForIO(read_bytes, NULL, &dump, NULL, NULL, XML_PARSE_NONET | XML_PARSE_BIG_LINES);
    dtkb_status status = reader ? DTKB_OK : err_nomem(err);
    if (reader) {
        xmlTextReaderSetStructuredErrorHandler(reader, note_error, &dump);
        status = read_rows(&dump, reader, err);
    }
    xmlFreeTextReader(reader);
    close(dump.fd);
    /* Answers that are not in the dump. */
    while (status == DTKB_OK && dump.waiting_count)
        status = finish(&dump, dump.waiting_count - 1, NULL, err);
    while (dump.waiting_count)
        arena_free(&dump.waiting[--dump.waiting_count].arena);
    free(dump.waiting);
    importer_count(importer, dump.bytes, false);
    return status;
}

/* Filling a layer of the user's own from a dump: texts for rows of the study that nobody has read, and issues of other trackers. */
#ifndef DTKB_KB_IMPORT_H
#define DTKB_KB_IMPORT_H

#include "base/buf.h"
#include "kb/kb.h"

struct import_result {
    uint64_t bytes, read;   /* of the dump; questions or issues in it */
    uint64_t filled, added; /* rows of the study that got texts; other issues */
};
typedef void (*import_progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);

/* Reads a Stack Exchange Posts.xml (rows of the study only) or issues as GitHub's REST interface gives them (pages, or one object a line;
 * all of them), and writes the database LAYER, which is replaced only when all went well. kb_open() takes it as a pack. */
dtkb_status kb_import(struct kb *kb, const char *dump, const char *layer, import_progress progress, void *context,
                      struct import_result *out, struct err *err);

/* ---- inside ---- */
struct importer;
/* One thread as it was read. */
struct imported {
    const char *url, *source, *framework, *id; /* framework and id only for threads that the study lacks; NULL: such are left out */
    const char *title, *body, *fix;            /* body as text; fix NULL when none is known */
    const char **error_lines;
    size_t error_line_count;
};
/* Is the thread one of the study's? */
bool importer_knows(const struct importer *importer, const char *url);
dtkb_status importer_add(struct importer *importer, const struct imported *thread, struct err *err);
void importer_count(struct importer *importer, uint64_t bytes_done, bool thread);

dtkb_status import_stack_exchange(struct importer *importer, const char *file, struct err *err);
dtkb_status import_github(struct importer *importer, const char *file, struct err *err);

/* Text of an HTML body; lines of its code blocks that look like errors go to `errors`, one a line. False when out of memory. */
bool html_to_text(const char *html, struct buf *text, struct buf *errors);
/* Is this line of a log or paste worth keeping as an error line? */
bool looks_like_error(const char *line, size_t length);
/* Splits lines into a list in the arena, at most IMPORT_ERRORS_MAX, each at most 400 bytes. */
bool split_errors(struct arena *arena, const char *lines, const char ***list, size_t *count);
#define IMPORT_ERRORS_MAX 12

#endif

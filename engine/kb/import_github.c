/* Issues as GitHub's REST interface gives them: an array (a page), or one object or page a line. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "kb/import.h"

/* "https://github.com/OWNER/REPO/issues/N": "repo-N" and "repo". */
static bool name_of(const char *url, struct arena *arena, const char **id, const char **repo)
{
    const char *number = strrchr(url, '/');
    const char *issues = number ? strstr(url, "/issues/") : NULL;
    if (!issues || issues + 7 != number || !isdigit((unsigned char)number[1]))
        return false;
    const char *start = issues;
    while (start > url && start[-1] != '/')
        start--;
    struct buf text = {0};
    for (const char *p = start; p < issues; p++)
        buf_addc(&text, isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '-');
    *repo = arena_strdup(arena, buf_text(&text));
    buf_addf(&text, "-%.20s", number + 1);
    *id = text.failed ? NULL : arena_strdup(arena, buf_text(&text));
    buf_free(&text);
    return *id && *repo && isalnum((unsigned char)**id);
}

/* Markdown to text: lines within fences that look like errors are kept as such, the rest is prose. */
static void split_body(const char *body, struct buf *text, struct buf *errors)
{
    bool fenced = false;
    while (*body) {
        size_t length = strcspn(body, "\n");
        size_t blanks = strspn(body, " \t\r");
        if (strncmp(body + blanks, "```", 3) == 0) {
            fenced = !fenced;
        } else if (blanks < length) {
            size_t end = length;
            while (end > blanks && body[end - 1] == '\r')
                end--;
            if (looks_like_error(body + blanks, end - blanks)) {
                buf_add(errors, body + blanks, end - blanks);
                buf_addc(errors, '\n');
            }
            if (!fenced) {
                if (text->length)
                    buf_addc(text, ' ');
                buf_add(text, body + blanks, end - blanks);
            }
        }
        body += length + (body[length] == '\n');
    }
}

static dtkb_status take_issue(struct importer *importer, const json_t *tree, struct err *err)
{
    const char *url = json_string_value(json_object_get(tree, "html_url")), *title = json_string_value(json_object_get(tree, "title"));
    const char *body = json_string_value(json_object_get(tree, "body"));
    if (!url || !title || json_object_get(tree, "pull_request"))
        return DTKB_OK; /* pull requests come in the same list */
    struct arena arena = {0};
    struct buf text = {0}, errors = {0};
    struct imported thread = {.url = url, .source = "github", .title = title};
    if (!name_of(url, &arena, &thread.id, &thread.framework))
        thread.id = NULL;
    split_body(body ? body : "", &text, &errors);
    thread.body = buf_text(&text);
    bool ok = !text.failed && !errors.failed && split_errors(&arena, buf_text(&errors), &thread.error_lines, &thread.error_line_count);
    dtkb_status status = ok ? importer_add(importer, &thread, err) : err_nomem(err);
    buf_free(&text);
    buf_free(&errors);
    arena_free(&arena);
    return status;
}

static dtkb_status take(struct importer *importer, const json_t *tree, uint64_t bytes, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < json_array_size(tree) && status == DTKB_OK; i++) {
        importer_count(importer, bytes, true);
        status = take_issue(importer, json_array_get(tree, i), err);
    }
    if (json_is_object(tree)) {
        importer_count(importer, bytes, true);
        status = take_issue(importer, tree, err);
    }
    return status;
}

dtkb_status import_github(struct importer *importer, const char *file, struct err *err)
{
    FILE *stream = fopen(file, "re");
    if (!stream)
        return err_set(err, DTKB_E_IO, "%s: %s", file, strerror(errno));
    dtkb_status status = DTKB_OK;
    /* A document after the other; each ends where its brackets close, on one line or on many. */
    for (int c; status == DTKB_OK;) {
        while ((c = getc(stream)) != EOF && isspace(c))
            ;
        if (c == EOF)
            break;
        (void)ungetc(c, stream);
        json_error_t mistake = {0};
        long start = ftell(stream);
        json_t *tree = json_loadf(stream, JSON_DISABLE_EOF_CHECK, &mistake);
        if (!tree)
            status = err_set(err, DTKB_E_FORMAT, "%s: %s (line %d after byte %ld); nothing was imported", file, mistake.text, mistake.line,
                             start);
        else
            status = take(importer, tree, (uint64_t)ftell(stream), err);
        json_decref(tree);
    }
    fclose(stream);
    return status;
}

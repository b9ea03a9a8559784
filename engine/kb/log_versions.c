#include "kb/log_versions.h"

#include <stdlib.h>
#include <string.h>

#include "scan/words.h"

#define VERSIONS_MAX 16

struct reader {
    struct arena *arena;
    struct issue *issue;
    bool failed;
};

static void on_version(void *context, const char *component, const char *version, size_t length)
{
    struct reader *reader = context;
    struct issue *issue = reader->issue;
    for (size_t i = 0; i < issue->version_count; i++)
        if (strcmp(issue->versions[i].component, component) == 0)
            return;
    if (issue->version_count == VERSIONS_MAX)
        return;
    const char *copy = arena_strndup(reader->arena, version, length);
    reader->failed = reader->failed || !copy;
    if (copy) {
        issue->versions[issue->version_count].component = component;
        issue->versions[issue->version_count++].version = copy;
    }
}

dtkb_status log_versions(struct issue *issue, struct arena *arena, struct err *err)
{
    struct reader reader = {.arena = arena, .issue = issue};
    if (!issue->log || issue->version_count)
        return DTKB_OK;
    struct line *line = malloc(sizeof *line);
    issue->versions = arena_alloc(arena, VERSIONS_MAX * sizeof *issue->versions);
    if (!line || !issue->versions) {
        free(line);
        return err_nomem(err);
    }
    for (const char *at = issue->log; *at;) {
        size_t length = strcspn(at, "\n");
        line_clean(line, at, length);
        versions_read(line, on_version, &reader);
        at += length + (at[length] == '\n');
    }
    free(line);
    return reader.failed ? err_nomem(err) : DTKB_OK;
}

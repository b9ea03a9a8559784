#include "kb/study_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kb/card.h"

/* A text of the note; NULL for an empty one. */
static const char *text_of(struct arena *arena, const json_t *tree, const char *key)
{
    const char *text = json_string_value(json_object_get(tree, key));
    return text && *text ? arena_strdup(arena, text) : NULL;
}

static bool read_versions(struct arena *arena, json_t *tree, struct issue *out)
{
    const char *key;
    json_t *value;
    out->versions = arena_alloc(arena, (json_object_size(tree) + 1) * sizeof *out->versions);
    if (!out->versions)
        return false;
    json_object_foreach(tree, key, value)
    {
        const char *version = json_string_value(value);
        if (!version || !*version)
            continue;
        out->versions[out->version_count].component = arena_strdup(arena, key);
        out->versions[out->version_count++].version = arena_strdup(arena, version);
    }
    return true;
}

static bool read_note(struct arena *arena, const json_t *tree, struct study_note *out)
{
    struct issue *texts = &out->texts;
    out->url = text_of(arena, tree, "url");
    texts->evidence = text_of(arena, tree, "evidence");
    texts->title = text_of(arena, tree, "title");
    texts->summary = text_of(arena, tree, "summary");
    texts->cause = text_of(arena, tree, "cause");
    texts->fix = text_of(arena, tree, "fix");
    return out->url && texts->evidence && (strcmp(texts->evidence, "full") == 0 || strcmp(texts->evidence, "partial") == 0) &&
           strings_from_json(arena, json_object_get(tree, "signatures"), &texts->error_lines, &texts->error_line_count) &&
           strings_from_json(arena, json_object_get(tree, "components"), &texts->components, &texts->component_count) &&
           read_versions(arena, json_object_get(tree, "versions"), texts);
}

static struct study_note *append(struct study_notes *notes)
{
    if ((notes->count & (notes->count - 1)) == 0) {
        size_t capacity = notes->count ? notes->count * 2 : 1;
        struct study_note *grown = realloc(notes->notes, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        notes->notes = grown;
    }
    struct study_note *note = &notes->notes[notes->count++];
    *note = (struct study_note){0};
    return note;
}

dtkb_status study_notes_read(const char *file, struct study_notes *out, struct err *err)
{
    FILE *stream = fopen(file, "re");
    if (!stream)
        return err_set(err, DTKB_E_IO, "%s: %s", file, strerror(errno));
    struct study_notes notes = {0};
    dtkb_status status = DTKB_OK;
    char *line = NULL;
    size_t size = 0;
    unsigned number = 0;
    for (ssize_t length; status == DTKB_OK && (length = getline(&line, &size, stream)) >= 0;) {
        number++;
        if (!line[strspn(line, " \t\r\n")])
            continue;
        json_error_t mistake = {0};
        json_t *tree = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, &mistake);
        struct study_note *note = append(&notes);
        if (!note)
            status = err_nomem(err);
        else if (!tree)
            status = err_set(err, DTKB_E_FORMAT, "%s:%u: %s", file, number, mistake.text);
        else if (!read_note(&notes.arena, tree, note))
            status = err_set(err, DTKB_E_FORMAT, "%s:%u: a note needs url, evidence (full or partial), signatures, components and versions",
                             file, number);
        json_decref(tree);
    }
    free(line);
    fclose(stream);
    if (status == DTKB_OK)
        *out = notes;
    else
        study_notes_free(&notes);
    return status;
}

void study_notes_free(struct study_notes *notes)
{
    free(notes->notes);
    arena_free(&notes->arena);
    *notes = (struct study_notes){0};
}

void study_notes_apply(const struct study_notes *notes, struct issue *issue)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct issue *texts = &notes->notes[i].texts;
        if (strcmp(notes->notes[i].url, issue->url) != 0)
            continue;
        issue->evidence = texts->evidence;
        issue->title = texts->title;
        issue->summary = texts->summary;
        issue->cause = texts->cause;
        issue->fix = texts->fix;
        issue->error_lines = texts->error_lines;
        issue->error_line_count = texts->error_line_count;
        issue->components = texts->components;
        issue->component_count = texts->component_count;
        issue->versions = texts->versions;
        issue->version_count = texts->version_count;
        return;
    }
}

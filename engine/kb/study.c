/* The study's sheet and our reading notes into reviewed text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kb/build.h"
#include "kb/issue_xml.h"
#include "kb/replace.h"
#include "kb/study_notes.h"
#include "kb/taxonomy.h"
#include "kb/xlsx.h"

#define FIXES_MAX 8
#define ORIGIN "Labels: Liu et al., TOSEM 2023, doi 10.1145/3597204. Texts: see kb/NOTICE."

enum field {
    FIELD_TYPE,
    FIELD_LINK,
    FIELD_DISTRIBUTED,
    FIELD_STAGE,
    FIELD_INNER,
    FIELD_LEAF,
    FIELD_FIX,
    FIELD_TOPIC,
    FIELD_SUBTOPIC,
    FIELDS
};
static const char *const headings[FIELDS] = {"type",          "link",        "distributed-specific", "stage",    "inner-category",
                                             "leaf category", "fix pattern", "how-to topic",         "sub-topic"};

struct row {
    struct issue issue;
    const char *file; /* name of the pack it goes into */
};
struct study {
    const char *xlsx;
    struct workbook book;
    struct taxonomy taxonomy;
    struct study_notes notes;
    struct row *rows;
    size_t row_count;
    struct arena arena;
};

static int find_field(const char *heading)
{
    for (int i = 0; heading && i < FIELDS; i++)
        if (strcasecmp(headings[i], heading) == 0)
            return i;
    return -1;
}

/* ---- one row ---- */

static dtkb_status wrong(const struct study *study, unsigned row, const char *what, const char *value, struct err *err)
{
    return err_set(err, DTKB_E_FORMAT, "%s: row %u: %s: '%s'", study->xlsx, row, what, value ? value : "");
}

static const char *printed(struct study *study, const char *format, const char *a, const char *b)
{
    struct buf buf = {0};
    buf_addf(&buf, format, a, b);
    const char *copy = buf.failed ? NULL : arena_strdup(&study->arena, buf_text(&buf));
    buf_free(&buf);
    return copy;
}

/* "GitHub-horovod", "SO-tensorflow & SO-keras" into source and frameworks. */
static bool read_type(struct study *study, const char *type, struct issue *out)
{
    struct buf frameworks = {0};
    for (const char *part = type; part; part = strstr(part, " & ") ? strstr(part, " & ") + 3 : NULL) {
        const char *dash = strchr(part, '-');
        if (!dash)
            break;
        size_t length = strcspn(dash + 1, " ");
        buf_addf(&frameworks, "%s%.*s", frameworks.length ? " " : "", (int)length, dash + 1);
    }
    out->source = strncmp(type, "GitHub-", 7) == 0 ? "github" : strncmp(type, "SO-", 3) == 0 ? "stackoverflow" : NULL;
    out->framework = frameworks.length ? arena_strdup(&study->arena, buf_text(&frameworks)) : NULL;
    buf_free(&frameworks);
    return out->source && out->framework;
}

/* The row's id: of its thread, with a number from the second row of the thread on. */
static const char *row_id(struct study *study, const struct issue *issue)
{
    const char *number = strrchr(issue->url, '/');
    if (!number || !number[1] || number[1 + strspn(number + 1, "0123456789")])
        return NULL;
    const char *thread = printed(study, "%s-%s", strcmp(issue->source, "github") == 0 ? issue->framework : "so", number + 1);
    unsigned earlier = 0;
    for (size_t i = 0; i < study->row_count; i++)
        earlier += strcmp(study->rows[i].issue.url, issue->url) == 0;
    if (!earlier || !thread)
        return thread;
    char suffix[16];
    (void)snprintf(suffix, sizeof suffix, "%u", earlier + 1);
    return printed(study, "%s.%s", thread, suffix);
}

static const char *file_of(struct study *study, const struct issue *issue)
{
    char framework[64];
    (void)snprintf(framework, sizeof framework, "%.*s", (int)strcspn(issue->framework, " "), issue->framework);
    if (strcmp(issue->source, "stackoverflow") == 0)
        return printed(study, "stackoverflow-%s%s", framework, "");
    if (strcmp(framework, "horovod") == 0) /* half of the study: one file each for faults and questions */
        return strcmp(issue->kind, "fault") == 0 ? "horovod-fault" : "horovod-howto";
    return printed(study, "%s%s", framework, "");
}

static dtkb_status label_fault(struct study *study, const char *const cells[FIELDS], unsigned number, struct issue *out, struct err *err)
{
    const struct taxonomy *taxonomy = &study->taxonomy;
    const struct label *stage = cells[FIELD_STAGE] ? taxonomy_by_spelling(taxonomy, LABEL_STAGE, NULL, NULL, cells[FIELD_STAGE]) : NULL;
    if (!stage)
        return wrong(study, number, "unknown stage", cells[FIELD_STAGE], err);
    const struct label *symptom =
        cells[FIELD_LEAF] ? taxonomy_by_spelling(taxonomy, LABEL_SYMPTOM, stage->id, cells[FIELD_INNER], cells[FIELD_LEAF]) : NULL;
    if (!symptom)
        return wrong(study, number, "unknown symptom", cells[FIELD_LEAF], err);
    const struct label *fixes[FIXES_MAX];
    size_t count = cells[FIELD_FIX] ? taxonomy_fixes(taxonomy, cells[FIELD_FIX], fixes, FIXES_MAX) : 0;
    if (cells[FIELD_FIX] && !count)
        return wrong(study, number, "unknown fix pattern", cells[FIELD_FIX], err);
    out->kind = "fault";
    out->symptom = symptom->id;
    out->raw_fix = cells[FIELD_FIX];
    out->raw_label = cells[FIELD_INNER] ? printed(study, "%s > %s", cells[FIELD_STAGE], cells[FIELD_INNER]) : cells[FIELD_STAGE];
    out->raw_label = out->raw_label ? printed(study, "%s > %s", out->raw_label, cells[FIELD_LEAF]) : NULL;
    out->distributed = cells[FIELD_DISTRIBUTED] ? strcmp(cells[FIELD_DISTRIBUTED], "1") == 0 : -1;
    out->fixes = arena_alloc(&study->arena, (count + 1) * sizeof *out->fixes);
    if (!out->raw_label || !out->fixes)
        return err_nomem(err);
    for (size_t i = 0; i < count; i++)
        out->fixes[out->fix_count++] = fixes[i]->id;
    return DTKB_OK;
}

static dtkb_status label_question(struct study *study, const char *const cells[FIELDS], unsigned number, struct issue *out, struct err *err)
{
    const struct taxonomy *taxonomy = &study->taxonomy;
    const struct label *topic = taxonomy_by_spelling(taxonomy, LABEL_TOPIC, NULL, NULL, cells[FIELD_TOPIC]), *below = topic;
    if (!topic)
        return wrong(study, number, "unknown topic", cells[FIELD_TOPIC], err);
    if (cells[FIELD_SUBTOPIC])
        below = taxonomy_by_spelling(taxonomy, LABEL_SUBTOPIC, topic->id, NULL, cells[FIELD_SUBTOPIC]);
    if (!below)
        return wrong(study, number, "unknown sub-topic", cells[FIELD_SUBTOPIC], err);
    out->kind = "how-to";
    out->topic = below->id;
    out->distributed = -1;
    out->raw_label = cells[FIELD_SUBTOPIC] ? printed(study, "%s > %s", cells[FIELD_TOPIC], cells[FIELD_SUBTOPIC]) : cells[FIELD_TOPIC];
    return out->raw_label ? DTKB_OK : err_nomem(err);
}

static dtkb_status add_row(struct study *study, const char *const cells[FIELDS], unsigned number, struct err *err)
{
    struct row *row = &study->rows[study->row_count];
    struct issue *issue = &row->issue;
    *row = (struct row){0};
    if (!cells[FIELD_LINK])
        return wrong(study, number, "no link here or above", NULL, err);
    if (!cells[FIELD_TYPE] || !read_type(study, cells[FIELD_TYPE], issue))
        return wrong(study, number, "unknown type", cells[FIELD_TYPE], err);
    issue->url = cells[FIELD_LINK];
    issue->evidence = "labels-only";
    if (!(issue->id = row_id(study, issue)))
        return wrong(study, number, "the link does not end with a number", issue->url, err);
    dtkb_status status =
        cells[FIELD_TOPIC] ? label_question(study, cells, number, issue, err) : label_fault(study, cells, number, issue, err);
    if (status == DTKB_OK) {
        study_notes_apply(&study->notes, issue);
        row->file = file_of(study, issue);
        if (!row->file)
            return err_nomem(err);
        study->row_count++;
    }
    return status;
}

/* ---- sheets ---- */

static dtkb_status read_sheet(struct study *study, const struct sheet *sheet, struct err *err)
{
    int fields[SHEET_COLUMNS];
    bool has_link = false;
    for (size_t column = 0; column < SHEET_COLUMNS; column++) {
        fields[column] = sheet->row_count ? find_field(sheet->rows[0].cells[column]) : -1;
        has_link = has_link || fields[column] == FIELD_LINK;
    }
    if (!has_link)
        return err_set(err, DTKB_E_FORMAT, "%s: a sheet's first row has no heading 'Link'", study->xlsx);
    const char *type = NULL, *link = NULL;
    dtkb_status status = DTKB_OK;
    for (size_t i = 1; i < sheet->row_count && status == DTKB_OK; i++) {
        const char *cells[FIELDS] = {0};
        bool empty = true;
        for (size_t column = 0; column < SHEET_COLUMNS; column++)
            if (fields[column] >= 0 && sheet->rows[i].cells[column]) {
                cells[fields[column]] = sheet->rows[i].cells[column];
                empty = false;
            }
        if (empty)
            continue;
        /* Merged cells: the thread of the row above has another fault. */
        type = cells[FIELD_TYPE] ? cells[FIELD_TYPE] : type;
        link = cells[FIELD_LINK] ? cells[FIELD_LINK] : link;
        cells[FIELD_TYPE] = type;
        cells[FIELD_LINK] = link;
        status = add_row(study, cells, sheet->rows[i].number, err);
    }
    return status;
}

/* ---- writing ---- */

static dtkb_status write_file(const char *path, const struct buf *text, struct err *err)
{
    struct replacement replacement = {0};
    dtkb_status status = text->failed ? err_nomem(err) : replacement_begin(&replacement, path, err);
    if (status != DTKB_OK)
        return status;
    FILE *stream = fopen(replacement.temporary, "we");
    bool ok = stream && fwrite(buf_text(text), 1, text->length, stream) == text->length;
    if (stream && fclose(stream) != 0)
        ok = false;
    if (!ok)
        status = err_set(err, DTKB_E_IO, "%s cannot be written: %s", path, strerror(errno));
    return replacement_end(&replacement, status, err);
}

static dtkb_status write_pack(const struct study *study, const char *file, const char *folder, struct err *err)
{
    struct buf text = {0}, path = {0}, title = {0}, id = {0};
    buf_addf(&path, "%s/%s.xml", folder, file);
    buf_addf(&title, "Issues of the study: %s", file);
    buf_addf(&id, "study-%s", file);
    issue_xml_begin(&text, buf_text(&id), buf_text(&title), ORIGIN);
    for (size_t i = 0; i < study->row_count; i++)
        if (strcmp(study->rows[i].file, file) == 0) /* NOLINT(clang-analyzer-core.NonNullParamChecker): always set */
            issue_xml_add(&text, &study->rows[i].issue);
    issue_xml_end(&text);
    dtkb_status status = path.failed || title.failed || id.failed ? err_nomem(err) : write_file(buf_text(&path), &text, err);
    buf_free(&text);
    buf_free(&path);
    buf_free(&title);
    buf_free(&id);
    return status;
}

static dtkb_status write_packs(const struct study *study, const char *folder, struct err *err)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return err_set(err, DTKB_E_IO, "%s: %s", folder, strerror(errno));
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < study->row_count && status == DTKB_OK; i++) {
        bool written = false;
        for (size_t j = 0; j < i && !written; j++)
            written = strcmp(study->rows[j].file, study->rows[i].file) == 0;
        if (!written)
            status = write_pack(study, study->rows[i].file, folder, err);
    }
    return status;
}

dtkb_status kb_import_study(const char *xlsx, const char *notes, const char *taxonomy, const char *folder, struct err *err)
{
    struct study study = {.xlsx = xlsx};
    dtkb_status status = taxonomy_read(taxonomy, &study.taxonomy, err);
    if (status == DTKB_OK)
        status = xlsx_read(xlsx, &study.book, err);
    if (status == DTKB_OK && notes)
        status = study_notes_read(notes, &study.notes, err);
    size_t capacity = 0;
    for (size_t i = 0; i < study.book.sheet_count; i++)
        capacity += study.book.sheets[i].row_count;
    if (status == DTKB_OK && !(study.rows = calloc(capacity + 1, sizeof *study.rows)))
        status = err_nomem(err);
    for (size_t i = 0; i < study.book.sheet_count && status == DTKB_OK; i++)
        status = read_sheet(&study, &study.book.sheets[i], err);
    if (status == DTKB_OK)
        status = write_packs(&study, folder, err);
    free(study.rows);
    study_notes_free(&study.notes);
    xlsx_free(&study.book);
    taxonomy_free(&study.taxonomy);
    arena_free(&study.arena);
    return status;
}

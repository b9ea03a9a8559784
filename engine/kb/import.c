#include "kb/import.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kb/kb_private.h"
#include "kb/replace.h"
#include "kb/store.h"

#define SUMMARY_MAX 800
#define FIX_MAX 1200

struct study_row {
    char *url, *id;
};
struct importer {
    struct kb *kb;
    struct store *store;
    struct study_row *rows; /* sorted by URL */
    size_t row_count;
    struct import_result result;
    import_progress progress;
    void *context;
    uint64_t total;
};

/* ---- the study's rows ---- */

static int by_url(const void *left, const void *right)
{
    const struct study_row *a = left, *b = right;
    int order = strcmp(a->url, b->url);
    return order ? order : strcmp(a->id, b->id);
}

static dtkb_status read_rows(struct importer *importer, struct err *err)
{
    struct layer *base = &importer->kb->layers[0];
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(base, "SELECT url, id FROM issue WHERE evidence = 'labels-only'", &statement, err);
    while (status == DTKB_OK && layer_step(base, statement, &status, err)) {
        const char *url = (const char *)sqlite3_column_text(statement, 0), *id = (const char *)sqlite3_column_text(statement, 1);
        struct study_row *grown = realloc(importer->rows, (importer->row_count + 1) * sizeof *grown);
        if (grown)
            importer->rows = grown;
        struct study_row row = {url ? strdup(url) : NULL, id ? strdup(id) : NULL};
        if (!grown || !row.url || !row.id) {
            free(row.url);
            free(row.id);
            status = err_nomem(err);
            break;
        }
        importer->rows[importer->row_count++] = row;
    }
    sqlite3_finalize(statement);
    if (importer->row_count)
        qsort(importer->rows, importer->row_count, sizeof *importer->rows, by_url);
    return status;
}

/* The first row of a thread; row_count when the study lacks it or somebody has read it. */
static size_t first_row(const struct importer *importer, const char *url)
{
    size_t low = 0, high = importer->row_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(importer->rows[middle].url, url) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < importer->row_count && strcmp(importer->rows[low].url, url) == 0 ? low : importer->row_count;
}

bool importer_knows(const struct importer *importer, const char *url)
{
    return first_row(importer, url) < importer->row_count;
}

/* ---- proposals ---- */

/* The likeliest label, and how likely, as the report of the import shows it. */
static dtkb_status propose_label(struct importer *importer, const char *text, enum label_task task, struct arena *arena, const char **label,
                                 const char **said, struct err *err)
{
    struct guesses guesses;
    dtkb_status status = kb_classify(importer->kb, text, task, &guesses, err);
    if (status != DTKB_OK || !guesses.count)
        return status;
    char percent[40];
    sqlite3_snprintf(sizeof percent, percent, "proposed (%d %%)", (int)(100 * guesses.list[0].share + 0.5));
    *label = guesses.list[0].label;
    *said = arena_strdup(arena, percent);
    return *said ? DTKB_OK : err_nomem(err);
}

/* What the words of the thread are most like. */
static dtkb_status propose(struct importer *importer, const struct imported *thread, struct arena *arena, struct issue *out,
                           struct err *err)
{
    struct buf text = {0};
    const char *fix = NULL;
    buf_addf(&text, "%s\n", thread->title ? thread->title : "");
    for (size_t i = 0; i < thread->error_line_count; i++)
        buf_addf(&text, "%s\n", thread->error_lines[i]);
    dtkb_status status = text.failed ? err_nomem(err) : DTKB_OK;
    if (status == DTKB_OK)
        status = propose_label(importer, buf_text(&text), TASK_SYMPTOM, arena, &out->symptom, &out->raw_label, err);
    if (status == DTKB_OK)
        status = propose_label(importer, buf_text(&text), TASK_FIX, arena, &fix, &out->raw_fix, err);
    buf_free(&text);
    out->fixes = arena_alloc(arena, sizeof *out->fixes);
    if (status == DTKB_OK && !out->fixes)
        status = err_nomem(err);
    if (status == DTKB_OK && fix)
        out->fixes[out->fix_count++] = fix;
    return status;
}

/* ---- adding ---- */

/* Writes one issue; a thread that comes twice in a dump counts once. */
static dtkb_status write_issue(struct importer *importer, const struct issue *issue, uint64_t *counter, struct err *err)
{
    struct err why = {0};
    dtkb_status status = store_add_issue(importer->store, issue, &why);
    if (status == DTKB_E_FORMAT)
        return DTKB_OK;
    *counter += status == DTKB_OK;
    return status == DTKB_OK ? status : err_set(err, status, "%s", why.text);
}

/* A beginning of the text of at most `max` bytes, cut at a blank and never within a character. */
static const char *beginning(struct arena *arena, const char *text, size_t max)
{
    if (!text || !*text)
        return NULL;
    size_t length = strnlen(text, max + 1);
    if (length <= max)
        return arena_strdup(arena, text);
    size_t cut = max;
    while (cut > max / 2 && text[cut] != ' ')
        cut--;
    while (cut && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    char *copy = arena_alloc(arena, cut + 5);
    if (copy) {
        memcpy(copy, text, cut);
        memcpy(copy + cut, " ...", 5);
    }
    return copy;
}

static void set_texts(const struct imported *thread, struct arena *arena, struct issue *out)
{
    out->evidence = "imported";
    out->title = thread->title;
    out->summary = beginning(arena, thread->body, SUMMARY_MAX);
    out->fix = beginning(arena, thread->fix, FIX_MAX);
    out->cause = NULL;
    out->error_lines = thread->error_lines;
    out->error_line_count = thread->error_line_count;
}

dtkb_status importer_add(struct importer *importer, const struct imported *thread, struct err *err)
{
    struct arena arena = {0};
    struct issue issue;
    dtkb_status status = DTKB_OK;
    size_t row = first_row(importer, thread->url);
    /* A thread of the study that somebody has read needs no proposals. */
    bool known = row < importer->row_count || kb_issue_by_id(importer->kb, thread->url, &arena, &issue, NULL) == DTKB_OK;
    if (!known && thread->id) {
        issue = (struct issue){.id = thread->id,
                               .url = thread->url,
                               .source = thread->source,
                               .framework = thread->framework,
                               .kind = "fault",
                               .distributed = -1};
        status = propose(importer, thread, &arena, &issue, err);
        if (status == DTKB_OK) {
            set_texts(thread, &arena, &issue);
            status = write_issue(importer, &issue, &importer->result.added, err);
        }
    }
    for (; status == DTKB_OK && row < importer->row_count && strcmp(importer->rows[row].url, thread->url) == 0; row++) {
        status = kb_issue_by_id(importer->kb, importer->rows[row].id, &arena, &issue, err);
        if (status == DTKB_OK) {
            set_texts(thread, &arena, &issue);
            status = write_issue(importer, &issue, &importer->result.filled, err);
        }
    }
    arena_free(&arena);
    return status;
}

void importer_count(struct importer *importer, uint64_t bytes_done, bool thread)
{
    importer->result.read += thread;
    importer->result.bytes = bytes_done;
    if (importer->progress)
        importer->progress(importer->context, bytes_done, importer->total);
}

/* ---- the whole ---- */

static const char *title_of(void *context, const char *id)
{
    return kb_label_title(context, id);
}

static bool is_xml(const char *file)
{
    size_t length = strlen(file);
    return length > 4 && strcasecmp(file + length - 4, ".xml") == 0;
}

static void close_importer(struct importer *importer)
{
    store_free(importer->store);
    for (size_t i = 0; i < importer->row_count; i++) {
        free(importer->rows[i].url);
        free(importer->rows[i].id);
    }
    free(importer->rows);
}

dtkb_status kb_import(struct kb *kb, const char *dump, const char *layer, import_progress progress, void *context,
                      struct import_result *out, struct err *err)
{
    struct importer importer = {.kb = kb, .progress = progress, .context = context};
    struct replacement replacement = {0};
    struct stat info;
    sqlite3 *db = NULL;
    importer.total = stat(dump, &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    dtkb_status status = read_rows(&importer, err);
    if (status == DTKB_OK)
        status = replacement_begin(&replacement, layer, err);
    if (status == DTKB_OK)
        status = store_create_file(replacement.temporary, &db, err);
    if (status == DTKB_OK)
        status = store_begin(db, title_of, kb, &importer.store, err);
    if (status == DTKB_OK)
        status = is_xml(dump) ? import_stack_exchange(&importer, dump, err) : import_github(&importer, dump, err);
    if (status == DTKB_OK && !importer.result.filled && !importer.result.added)
        status = err_set(err, DTKB_E_NOT_FOUND, "%s: nothing to import in it (%llu threads read)", dump,
                         (unsigned long long)importer.result.read);
    if (status == DTKB_OK)
        status = store_finish(importer.store, err);
    close_importer(&importer);
    sqlite3_close(db);
    status = replacement_end(&replacement, status, err);
    if (status == DTKB_OK)
        *out = importer.result;
    return status;
}

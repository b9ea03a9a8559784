#include "kb/filter.h"

#include <string.h>

#include "base/buf.h"
#include "kb/indexer.h"
#include "kb/kb_private.h"

#define LISTED_MAX 12

/* How many issues carry the mark, in all layers. */
static dtkb_status count_marked(struct kb *kb, const char *key, uint64_t *issues, struct err *err)
{
    *issues = 0;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++) {
        uint64_t here = 0;
        status = match_count(&kb->layers[i], key, strlen(key), &here, err);
        *issues += here;
    }
    return status;
}

/* Letters to change, put in or leave out to get from one word to the other. */
static size_t distance(const char *left, const char *right)
{
    size_t row[128];
    size_t width = strlen(right);
    if (width >= sizeof row / sizeof row[0])
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; left[i]; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; j++) {
            size_t change = corner + (left[i] != right[j]);
            corner = row[j + 1];
            size_t shortest = change < row[j] + 1 ? change : row[j] + 1;
            row[j + 1] = shortest < corner + 1 ? shortest : corner + 1;
        }
    }
    return row[width];
}

/* The values there are: all of a short list, else the one most like the wrong one. */
static void add_known(struct kb *kb, const char *name, const char *wrong, struct buf *out)
{
    struct buf listed = {0};
    char nearest[128] = "", from[64], to[64];
    size_t count = 0, least = SIZE_MAX;
    sqlite3_snprintf(sizeof from, from, MARK_PREFIX "%s=", name);
    sqlite3_snprintf(sizeof to, to, MARK_PREFIX "%s>", name);
    sqlite3_stmt *statement = NULL;
    struct layer *base = &kb->layers[0];
    dtkb_status status = layer_prepare(base, "SELECT word FROM term WHERE word > ?1 AND word < ?2 ORDER BY word", &statement, NULL);
    if (status == DTKB_OK) {
        sqlite3_bind_blob(statement, 1, from, (int)strlen(from), SQLITE_STATIC);
        sqlite3_bind_blob(statement, 2, to, (int)strlen(to), SQLITE_STATIC);
    }
    while (status == DTKB_OK && layer_step(base, statement, &status, NULL)) {
        const char *word = (const char *)sqlite3_column_text(statement, 0);
        if (!word || strlen(word) <= strlen(from))
            continue;
        const char *value = word + strlen(from);
        size_t far = distance(wrong, value);
        if (far < least && strlen(value) < sizeof nearest) {
            least = far;
            memcpy(nearest, value, strlen(value) + 1);
        }
        if (count++ < LISTED_MAX)
            buf_addf(&listed, "%s%s", count > 1 ? ", " : "", value);
    }
    sqlite3_finalize(statement);
    if (count && count <= LISTED_MAX)
        buf_addf(out, "; there are: %s", buf_text(&listed));
    else if (least <= strlen(wrong) / 2)
        buf_addf(out, "; did you mean '%s'?", nearest);
    else
        buf_adds(out, "; 'dtkb taxonomy' lists them");
    buf_free(&listed);
}

static dtkb_status unknown(struct kb *kb, const char *name, const char *value, struct err *err)
{
    struct buf hint = {0};
    add_known(kb, name, value, &hint);
    dtkb_status status = err_set(err, DTKB_E_NOT_FOUND, "no issue has the %s '%.100s'%s", name, value, buf_text(&hint));
    buf_free(&hint);
    return status;
}

/* A symptom may be given without its stage where that is plain. */
static const char *whole_symptom(struct kb *kb, const char *value)
{
    const char *found = NULL;
    if (strchr(value, '/') || kb_need_labels(kb, NULL) != DTKB_OK)
        return value;
    for (size_t i = 0; i < kb->label_count; i++) {
        const char *leaf = strcmp(kb->labels[i].kind, "symptom") == 0 ? strchr(kb->labels[i].id, '/') : NULL;
        if (!leaf || strcmp(leaf + 1, value) != 0)
            continue;
        if (found)
            return value;
        found = kb->labels[i].id;
    }
    return found ? found : value;
}

static dtkb_status add_mark(struct search *search, const char *name, const char *value, struct arena *arena, struct err *err)
{
    struct buf key = {.maximum = 512};
    buf_addf(&key, MARK_PREFIX "%s=%s", name, value);
    const char *copy = key.failed ? NULL : arena_strdup(arena, buf_text(&key));
    buf_free(&key);
    uint64_t issues = 0;
    dtkb_status status = copy ? count_marked(search->kb, copy, &issues, err) : DTKB_OK;
    if (status == DTKB_OK && !issues)
        status = unknown(search->kb, name, value, err);
    if (status == DTKB_OK)
        search->marks[search->mark_count++] = copy;
    return status;
}

/* Filters that are right one by one can still shut each other out. */
static dtkb_status check_together(const struct search *search, struct err *err)
{
    static const struct query nothing;
    struct search_hit hit;
    struct best best = {&hit, 0, 1};
    struct search probe = *search;
    probe.query = &nothing;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < search->kb->layer_count && status == DTKB_OK && !best.count; i++)
        status = match_layer(&probe, &search->kb->layers[i], &best, err);
    if (status == DTKB_OK && !best.count)
        status = err_set(err, DTKB_E_NOT_FOUND, "no issue fits all the filters together; leave one out");
    return status;
}

dtkb_status filter_set(const struct kb_query *query, struct search *search, struct arena *arena, struct err *err)
{
    const struct {
        const char *name, *value;
    } filters[] = {{"framework", query->framework},
                   {"stage", query->stage},
                   {"symptom", query->symptom},
                   {"fix", query->fix},
                   {"kind", query->kind},
                   {"source", query->source},
                   {"failure", query->failures ? "yes" : NULL}};
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0] && status == DTKB_OK; i++) {
        const char *value = filters[i].value;
        if (value && strcmp(filters[i].name, "symptom") == 0)
            value = whole_symptom(search->kb, value);
        if (value)
            status = add_mark(search, filters[i].name, value, arena, err);
    }
    if (status == DTKB_OK && search->mark_count > 1)
        status = check_together(search, err);
    return status;
}

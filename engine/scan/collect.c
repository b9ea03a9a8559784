#include "scan/collect.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX ((size_t)1 << 20)
#define PROGRESS_MAX 4096

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t text_key(const char *text, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        bool starts = isdigit(c) && (i == 0 || !isalpha((unsigned char)text[i - 1]));
        if (starts) {
            while (i < length && (isxdigit((unsigned char)text[i]) || text[i] == 'x' || text[i] == '.'))
                i++;
            hash = mix(hash, '0');
        } else if (isdigit(c)) {
            while (i < length && isdigit((unsigned char)text[i]))
                i++;
            hash = mix(hash, '0');
        } else {
            hash = mix(hash, c);
            i++;
        }
    }
    return hash;
}

static bool grow(struct collect *collect)
{
    if (collect->count < collect->capacity)
        return true;
    size_t capacity = collect->capacity ? collect->capacity * 2 : 64;
    struct evidence *items = realloc(collect->items, capacity * sizeof *items);
    if (items)
        collect->items = items;
    uint64_t *keys = realloc(collect->keys, capacity * sizeof *keys);
    if (keys)
        collect->keys = keys;
    uint32_t *table = calloc(capacity * 4, sizeof *table);
    if (!items || !keys || !table) {
        free(table);
        collect->failed = true;
        return false;
    }
    free(collect->table);
    collect->table = table;
    collect->table_mask = capacity * 4 - 1;
    collect->capacity = capacity;
    for (size_t i = 0; i < collect->count; i++) {
        size_t slot = collect->keys[i] & collect->table_mask;
        while (table[slot])
            slot = (slot + 1) & collect->table_mask;
        table[slot] = (uint32_t)i + 1;
    }
    return true;
}

/* Fields and strings of `from` into the arena. */
static bool copy_evidence(struct arena *arena, const struct evidence *from, struct evidence *to)
{
    *to = *from;
    size_t length = from->text ? strlen(from->text) : 0;
    if (length > EVIDENCE_TEXT_MAX) {
        for (length = EVIDENCE_TEXT_MAX; length && ((unsigned char)from->text[length] & 0xc0) == 0x80;)
            length--;
    }
    to->text = arena_strndup(arena, from->text ? from->text : "", length);
    to->source_file = from->source_file ? arena_strdup(arena, from->source_file) : NULL;
    struct evidence_field *fields = from->field_count ? arena_alloc(arena, from->field_count * sizeof *fields) : NULL;
    if (!to->text || (from->source_file && !to->source_file) || (from->field_count && !fields))
        return false;
    for (size_t i = 0; i < from->field_count; i++) {
        fields[i].name = arena_strdup(arena, from->fields[i].name);
        fields[i].value = arena_strdup(arena, from->fields[i].value);
        if (!fields[i].name || !fields[i].value)
            return false;
    }
    to->fields = fields;
    return true;
}

/* Is there room for one more of its kind? */
static bool within_caps(struct collect *collect, const struct evidence *evidence)
{
    if (collect->count >= EVIDENCE_MAX)
        return false;
    if (evidence->kind == EV_ERROR_LINE)
        return collect->error_lines < ERROR_LINES_MAX;
    if (evidence->kind != EV_SIGNATURE)
        return true;
    if (evidence->signature >= collect->per_signature_count) {
        size_t count = (size_t)evidence->signature + 256;
        uint16_t *more = realloc(collect->per_signature, count * sizeof *more);
        if (!more) {
            collect->failed = true;
            return false;
        }
        memset(more + collect->per_signature_count, 0, (count - collect->per_signature_count) * sizeof *more);
        collect->per_signature = more;
        collect->per_signature_count = count;
    }
    return collect->per_signature[evidence->signature] < PER_SIGNATURE_MAX;
}

void collect_add(struct collect *collect, const struct evidence *evidence, uint64_t key)
{
    key = mix(mix(mix(key, (uint64_t)evidence->kind), (uint64_t)(int64_t)evidence->rank), evidence->signature);
    if (!grow(collect))
        return;
    size_t slot = key & collect->table_mask;
    for (; collect->table[slot]; slot = (slot + 1) & collect->table_mask) {
        size_t index = collect->table[slot] - 1;
        if (collect->keys[index] != key)
            continue;
        struct evidence *known = &collect->items[index];
        known->count++;
        if (evidence->sequence < known->sequence) { /* an earlier file whose bytes came later */
            uint64_t count = known->count;
            struct evidence copy;
            if (!copy_evidence(&collect->arena, evidence, &copy)) {
                collect->failed = true;
                return;
            }
            *known = copy;
            known->count = count;
        }
        return;
    }
    if (!within_caps(collect, evidence)) {
        collect->dropped++;
        return;
    }
    struct evidence *item = &collect->items[collect->count];
    if (!copy_evidence(&collect->arena, evidence, item)) {
        collect->failed = true;
        return;
    }
    item->count = 1;
    collect->keys[collect->count] = key;
    collect->table[slot] = (uint32_t)++collect->count;
    if (evidence->kind == EV_ERROR_LINE)
        collect->error_lines++;
    else if (evidence->kind == EV_TEXT)
        collect->text_lines++;
    else if (evidence->kind == EV_SIGNATURE)
        collect->per_signature[evidence->signature]++;
}

void collect_progress(struct collect *collect, const struct evidence *evidence)
{
    size_t i = 0;
    while (i < collect->progress_count && (collect->progress[i].rank != evidence->rank || collect->progress[i].file != evidence->file))
        i++;
    if (i == collect->progress_count) {
        if (i == PROGRESS_MAX)
            return;
        if ((i & (i - 1)) == 0) {
            struct progress *more = realloc(collect->progress, (i ? i * 2 : 1) * sizeof *more);
            if (!more) {
                collect->failed = true;
                return;
            }
            collect->progress = more;
        }
        collect->progress_count++;
    }
    struct progress *progress = &collect->progress[i];
    size_t length = strlen(evidence->text);
    if (length >= PROGRESS_TEXT)
        for (length = PROGRESS_TEXT - 1; length && ((unsigned char)evidence->text[length] & 0xc0) == 0x80;)
            length--;
    *progress = (struct progress){
        .rank = evidence->rank, .file = evidence->file, .line = evidence->line, .sequence = evidence->sequence, .time = evidence->time};
    memcpy(progress->text, evidence->text, length);
}

void collect_version(struct collect *collect, const char *component, const char *version, size_t length, uint32_t file, uint64_t line)
{
    for (size_t i = 0; i < collect->version_count; i++)
        if (!strcmp(collect->versions[i].component, component) && strlen(collect->versions[i].version) == length &&
            !memcmp(collect->versions[i].version, version, length))
            return;
    if (collect->version_count == VERSIONS_MAX)
        return;
    const char *copy = arena_strndup(&collect->arena, version, length);
    if (copy)
        collect->versions[collect->version_count++] =
            (struct detected_version){.component = component, .version = copy, .file = file, .line = line};
    else
        collect->failed = true;
}

static bool add_rank(int32_t *ranks, size_t mask, int32_t rank)
{
    size_t slot = ((uint32_t)rank * UINT32_C(2654435761)) & mask;
    while (ranks[slot] && ranks[slot] != rank + 1)
        slot = (slot + 1) & mask;
    bool added = !ranks[slot];
    ranks[slot] = rank + 1;
    return added;
}

void collect_rank(struct collect *collect, int32_t rank)
{
    if (rank < 0 || rank == INT32_MAX)
        return;
    if (!collect->ranks || collect->rank_count * 2 > collect->rank_mask) {
        size_t size = collect->ranks ? (collect->rank_mask + 1) * 2 : 64;
        int32_t *ranks = size <= RANKS_MAX ? calloc(size, sizeof *ranks) : NULL;
        if (!ranks)
            return;
        for (size_t i = 0; collect->ranks && i <= collect->rank_mask; i++)
            if (collect->ranks[i])
                (void)add_rank(ranks, size - 1, collect->ranks[i] - 1);
        free(collect->ranks);
        collect->ranks = ranks;
        collect->rank_mask = size - 1;
    }
    collect->rank_count += add_rank(collect->ranks, collect->rank_mask, rank);
}

bool collect_full_of_errors(const struct collect *collect)
{
    return collect->error_lines >= ERROR_LINES_MAX;
}

static void *copy_array(const void *from, size_t size, bool *ok)
{
    void *copy = size ? malloc(size) : NULL;
    if (copy)
        memcpy(copy, from, size);
    *ok = *ok && (copy || !size);
    return copy;
}

bool collect_clone(const struct collect *from, struct collect *to)
{
    bool ok = true;
    *to = *from;
    to->arena = (struct arena){0};
    to->items = copy_array(from->items, from->capacity * sizeof *from->items, &ok);
    to->keys = copy_array(from->keys, from->capacity * sizeof *from->keys, &ok);
    to->table = copy_array(from->table, from->table ? (from->table_mask + 1) * sizeof *from->table : 0, &ok);
    to->per_signature = copy_array(from->per_signature, from->per_signature_count * sizeof *from->per_signature, &ok);
    size_t room = 1;
    while (room < from->progress_count)
        room *= 2;
    to->progress = copy_array(from->progress, from->progress_count ? room * sizeof *from->progress : 0, &ok);
    to->ranks = copy_array(from->ranks, from->ranks ? (from->rank_mask + 1) * sizeof *from->ranks : 0, &ok);
    if (!ok)
        collect_free(to);
    return ok;
}

void collect_free(struct collect *collect)
{
    free(collect->items);
    free(collect->keys);
    free(collect->table);
    free(collect->per_signature);
    free(collect->progress);
    free(collect->ranks);
    arena_free(&collect->arena);
    *collect = (struct collect){0};
}

static int by_sequence(const void *left, const void *right)
{
    const struct evidence *l = left, *r = right;
    if (l->sequence != r->sequence)
        return l->sequence < r->sequence ? -1 : 1;
    if (l->kind != r->kind)
        return l->kind < r->kind ? -1 : 1;
    if (l->signature != r->signature)
        return l->signature < r->signature ? -1 : 1;
    return (l->rank > r->rank) - (l->rank < r->rank);
}

static dtkb_status copy_out(const struct collect *collect, struct findings *out, struct err *err)
{
    size_t count = collect->count + collect->progress_count;
    out->evidence = arena_alloc(&out->arena, (count + 1) * sizeof *out->evidence);
    out->versions = arena_alloc(&out->arena, (collect->version_count + 1) * sizeof *out->versions);
    if (!out->evidence || !out->versions)
        return err_nomem(err);
    for (size_t i = 0; i < collect->count; i++)
        if (!copy_evidence(&out->arena, &collect->items[i], &out->evidence[out->evidence_count++]))
            return err_nomem(err);
    for (size_t i = 0; i < collect->progress_count; i++) {
        const struct progress *progress = &collect->progress[i];
        struct evidence evidence = {.kind = EV_PROGRESS,
                                    .signature = SIGNATURE_NONE,
                                    .file = progress->file,
                                    .line = progress->line,
                                    .sequence = progress->sequence,
                                    .rank = progress->rank,
                                    .time = progress->time,
                                    .count = 1,
                                    .text = progress->text};
        if (!copy_evidence(&out->arena, &evidence, &out->evidence[out->evidence_count++]))
            return err_nomem(err);
    }
    for (size_t i = 0; i < collect->version_count; i++) {
        struct detected_version *version = &out->versions[out->version_count++];
        *version = collect->versions[i];
        version->component = arena_strdup(&out->arena, version->component);
        version->version = arena_strdup(&out->arena, version->version);
        if (!version->component || !version->version)
            return err_nomem(err);
    }
    return DTKB_OK;
}

dtkb_status collect_finish(const struct collect *collect, struct findings *out, struct err *err)
{
    if (collect->failed)
        return err_nomem(err);
    dtkb_status status = copy_out(collect, out, err);
    if (status != DTKB_OK)
        return status;
    qsort(out->evidence, out->evidence_count, sizeof *out->evidence, by_sequence);
    out->ranks_seen = (uint32_t)collect->rank_count;
    out->world_size = collect->world_size;
    out->training_log = collect->training_log || (collect->job_lines && out->lines <= SHORT_LOG_LINES);
    out->matches_dropped = collect->dropped;
    return DTKB_OK;
}

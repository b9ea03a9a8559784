#include "scan/db.h"

#include <stdlib.h>
#include <string.h>

#include "scan/anchor.h"
#include "scan/literal.h"
#include "scan/rarity.h"

static dtkb_status no_literal(const struct signature *signature, struct err *err)
{
    return err_set(err, DTKB_E_FORMAT,
                   "signature \"%s\": no fixed run of %d characters or more that every match has in \"%s\"; add literal text",
                   signature->id, LITERAL_MIN, signature->pattern);
}

static bool literals_of(const struct signature *signature, struct arena *arena, struct literal_set *out, const struct need **need)
{
    *need = NULL;
    return signature->is_regex ? literal_of_regex(signature->pattern, signature->ignore_case, arena, out, need)
                               : literal_of_text(signature->pattern, signature->ignore_case, arena, out);
}

dtkb_status scan_check_signature(const struct signature *signature, struct err *err)
{
    struct arena arena = {0};
    struct literal_set set;
    const struct need *need;
    dtkb_status status = expression_check(signature, err);
    if (status == DTKB_OK && !literals_of(signature, &arena, &set, &need))
        status = no_literal(signature, err);
    arena_free(&arena);
    return status;
}

static dtkb_status add_literal(struct scan_db *db, const struct db_literal *literal)
{
    if (db->literal_count == db->literal_capacity) {
        size_t capacity = db->literal_capacity ? db->literal_capacity * 2 : 512;
        struct db_literal *more = realloc(db->literals, capacity * sizeof *more);
        if (!more)
            return DTKB_E_NOMEM;
        db->literals = more;
        db->literal_capacity = capacity;
    }
    db->literals[db->literal_count++] = *literal;
    return DTKB_OK;
}

static size_t window_of(const char *text)
{
    return literal_best_window(text, strlen(text));
}

dtkb_status db_add_anchors(struct scan_db *db)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < anchor_count && status == DTKB_OK; i++)
        status = add_literal(db, &(struct db_literal){.text = anchors[i].text,
                                                      .length = (uint32_t)strlen(anchors[i].text),
                                                      .owner = (uint32_t)i,
                                                      .window = (uint8_t)window_of(anchors[i].text),
                                                      .anchor = true,
                                                      .ignore_case = true});
    return status;
}

dtkb_status db_add_literal(struct scan_db *db, const char *text, uint32_t signature, size_t window, bool ignore_case)
{
    return add_literal(
        db, &(struct db_literal){
                .text = text, .length = (uint32_t)strlen(text), .owner = signature, .window = (uint8_t)window, .ignore_case = ignore_case});
}

/* The signature's literals, copied, and its guard, at the end of `words`. */
static dtkb_status collect_signature(struct scan_db *db, uint32_t index, struct arena *scratch, uint32_t *guard, struct buf *words,
                                     struct err *err)
{
    struct literal_set set;
    const struct need *need;
    if (!literals_of(&db->signatures[index], scratch, &set, &need))
        return no_literal(&db->signatures[index], err);
    for (size_t k = 0; k < set.count; k++) {
        const char *text = arena_strdup(&db->arena, set.text[k]);
        if (!text || db_add_literal(db, text, index, window_of(text), set.ignore_case) != DTKB_OK)
            return err_nomem(err);
    }
    size_t start = words->length;
    *guard = guard_write(need, words) ? (uint32_t)(start / sizeof(uint16_t)) : GUARD_NONE;
    return words->failed ? err_nomem(err) : DTKB_OK;
}

static dtkb_status collect_literals(struct scan_db *db, struct err *err)
{
    struct buf words = {0};
    uint32_t *guards = arena_alloc(&db->arena, (db->signature_count + 1) * sizeof *guards);
    dtkb_status status = guards && db_add_anchors(db) == DTKB_OK ? DTKB_OK : err_nomem(err);
    for (uint32_t i = 0; i < db->signature_count && status == DTKB_OK; i++) {
        struct arena scratch = {0};
        status = collect_signature(db, i, &scratch, &guards[i], &words, err);
        arena_free(&scratch);
    }
    void *copy = status == DTKB_OK ? arena_alloc(&db->arena, words.length + 1) : NULL;
    if (copy && words.length)
        memcpy(copy, words.data, words.length);
    db->guards = guards;
    db->guard_words = copy;
    db->guard_count = words.length / sizeof(uint16_t);
    buf_free(&words);
    return status == DTKB_OK && !copy ? err_nomem(err) : status;
}

bool db_admits(const struct scan_db *db, uint32_t signature, const struct pairs *pairs)
{
    uint32_t guard = db->guards[signature];
    return guard == GUARD_NONE || guard_admits(db->guard_words + guard, pairs);
}

bool db_is_anchored(const struct scan_db *db, uint32_t signature)
{
    return db->anchored[signature];
}

/* ^ and $ outside of a class, \A and the like. Cleaning changes where a line begins and takes blanks off its end; tabs become spaces. */
static bool depends_on_edges(const struct signature *signature)
{
    const char *p = signature->pattern;
    if (!signature->is_regex)
        return strchr(p, '\t') != NULL;
    for (; *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
            if (strchr("AGzZt", *p))
                return true;
        } else if (*p == '$' || (*p == '^' && (p == signature->pattern || p[-1] != '['))) {
            return true;
        }
    }
    return false;
}

dtkb_status db_prepare(struct scan_db *db, struct err *err)
{
    const char **texts = malloc(db->literal_count * sizeof *texts);
    uint8_t *windows = malloc(db->literal_count);
    db->matchers = calloc(db->signature_count + 1, sizeof *db->matchers);
    db->anchored = calloc(db->signature_count + 1, sizeof *db->anchored);
    for (size_t i = 0; db->anchored && i < db->signature_count; i++)
        db->anchored[i] = depends_on_edges(&db->signatures[i]);
    if (texts && windows) {
        for (size_t i = 0; i < db->literal_count; i++) {
            texts[i] = db->literals[i].text;
            windows[i] = db->literals[i].window;
        }
        db->filter = filter_new(texts, windows, db->literal_count);
    }
    free(windows);
    free(texts);
    return db->filter && db->matchers && db->anchored ? DTKB_OK : err_nomem(err);
}

/* For every x86-64 or every aarch64 machine, not just for this one: the bytes go into a knowledge base that travels. */
static dtkb_status compile_literals(struct scan_db *db, struct err *err)
{
    size_t count = db->literal_count;
    const char **texts = malloc(count * sizeof *texts);
    unsigned *flags = malloc(count * sizeof *flags), *ids = malloc(count * sizeof *ids);
    size_t *lengths = malloc(count * sizeof *lengths);
    dtkb_status status = DTKB_OK;
    if (texts && flags && ids && lengths) {
        for (size_t i = 0; i < count; i++) {
            texts[i] = db->literals[i].text;
            lengths[i] = db->literals[i].length;
            flags[i] = db->literals[i].ignore_case ? HS_FLAG_CASELESS : 0;
            ids[i] = (unsigned)i;
        }
        hs_platform_info_t any_cpu = {0};
        hs_compile_error_t *why = NULL;
        if (hs_compile_lit_multi(texts, flags, ids, lengths, (unsigned)count, HS_MODE_BLOCK, &any_cpu, &db->hs, &why) != HS_SUCCESS) {
            status = err_set(err, DTKB_E_FORMAT, "the signatures' literals could not be compiled: %s", why ? why->message : "no memory");
            if (why)
                (void)hs_free_compile_error(why);
        }
    } else {
        status = err_nomem(err);
    }
    free(texts);
    free(flags);
    free(ids);
    free(lengths);
    return status;
}

dtkb_status scan_db_build(const struct signature *signatures, size_t count, struct scan_db **out, struct err *err)
{
    struct scan_db *db = calloc(1, sizeof *db);
    if (!db)
        return err_nomem(err);
    db->signatures = signatures;
    db->signature_count = count;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < count && status == DTKB_OK; i++)
        status = expression_check(&signatures[i], err);
    if (status == DTKB_OK)
        status = collect_literals(db, err);
    if (status == DTKB_OK)
        status = compile_literals(db, err);
    if (status == DTKB_OK)
        status = db_prepare(db, err);
    if (status == DTKB_OK)
        *out = db;
    else
        scan_db_free(db);
    return status;
}

void scan_db_free(struct scan_db *db)
{
    if (!db)
        return;
    matchers_free(db->matchers, db->signature_count);
    filter_free(db->filter);
    (void)hs_free_database(db->hs);
    free(db->anchored);
    free(db->literals);
    arena_free(&db->arena);
    free(db);
}

dtkb_status scan_test_signature(const struct signature *signature, const char *line, bool *matches, struct err *err)
{
    struct matcher *_Atomic slot = NULL;
    struct scan_db one = {.signatures = signature, .signature_count = 1, .matchers = &slot};
    dtkb_status status = scan_check_signature(signature, err);
    if (status != DTKB_OK)
        return status;
    struct matching *matching = matching_new();
    if (!matching)
        return err_nomem(err);
    *matches = db_matches(&one, 0, matching, line, strlen(line), NULL, NULL);
    matching_free(matching);
    matcher_free(slot);
    return DTKB_OK;
}

/* Regular expressions of signatures: proven to be linear-time by Hyperscan, run on single lines by PCRE2 for their named fields. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "scan/db.h"

#define MATCH_LIMIT 200000
#define HEAP_LIMIT_KIB 2048

#define USES_BEFORE_JIT 32 /* compiling to machine code pays only for expressions in frequent use */

struct matcher {
    pcre2_code *code;
    pcre2_code *_Atomic fast; /* the same as machine code, NULL before frequent use */
    atomic_uint uses;
    unsigned name_count, name_entry_size;
    PCRE2_SPTR names;
};

struct matching {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

struct matching *matching_new(void)
{
    struct matching *matching = calloc(1, sizeof *matching);
    if (!matching)
        return NULL;
    matching->data = pcre2_match_data_create(64, NULL);
    matching->context = pcre2_match_context_create(NULL);
    if (!matching->data || !matching->context) {
        matching_free(matching);
        return NULL;
    }
    pcre2_set_match_limit(matching->context, MATCH_LIMIT);
    pcre2_set_depth_limit(matching->context, MATCH_LIMIT);
    pcre2_set_heap_limit(matching->context, HEAP_LIMIT_KIB);
    return matching;
}

void matching_free(struct matching *matching)
{
    if (!matching)
        return;
    pcre2_match_data_free(matching->data);
    pcre2_match_context_free(matching->context);
    free(matching);
}

static pcre2_code *compile(const struct signature *signature, struct err *err)
{
    int code;
    PCRE2_SIZE offset;
    uint32_t flags = PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C | (signature->ignore_case ? PCRE2_CASELESS : 0);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)signature->pattern, PCRE2_ZERO_TERMINATED, flags, &code, &offset, NULL);
    if (!compiled) {
        char why[160];
        (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        err_set(err, DTKB_E_FORMAT, "signature \"%s\": %s at character %zu of \"%s\"", signature->id, why, (size_t)offset,
                signature->pattern);
    }
    return compiled;
}

void matcher_free(struct matcher *matcher)
{
    if (matcher) {
        pcre2_code_free(matcher->code);
        pcre2_code_free(matcher->fast);
    }
    free(matcher);
}

static struct matcher *matcher_new(const struct signature *signature)
{
    struct matcher *matcher = calloc(1, sizeof *matcher);
    if (!matcher || !(matcher->code = compile(signature, NULL))) {
        free(matcher);
        return NULL;
    }
    (void)pcre2_pattern_info(matcher->code, PCRE2_INFO_NAMECOUNT, &matcher->name_count);
    (void)pcre2_pattern_info(matcher->code, PCRE2_INFO_NAMEENTRYSIZE, &matcher->name_entry_size);
    (void)pcre2_pattern_info(matcher->code, PCRE2_INFO_NAMETABLE, &matcher->names);
    return matcher;
}

/* The signature's matcher, compiled by whichever thread comes first. */
static struct matcher *matcher_of(const struct scan_db *db, uint32_t signature)
{
    struct matcher *matcher = atomic_load(&db->matchers[signature]);
    if (matcher)
        return matcher;
    struct matcher *mine = matcher_new(&db->signatures[signature]), *none = NULL;
    if (!mine)
        return NULL;
    if (atomic_compare_exchange_strong(&db->matchers[signature], &none, mine))
        return mine;
    matcher_free(mine);
    return none;
}

void matchers_free(struct matcher *_Atomic *matchers, size_t count)
{
    for (size_t i = 0; matchers && i < count; i++)
        matcher_free(matchers[i]);
    free((void *)matchers);
}

/* A copy is made into machine code: the first may be running in other threads. */
static const pcre2_code *code_of(struct matcher *matcher, const struct signature *signature)
{
    pcre2_code *fast = atomic_load_explicit(&matcher->fast, memory_order_acquire);
    if (fast)
        return fast;
    if (atomic_fetch_add_explicit(&matcher->uses, 1, memory_order_relaxed) != USES_BEFORE_JIT)
        return matcher->code;
    fast = compile(signature, NULL);
    if (!fast)
        return matcher->code;
    (void)pcre2_jit_compile(fast, PCRE2_JIT_COMPLETE); /* where there is no such compiler, it works as it is */
    atomic_store_explicit(&matcher->fast, fast, memory_order_release);
    return fast;
}

static void read_captures(const struct matcher *matcher, const struct matching *matching, const char *line, struct capture *captures,
                          size_t *count)
{
    PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(matching->data);
    for (unsigned i = 0; i < matcher->name_count && *count < CAPTURES_MAX; i++) {
        PCRE2_SPTR entry = matcher->names + (size_t)i * matcher->name_entry_size;
        unsigned group = (unsigned)(entry[0] << 8 | entry[1]);
        if (group >= pcre2_get_ovector_count(matching->data) || bounds[2 * group] == PCRE2_UNSET)
            continue;
        captures[(*count)++] = (struct capture){
            .name = (const char *)entry + 2, .value = line + bounds[2 * group], .length = bounds[2 * group + 1] - bounds[2 * group]};
    }
}

bool db_matches(const struct scan_db *db, uint32_t signature, struct matching *matching, const char *line, size_t length,
                struct capture *captures, size_t *capture_count)
{
    const struct signature *wanted = &db->signatures[signature];
    if (captures)
        *capture_count = 0;
    if (!wanted->is_regex) {
        if (!wanted->ignore_case)
            return memmem(line, length, wanted->pattern, strlen(wanted->pattern)) != NULL;
        size_t size = strlen(wanted->pattern);
        for (size_t i = 0; i + size <= length; i++)
            if (!strncasecmp(line + i, wanted->pattern, size))
                return true;
        return false;
    }
    struct matcher *matcher = matcher_of(db, signature);
    if (!matcher)
        return false;
    const pcre2_code *code = code_of(matcher, wanted);
    int found = pcre2_match(code, (PCRE2_SPTR)line, length, 0, 0, matching->data, matching->context);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match(code, (PCRE2_SPTR)line, length, 0, PCRE2_NO_JIT, matching->data, matching->context);
    if (found < 0)
        return false;
    if (captures)
        read_captures(matcher, matching, line, captures, capture_count);
    return true;
}

/* The proof of linear time: Hyperscan builds automata only; what it cannot express it refuses. */
static dtkb_status check_linear(const struct signature *signature, struct err *err)
{
    hs_compile_error_t *why = NULL;
    hs_expr_info_t *info = NULL;
    unsigned flags = HS_FLAG_ALLOWEMPTY | (signature->ignore_case ? HS_FLAG_CASELESS : 0);
    if (hs_expression_info(signature->pattern, flags, &info, &why) != HS_SUCCESS) {
        dtkb_status status =
            err_set(err, DTKB_E_FORMAT,
                    "signature \"%s\": not an expression of the linear-time subset (no back-references, no look-around): %s "
                    "in \"%s\"",
                    signature->id, why ? why->message : "refused", signature->pattern);
        if (why)
            (void)hs_free_compile_error(why);
        return status;
    }
    free(info); /* allocated with the library's default allocator, malloc */
    return DTKB_OK;
}

dtkb_status expression_check(const struct signature *signature, struct err *err)
{
    if (!signature->is_regex)
        return DTKB_OK;
    pcre2_code *code = compile(signature, err);
    if (!code)
        return DTKB_E_FORMAT;
    pcre2_code_free(code);
    return check_linear(signature, err);
}

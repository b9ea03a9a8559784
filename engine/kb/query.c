/* Taking a query apart: words with their parts, phrases, fields, exclusions. */
#include "kb/search.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "kb/indexer.h"
#include "kb/tokenizer.h"

#define PART_SHARE 0.5

/* ---- words ---- */

static bool all_in(const char *token, size_t length, const char *set)
{
    for (size_t i = 0; i < length; i++)
        if (!memchr(set, token[i], strlen(set)))
            return false;
    return true;
}

static size_t count_of(const char *token, size_t length, char c)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += token[i] == c;
    return count;
}

/* Numbers that are different in every run: addresses, ids, times, IP addresses. */
static bool is_volatile(const char *token, size_t length)
{
    static const char digits[] = "0123456789", hex[] = "0123456789abcdef";
    if (length >= 7 && token[0] == '0' && token[1] == 'x' && all_in(token + 2, length - 2, hex))
        return true;
    if (length >= 5 && all_in(token, length, digits))
        return true;
    if (length >= 12 && all_in(token, length, hex) && !all_in(token, length, "abcdef"))
        return true;
    if (!all_in(token, length, "0123456789.:-/+t"))
        return false;
    return count_of(token, length, ':') || count_of(token, length, '-') || count_of(token, length, '/') ||
           count_of(token, length, '.') == 3;
}

static bool is_common(const char *token, size_t length)
{
    static const char *const words[] = {"a",    "an",    "and",   "are",   "as",   "at",   "be",   "but", "by",   "can",
                                        "do",   "does",  "for",   "from",  "has",  "have", "how",  "i",   "if",   "in",
                                        "is",   "it",    "its",   "me",    "my",   "not",  "of",   "on",  "or",   "so",
                                        "that", "the",   "then",  "there", "this", "to",   "was",  "we",  "were", "what",
                                        "when", "where", "which", "while", "why",  "will", "with", "you", "your"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], token, length) == 0)
            return true;
    return false;
}

struct taker {
    struct query *query;
    unsigned words;
    bool failed;
};

static int take(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    (void)start;
    (void)end;
    struct taker *taker = context;
    struct query *query = taker->query;
    taker->words += !part;
    double share = part ? PART_SHARE : 1;
    for (size_t i = 0; i < query->term_count; i++) {
        struct query_term *known = &query->terms[i];
        if (known->length == length && memcmp(known->token, token, length) == 0) {
            known->share = share > known->share ? share : known->share;
            return 0;
        }
    }
    if (query->term_count == QUERY_TERMS_MAX)
        return 1;
    const char *copy = arena_strndup(&query->arena, token, length);
    if (!copy) {
        taker->failed = true;
        return 1;
    }
    bool number = all_in(token, length, "0123456789");
    query->terms[query->term_count++] = (struct query_term){copy, length, taker->words, part, number || is_common(token, length), share};
    return 0;
}

static bool add_words(struct taker *taker, const char *text, size_t length)
{
    (void)tokenize(text, length, take, taker);
    return !taker->failed;
}

/* Leaves out what changes from run to run, with its parts ("12:04:31" and 12, 04, 31), unless nothing else is there. */
static void drop_volatile(struct query *query)
{
    size_t kept = 0;
    unsigned dropped = 0; /* number of a word; they count from 1 */
    for (size_t i = 0; i < query->term_count; i++) {
        struct query_term term = query->terms[i];
        bool leaves = is_volatile(term.token, term.length);
        dropped = leaves && !term.part ? term.word : dropped;
        if (leaves || (term.part && term.word == dropped))
            continue;
        query->terms[i] = query->terms[kept];
        query->terms[kept++] = term;
    }
    query->term_count = kept ? kept : query->term_count;
}

/* ---- phrases, fields, exclusions ---- */

static int see(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    (void)token;
    (void)length;
    (void)start;
    (void)end;
    (void)part;
    *(bool *)context = true;
    return 1;
}

/* Adds `column : "text"` to the clauses; nothing when there is no word in it. */
static bool add_clause(struct query *query, int column, const char *text, size_t length, bool without)
{
    bool has_word = false;
    (void)tokenize(text, length, see, &has_word);
    if (!has_word || query->clause_count == QUERY_CLAUSES_MAX)
        return true;
    struct buf expression = {0};
    if (column >= 0)
        buf_addf(&expression, "%s : ", column_names[column]);
    buf_addc(&expression, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            buf_addc(&expression, '"');
        buf_addc(&expression, text[i] ? text[i] : ' ');
    }
    buf_addc(&expression, '"');
    const char *copy = expression.failed ? NULL : arena_strdup(&query->arena, buf_text(&expression));
    buf_free(&expression);
    if (!copy)
        return false;
    query->clauses[query->clause_count++] = (struct query_clause){copy, without};
    return true;
}

/* The column that `text` names before a colon, -1 for none; `skip` gets the length of the prefix. */
static int field_of(const char *text, size_t length, size_t *skip)
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        size_t name = strlen(column_names[column]);
        if (length > name + 1 && strncasecmp(text, column_names[column], name) == 0 && text[name] == ':' &&
            !isspace((unsigned char)text[name + 1]) && text[name + 1] != ':') {
            *skip = name + 1;
            return column;
        }
    }
    *skip = 0;
    return -1;
}

/* Reads one piece at the start of a word; returns how many bytes it took, 0 when memory is short. */
static size_t read_piece(struct taker *taker, const char *text, size_t length)
{
    size_t at = 0, skip;
    bool without = length > 1 && text[0] == '-' && (isalpha((unsigned char)text[1]) || text[1] == '"' || text[1] == '_');
    at += without;
    int column = field_of(text + at, length - at, &skip);
    at += skip;
    const char *closing = at < length && text[at] == '"' ? memchr(text + at + 1, '"', length - at - 1) : NULL;
    if (closing) {
        const char *phrase = text + at + 1;
        size_t size = (size_t)(closing - phrase);
        bool ok = add_clause(taker->query, column, phrase, size, without) && (without || add_words(taker, phrase, size));
        return ok ? (size_t)(closing - text) + 1 : 0;
    }
    size_t end = at;
    while (end < length && !isspace((unsigned char)text[end]) && (text[end] != '"' || end == at))
        end++;
    bool ok = true;
    if (without || column >= 0)
        ok = add_clause(taker->query, column, text + at, end - at, without);
    if (!without)
        ok = ok && add_words(taker, text + at, end - at);
    return ok ? (end ? end : 1) : 0;
}

dtkb_status query_parse(const char *text, bool plain, struct query *out, struct err *err)
{
    *out = (struct query){0};
    struct taker taker = {.query = out};
    size_t length = text ? strnlen(text, QUERY_TEXT_MAX) : 0;
    bool ok = true;
    if (plain) {
        ok = add_words(&taker, text, length);
    } else {
        for (size_t i = 0; i < length && ok;) {
            if (isspace((unsigned char)text[i])) {
                i++;
                continue;
            }
            size_t taken = read_piece(&taker, text + i, length - i);
            ok = taken > 0;
            i += taken;
        }
    }
    if (!ok) {
        query_free(out);
        return err_nomem(err);
    }
    drop_volatile(out);
    return DTKB_OK;
}

void query_free(struct query *query)
{
    arena_free(&query->arena);
}

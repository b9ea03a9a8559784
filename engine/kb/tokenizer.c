#include "kb/tokenizer.h"

#include <string.h>

/* ---- characters ---- */

enum class { SEPARATOR, LOWER, UPPER, DIGIT, UNDERSCORE, OTHER_LETTER, IDEOGRAPH };

static bool separates(unsigned code)
{
    return code < 0xaa || code == 0xab || code == 0xbb || (code >= 0x2000 && code <= 0x206f) || (code >= 0x20a0 && code <= 0x2bff) ||
           (code >= 0x3000 && code <= 0x303f) || (code >= 0xe000 && code <= 0xf8ff) || code == 0xfeff ||
           (code >= 0xff00 && code <= 0xff0f) || (code >= 0xfff0 && code <= 0xffff);
}

static bool is_ideograph(unsigned code)
{
    return (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) ||
           (code >= 0x20000 && code <= 0x3ffff);
}

/* Bytes of the character at `text`, and its class. Malformed UTF-8 is a separator of one byte. */
static size_t classify(const unsigned char *text, size_t length, enum class *class)
{
    unsigned char c = text[0];
    if (c < 0x80) {
        *class = c >= 'a' && c <= 'z'   ? LOWER
                 : c >= 'A' && c <= 'Z' ? UPPER
                 : c >= '0' && c <= '9' ? DIGIT
                 : c == '_'             ? UNDERSCORE
                                        : SEPARATOR;
        return 1;
    }
    *class = SEPARATOR;
    size_t size = c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
    if (!size || size > length)
        return 1;
    unsigned code = size == 2 ? c & 0x1f : size == 3 ? c & 0x0f : c & 0x07;
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 1;
        code = code << 6 | (text[i] & 0x3f);
    }
    if ((size == 3 && code < 0x800) || (size == 4 && code < 0x10000) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 1;
    *class = separates(code) ? SEPARATOR : is_ideograph(code) ? IDEOGRAPH : OTHER_LETTER;
    return size;
}

/* Lower case of one character in place: ASCII, Latin-1, Greek and Cyrillic, whose pairs keep their length. */
static void fold(unsigned char *c, size_t size)
{
    if (size == 1 && *c >= 'A' && *c <= 'Z')
        *c = (unsigned char)(*c + 32);
    if (size != 2)
        return;
    unsigned code = (unsigned)(c[0] & 0x1f) << 6 | (c[1] & 0x3f);
    if ((code >= 0xc0 && code <= 0xde && code != 0xd7) || (code >= 0x391 && code <= 0x3a9) || (code >= 0x410 && code <= 0x42f))
        code += 32;
    else if (code >= 0x400 && code <= 0x40f)
        code += 80;
    c[0] = (unsigned char)(0xc0 | code >> 6);
    c[1] = (unsigned char)(0x80 | (code & 0x3f));
}

/* ---- the words of one run ---- */

#define RUN_MAX ((size_t)256)
#define PARTS_MAX 48

struct run {
    const char *text; /* as written */
    size_t start, end;
    struct {
        size_t from, length;
    } seen[PARTS_MAX];
    size_t seen_count;
    char lower[RUN_MAX];
    token_fn take;
    void *context;
    int stopped;
};

static bool is_hex_number(const char *text, size_t length)
{
    if (length < 3 || text[0] != '0' || text[1] != 'x')
        return false;
    for (size_t i = 2; i < length; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

/* Hands out the word at [from, to) of the run, once each. Words of one byte are handed out only when they are the whole run. */
static void emit(struct run *run, size_t from, size_t to)
{
    size_t length = to - from;
    if (run->stopped || to <= from || run->seen_count == PARTS_MAX || (length == 1 && run->seen_count))
        return;
    const char *word = run->lower + from;
    for (size_t i = 0; i < run->seen_count; i++)
        if (run->seen[i].length == length && memcmp(run->lower + run->seen[i].from, word, length) == 0)
            return;
    bool part = run->seen_count > 0;
    run->seen[run->seen_count].from = from;
    run->seen[run->seen_count++].length = length;
    char short_hex[RUN_MAX];
    if (is_hex_number(word, length)) {
        size_t zeros = 2;
        while (zeros < length - 1 && word[zeros] == '0')
            zeros++;
        memcpy(short_hex, "0x", 2);
        memcpy(short_hex + 2, word + zeros, length - zeros);
        word = short_hex;
        length = length - zeros + 2;
    }
    if (length > TOKEN_MAX)
        length = TOKEN_MAX;
    while (length && length == TOKEN_MAX && ((unsigned char)word[length] & 0xc0) == 0x80)
        length--; /* not within a character */
    run->stopped = run->take(run->context, word, length, run->start + from, run->start + to, part);
}

static enum class at(const struct run *run, size_t i) {
    enum class class; (void)classify((const unsigned char *)run->text + i, run->end - run->start - i, &class); return class;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Humps: ncclSystemError, NCCLError, cuda10. "GPUs" stays whole. */
static void split_humps(struct run *run, size_t from, size_t to)
{
    size_t begin = from;
    for (size_t i = from + 1; i < to; i++) {
        enum class before = at(run, i - 1), here = at(run, i);
        bool hump = before == LOWER && here == UPPER;
        bool after_capitals =
            before == UPPER && here == UPPER && i + 1 < to && at(run, i + 1) == LOWER && !(i + 2 == to && run->text[i + 1] == 's');
        bool number = i - begin >= 3 && before != DIGIT && here == DIGIT;
        if (!hump && !after_capitals && !number)
            continue;
        emit(run, begin, i);
        begin = i;
    }
    if (begin > from)
        emit(run, begin, to);
}

/* Names joined by hyphens or underscores. */
static void split_name(struct run *run, size_t from, size_t to)
{
    emit(run, from, to);
    if (is_hex_number(run->lower + from, to - from))
        return;
    size_t begin = from;
    for (size_t i = from; i <= to; i++) {
        if (i < to && run->lower[i] != '_' && run->lower[i] != '-')
            continue;
        emit(run, begin, i);
        split_humps(run, begin, i);
        begin = i + 1;
    }
}

static bool is_number(const struct run *run, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (!is_digit(run->lower[i]))
            return false;
    return to > from;
}

/* Names joined by dots, with a version at the end: libcudart.so.10.0 gives libcudart.so, 10.0, libcudart and so; v2.4.7 gives 2.4.7. */
static void split_dots(struct run *run, size_t from, size_t to)
{
    emit(run, from, to);
    size_t version = to;
    for (size_t i = to; i > from && (is_digit(run->lower[i - 1]) || run->lower[i - 1] == '.');)
        version = --i;
    while (version < to && run->lower[version] == '.')
        version++;
    if (version == from)
        return; /* a version through and through: its numbers alone say nothing */
    bool is_version = version < to && (run->lower[version - 1] == '.' || memchr(run->lower + version, '.', to - version));
    size_t names = is_version ? version : to;
    while (names > from && strchr("._-", run->lower[names - 1]))
        names--;
    emit(run, from, names);
    emit(run, is_version ? version : to, to);
    size_t begin = from;
    for (size_t i = from; i <= names; i++) {
        if (i < names && run->lower[i] != '.')
            continue;
        if (!is_number(run, begin, i))
            split_name(run, begin, i);
        begin = i + 1;
    }
}

/* Everything else that joins: paths, c10::Error, host:port, 2.21.5+cuda12.4. */
static void split_run(struct run *run)
{
    size_t length = run->end - run->start, begin = 0;
    emit(run, 0, length);
    for (size_t i = 0; i <= length; i++) {
        if (i < length && !strchr("/:+@", run->lower[i]))
            continue;
        if (i > begin)
            split_dots(run, begin, i);
        begin = i + 1;
    }
}

/* Length of what joins two characters of a run at `text`, 0 if nothing does. */
static size_t joint(const char *text, size_t length)
{
    if (length > 2 && text[0] == ':' && text[1] == ':')
        return 2;
    return length > 1 && memchr("./-:+@", text[0], 6) ? 1 : 0;
}

int tokenize(const char *text, size_t length, token_fn take, void *context)
{
    size_t i = 0;
    while (i < length) {
        enum class class;
        size_t size = classify((const unsigned char *)text + i, length - i, &class);
        if (class == SEPARATOR) {
            i += size;
            continue;
        }
        struct run run = {.text = text + i, .start = i, .take = take, .context = context};
        bool ideograph = class == IDEOGRAPH;
        while (i < length && i - run.start + 4 <= RUN_MAX) {
            size = classify((const unsigned char *)text + i, length - i, &class);
            if (class == SEPARATOR) {
                size = joint(text + i, length - i);
                enum class next = SEPARATOR;
                if (size)
                    (void)classify((const unsigned char *)text + i + size, length - i - size, &next);
                if (next == SEPARATOR || next == IDEOGRAPH)
                    break;
                memcpy(run.lower + (i - run.start), text + i, size);
                i += size;
                continue;
            }
            if (class == IDEOGRAPH && i > run.start)
                break;
            memcpy(run.lower + (i - run.start), text + i, size);
            fold((unsigned char *)run.lower + (i - run.start), size);
            i += size;
            if (ideograph)
                break;
        }
        run.end = i;
        split_run(&run);
        if (run.stopped)
            return run.stopped;
    }
    return 0;
}

/* ---- FTS5 ---- */

struct fts_sink {
    void *context;
    bool whole_only;
    int (*token)(void *context, int flags, const char *token, int length, int start, int end);
};

static int pass_on(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    struct fts_sink *sink = context;
    if (part && sink->whole_only)
        return SQLITE_OK;
    return sink->token(sink->context, part ? FTS5_TOKEN_COLOCATED : 0, token, (int)length, (int)start, (int)end);
}

static int fts_create(void *context, const char **arguments, int count, Fts5Tokenizer **out)
{
    (void)arguments;
    (void)count;
    *out = context;
    return SQLITE_OK;
}

static void fts_delete(Fts5Tokenizer *tokenizer)
{
    (void)tokenizer;
}

static int fts_tokenize(Fts5Tokenizer *tokenizer, void *context, int flags, const char *text, int length,
                        int (*token)(void *, int, const char *, int, int, int))
{
    (void)tokenizer;
    /* In a query parts would be synonyms of the whole: "libcudart.so.10" would find every "so". */
    struct fts_sink sink = {context, (flags & FTS5_TOKENIZE_QUERY) != 0, token};
    return text && length > 0 ? tokenize(text, (size_t)length, pass_on, &sink) : SQLITE_OK;
}

int tokenizer_register(sqlite3 *db)
{
    static fts5_tokenizer methods = {fts_create, fts_delete, fts_tokenize};
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
    (void)sqlite3_step(statement);
    rc = sqlite3_finalize(statement);
    if (rc != SQLITE_OK)
        return rc;
    if (!api)
        return SQLITE_ERROR;
    /* The context only stands in for a tokenizer object: there is no state. */
    return api->xCreateTokenizer(api, "dtkb", &methods, &methods, NULL);
}

#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/redact.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What secrets look like in logs. Group 1, where there is one, is kept; the rest of the match goes. Every quantifier is bounded or
 * possessive, so that a hostile line costs no more than its length. */
static const char *const patterns[] = {
    /* a name that says so, then its value: token=..., "api_key": "...", AWS_SECRET_ACCESS_KEY=... */
    ("(?i)((?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|passwd|token(?!s)|credential|private[_-]?key)s?[a-z0-9_-]{0,20}"
     "[\"']?\\s{0,3}[=:]\\s{0,3}[\"']?)(?!\\s)[^\\s\"',;&]{4,512}+"),
    "(?i)(authorization[\"']?\\s{0,3}[=:]\\s{0,3}[\"']?(?:bearer|basic|token)?\\s{0,3})[^\\s\"',;]{4,2048}+",
    "(?i)(bearer\\s{1,3})[a-z0-9._~+/=-]{16,2048}+",
    "([a-z][a-z0-9+.-]{1,20}://[^\\s:/@]{0,128}:)[^\\s@/]{1,256}+(?=@)", /* credentials in a URL */
    "\\bhf_[A-Za-z0-9]{16,128}+",
    "\\bsk-[A-Za-z0-9_-]{16,256}+",
    "\\bgh[pousr]_[A-Za-z0-9]{16,256}+",
    "\\bgithub_pat_[A-Za-z0-9_]{16,256}+",
    "\\bglpat-[A-Za-z0-9_-]{16,128}+",
    "\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b",
    "\\bxox[abprs]-[A-Za-z0-9-]{10,256}+",
    "\\bAIza[0-9A-Za-z_-]{35}",
    "\\beyJ[A-Za-z0-9_-]{8,2048}+\\.[A-Za-z0-9_-]{8,4096}+(?:\\.[A-Za-z0-9_-]{0,1024}+)?", /* JSON web token */
    "-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]{0,8192}+",
};
#define PATTERN_COUNT (sizeof patterns / sizeof *patterns)

struct redactor {
    pcre2_code *codes[PATTERN_COUNT];
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

struct redactor *redactor_new(void)
{
    struct redactor *redactor = calloc(1, sizeof *redactor);
    if (!redactor)
        return NULL;
    redactor->match = pcre2_match_data_create(2, NULL);
    redactor->limits = pcre2_match_context_create(NULL);
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        int error;
        PCRE2_SIZE offset;
        redactor->codes[i] = pcre2_compile((PCRE2_SPTR)patterns[i], PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
        if (!redactor->codes[i] || !redactor->match || !redactor->limits) {
            redactor_free(redactor);
            return NULL;
        }
    }
    pcre2_set_match_limit(redactor->limits, 1000000);
    return redactor;
}

void redactor_free(struct redactor *redactor)
{
    if (!redactor)
        return;
    for (size_t i = 0; i < PATTERN_COUNT; i++)
        pcre2_code_free(redactor->codes[i]);
    pcre2_match_data_free(redactor->match);
    pcre2_match_context_free(redactor->limits);
    free(redactor);
}

/* One pattern over the whole text. */
static size_t redact_one(struct redactor *redactor, const pcre2_code *code, const char *text, size_t length, struct buf *out)
{
    size_t from = 0, removed = 0;
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(redactor->match);
    while (from < length) {
        int groups = pcre2_match(code, (PCRE2_SPTR)text, length, from, 0, redactor->match, redactor->limits);
        if (groups < 1 || span[1] <= from)
            break;
        size_t keep = groups > 1 && span[3] != PCRE2_UNSET ? span[3] : span[0];
        buf_add(out, text + from, keep - from);
        buf_adds(out, "[removed]");
        from = span[1];
        removed++;
    }
    buf_add(out, text + from, length - from);
    return removed;
}

size_t redact(struct redactor *redactor, const char *text, struct buf *out)
{
    struct buf passes[2] = {{0}, {0}};
    size_t removed = 0;
    buf_adds(&passes[0], text);
    for (size_t i = 0; i < PATTERN_COUNT; i++) {
        struct buf *from = &passes[i % 2], *to = &passes[(i + 1) % 2];
        buf_clear(to);
        removed += redact_one(redactor, redactor->codes[i], buf_text(from), from->length, to);
    }
    const struct buf *last = &passes[PATTERN_COUNT % 2];
    buf_add(out, buf_text(last), last->length);
    buf_free(&passes[0]);
    buf_free(&passes[1]);
    return removed;
}

int redact_is_secret_name(const char *name)
{
    static const char *const words[] = {"secret",  "token",  "passw",      "passwd",      "credential",
                                        "api_key", "apikey", "access_key", "private_key", "auth"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i]))
            return 1;
    return 0;
}

#include "kb/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kb/boilerplate.h"
#include "kb/tokenizer.h"

#define WORD_MAX 40 /* longer runs are hashes, keys and encoded bytes */

struct reader {
    struct words *out;
    size_t capacity;
    bool failed;
};

static bool has_letter(const char *token, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((token[i] >= 'a' && token[i] <= 'z') || (unsigned char)token[i] >= 0x80)
            return true;
    return false;
}

/* Numbers tell one run from another, hardly ever one kind of trouble from another. */
static int take(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    struct reader *reader = context;
    struct words *words = reader->out;
    (void)start, (void)end, (void)part;
    if (length < 2 || length > WORD_MAX || !has_letter(token, length))
        return 0;
    if (words->count == reader->capacity) {
        size_t capacity = reader->capacity ? 2 * reader->capacity : 256;
        struct word *list = realloc(words->list, capacity * sizeof *list);
        if (!list)
            return reader->failed = true;
        words->list = list;
        reader->capacity = capacity;
    }
    const char *copy = arena_strndup(&words->arena, token, length);
    reader->failed = !copy;
    words->list[words->count++] = (struct word){.text = copy, .weight = 1.0};
    return reader->failed;
}

static void read_lines(const char *text, size_t length, struct reader *reader)
{
    const char *end = text + length;
    while (text < end && !reader->failed) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        if (!is_boilerplate(text, (size_t)(stop - text)))
            (void)tokenize(text, (size_t)(stop - text), take, reader);
        text = stop + 1;
    }
}

static int by_text(const void *left, const void *right)
{
    const struct word *l = left, *r = right;
    return strcmp(l->text, r->text);
}

/* Equal words become one, their counts add up. */
static void unite(struct words *words)
{
    size_t kept = 0;
    if (words->count)
        qsort(words->list, words->count, sizeof *words->list, by_text);
    for (size_t i = 0; i < words->count; i++)
        if (kept && strcmp(words->list[kept - 1].text, words->list[i].text) == 0)
            words->list[kept - 1].weight += 1.0;
        else
            words->list[kept++] = words->list[i];
    words->count = kept;
}

static void scale(struct words *words)
{
    double squares = 0;
    for (size_t i = 0; i < words->count; i++) {
        words->list[i].weight = 1.0 + log(words->list[i].weight);
        squares += words->list[i].weight * words->list[i].weight;
    }
    for (size_t i = 0; i < words->count; i++)
        words->list[i].weight /= sqrt(squares);
}

dtkb_status words_of(const char *text, struct words *out, struct err *err)
{
    struct reader reader = {.out = out};
    *out = (struct words){0};
    if (text)
        read_lines(text, strnlen(text, WORDS_TEXT_MAX), &reader);
    if (reader.failed) {
        words_free(out);
        return err_nomem(err);
    }
    unite(out);
    scale(out);
    return DTKB_OK;
}

void words_free(struct words *words)
{
    free(words->list);
    arena_free(&words->arena);
    *words = (struct words){0};
}

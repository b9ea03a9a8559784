/* The passage of an issue to show under its title. */
#include <string.h>

#include "base/buf.h"
#include "kb/search.h"
#include "kb/tokenizer.h"

#define SNIPPET_MAX 160

struct looker {
    const struct query *query;
    bool seen[QUERY_TERMS_MAX];
    size_t score, first; /* words found; where the first one is */
};

static int look(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    (void)end;
    (void)part;
    struct looker *looker = context;
    for (size_t i = 0; i < looker->query->term_count; i++) {
        const struct query_term *term = &looker->query->terms[i];
        if (looker->seen[i] || term->length != length || memcmp(term->token, token, length) != 0)
            continue;
        if (!looker->score)
            looker->first = start;
        looker->seen[i] = true;
        looker->score += term->optional ? 1 : 4;
    }
    return 0;
}

/* A window of the text around `first`, cut at blanks, on one line. */
static const char *window(const char *text, size_t first, struct arena *arena)
{
    size_t length = strlen(text), start = 0;
    if (length > SNIPPET_MAX && first > SNIPPET_MAX / 3) {
        start = first - SNIPPET_MAX / 3;
        while (start > 0 && text[start - 1] != ' ')
            start--;
        if (first - start > SNIPPET_MAX / 2) /* one endless word */
            start = first;
    }
    size_t end = length - start > SNIPPET_MAX ? start + SNIPPET_MAX : length;
    if (end < length) {
        size_t cut = end;
        while (cut > start + SNIPPET_MAX / 2 && text[cut] != ' ')
            cut--;
        if (text[cut] == ' ')
            end = cut;
        while (end > start && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
    }
    struct buf out = {0};
    if (start)
        buf_adds(&out, "... ");
    for (size_t i = start; i < end; i++)
        buf_addc(&out, (unsigned char)text[i] < 0x20 ? ' ' : text[i]);
    if (end < length)
        buf_adds(&out, " ...");
    const char *copy = out.failed ? NULL : arena_strdup(arena, buf_text(&out));
    buf_free(&out);
    return copy;
}

const char *search_snippet(const struct issue *issue, const struct query *query, struct arena *arena)
{
    const char *best = NULL;
    size_t best_score = 0, best_first = 0;
    size_t count = issue->error_line_count + 3;
    for (size_t i = 0; i < count; i++) {
        /* Error lines first: of equally good passages they tell most. */
        const char *others[] = {issue->summary, issue->cause, issue->fix};
        const char *text = i < issue->error_line_count ? issue->error_lines[i] : others[i - issue->error_line_count];
        if (!text)
            continue;
        struct looker looker = {.query = query};
        (void)tokenize(text, strlen(text), look, &looker);
        if (!best || looker.score > best_score) {
            best = text;
            best_score = looker.score;
            best_first = looker.first;
        }
    }
    return best ? window(best, best_first, arena) : "";
}

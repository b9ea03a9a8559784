#include "scan/literal.h"
#include "scan/rarity.h"

#include <ctype.h>
#include <string.h>

/* What makes one set better than another: it costs less to search for all its members. 0: too short a member. */
static uint64_t set_score(const struct literal_set *set)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t length = strlen(set->text[i]);
        if (length < (set->count > 1 ? LITERAL_SHORTEST : LITERAL_MIN))
            return 0;
        cost += literal_cost(set->text[i], length);
    }
    return set->count ? UINT64_MAX / (1 + cost) : 0;
}

/* ---- expressions ---- */

/*
 * A part of an expression is described by sets. `head` and `tail`: every match begins, and ends, with one of these; where `is_exact`, the
 * part matches exactly the strings of `head`, which are those of `tail`. `needed`: one of these is in every match. Concatenation
 * multiplies the tail of what was read by the head of what follows: each product is a candidate for `needed`, so that "not (?:mov\w+|
 * chang\w+)" is found by "not mov" and "not chang".
 */
struct part {
    bool is_exact;
    struct literal_set head, tail;
    struct literal_set needed; /* count 0: nothing needed */
    uint64_t score;            /* of `needed` */
    struct need *needs;        /* all sets that were candidates, linked by `next` */
};

struct parser {
    const char *at;
    struct arena *arena;
    unsigned depth;
    bool failed; /* syntax we don't follow, or no memory: the expression has no literal */
    bool ignore_case;
    bool joins;   /* fixed text goes on into the heads of inexact parts */
    size_t needs; /* made so far */
};
#define DEPTH_MAX 50
#define NEEDS_MAX 1000 /* more only absurd expressions have, and each takes memory */

static void parse_alternatives(struct parser *parser, struct part *out);

static const struct literal_set empty = {.text = {""}, .count = 1};

static struct part exactly(const struct literal_set *set)
{
    return (struct part){.is_exact = true, .head = *set, .tail = *set};
}

static void exact_empty(struct part *part)
{
    *part = exactly(&empty);
}

static void anything(struct part *part)
{
    *part = (struct part){.head = empty, .tail = empty};
}

static void exact_char(struct parser *parser, char c, struct part *part)
{
    const char *text = arena_strndup(parser->arena, &c, 1);
    if (!text || !c) {
        parser->failed = parser->failed || !text;
        anything(part);
        return;
    }
    *part = exactly(&(struct literal_set){.text = {text}, .count = 1});
}

static struct need *new_need(struct parser *parser, const struct need *from)
{
    struct need *need = parser->needs < NEEDS_MAX ? arena_alloc(parser->arena, sizeof *need) : NULL;
    if (need) {
        *need = *from;
        parser->needs++;
    }
    return need; /* without it, less is known */
}

static void add_need(struct part *part, struct need *need)
{
    if (!need)
        return;
    need->next = part->needs;
    part->needs = need;
}

static void prefer(struct part *part, const struct literal_set *candidate, uint64_t score)
{
    if (score <= part->score)
        return;
    part->needed = *candidate;
    part->score = score;
}

static void need_nothing(struct part *part)
{
    part->needed.count = 0;
    part->score = 0;
    part->needs = NULL;
}

/* One of the candidates is in every match of `part`: noted, and kept if it is better than what is kept. */
static void note_needed(struct parser *parser, struct part *part, const struct literal_set *candidate)
{
    prefer(part, candidate, set_score(candidate));
    bool tells = candidate->count > 0;
    for (size_t i = 0; i < candidate->count; i++)
        tells = tells && strlen(candidate->text[i]) >= 2;
    if (tells)
        add_need(part, new_need(parser, &(struct need){.kind = NEED_TEXTS, .texts = *candidate}));
}

/* All that `next` needs, `part` does. */
static void take_needs(struct part *part, const struct part *next)
{
    prefer(part, &next->needed, next->score);
    for (struct need *need = next->needs, *behind; need; need = behind) {
        behind = need->next;
        add_need(part, need);
    }
}

static bool multiply(struct parser *parser, const struct literal_set *left, const struct literal_set *right, struct literal_set *out)
{
    struct literal_set product = {0};
    if (left->count * right->count > LITERAL_ALTERNATIVES)
        return false;
    for (size_t i = 0; i < left->count; i++) {
        for (size_t k = 0; k < right->count; k++) {
            size_t a = strlen(left->text[i]), b = strlen(right->text[k]);
            char *text = arena_alloc(parser->arena, a + b + 1);
            if (!text) {
                parser->failed = true;
                return false;
            }
            memcpy(text, left->text[i], a);
            memcpy(text + a, right->text[k], b);
            product.text[product.count++] = text;
        }
    }
    *out = product;
    return true;
}

/* Keeps the last `width` bytes of each member, and of equal ones one. */
static void keep_ends(struct literal_set *set, size_t width)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t length = strlen(set->text[i]), k = 0;
        const char *end = length > width ? set->text[i] + length - width : set->text[i];
        while (k < count && strcmp(set->text[k], end) != 0)
            k++;
        if (k == count)
            set->text[count++] = end;
    }
    set->count = count;
}

/* Appends the next part to what was read so far, whose tail is a run of fixed text that may go on. Where all the ways in which it does are
 * too many, the last bytes of the tail must do. */
static void append(struct parser *parser, struct part *whole, const struct part *next)
{
    struct literal_set joined, tail = whole->tail;
    bool is_whole = multiply(parser, &tail, &next->head, &joined), fits = is_whole;
    for (size_t width = 4; !fits && width > 0 && parser->joins; width--) {
        keep_ends(&tail, width);
        fits = multiply(parser, &tail, &next->head, &joined);
    }
    if (whole->is_exact && is_whole)
        whole->head = joined;
    if (!next->is_exact || !is_whole) {
        note_needed(parser, whole, &whole->tail);
        if (fits && parser->joins)
            note_needed(parser, whole, &joined);
        take_needs(whole, next);
        whole->is_exact = false;
    }
    whole->tail = next->is_exact && fits ? joined : next->tail;
}

static void skip_class(struct parser *parser, struct part *out)
{
    const char *p = parser->at + 1; /* behind [ */
    bool negated = *p == '^', simple = !negated;
    char chars[4];
    size_t count = 0;
    if (negated)
        p++;
    for (bool first = true; *p && (*p != ']' || first); first = false) {
        char c = *p++;
        if (c == '[' && (*p == ':' || *p == '.' || *p == '=')) {
            const char *close = strchr(p + 1, ']');
            simple = false;
            p = close ? close + 1 : p + strlen(p);
            continue;
        }
        if (c == '\\' && *p) {
            c = *p++;
            if (isalnum((unsigned char)c))
                simple = false;
        } else if (c == '-' && !first && *p != ']') {
            simple = false;
        }
        if (count == sizeof chars)
            simple = false;
        else
            chars[count++] = c;
    }
    parser->failed = parser->failed || *p != ']';
    parser->at = *p ? p + 1 : p;
    anything(out);
    if (!simple)
        return;
    struct literal_set set = {.count = count};
    for (size_t i = 0; i < count; i++) {
        set.text[i] = arena_strndup(parser->arena, &chars[i], 1);
        parser->failed = parser->failed || !set.text[i];
    }
    *out = exactly(&set);
}

static void parse_escape(struct parser *parser, struct part *out)
{
    char c = *++parser->at;
    if (!c) {
        parser->failed = true;
        return;
    }
    parser->at++;
    if (!isalnum((unsigned char)c))
        exact_char(parser, c, out);
    else if (strchr("bBAzZG", c))
        exact_empty(out);
    else if (c == 't')
        exact_char(parser, '\t', out);
    else if (strchr("dDwWsShHvVRNXC", c))
        anything(out);
    else
        parser->failed = true; /* \x41, \1, \p{..}, \Q: not worth following */
}

/* Behind "(": its kind. Sets parser->failed for what is not followed (look-around and the like; the matcher refuses those anyway). */
static void parse_group(struct parser *parser, struct part *out)
{
    const char *p = parser->at;
    if (*p == '?') {
        p++;
        if (*p == ':') {
            p++;
        } else if (*p == '#') {
            const char *close = strchr(p, ')');
            parser->at = close ? close + 1 : p + strlen(p);
            exact_empty(out);
            return;
        } else if (*p == 'P' || *p == '<' || *p == '\'') {
            if (*p == 'P')
                p++;
            char close = *p == '\'' ? '\'' : '>';
            if ((*p != '<' && *p != '\'') || p[1] == '=' || p[1] == '!' || !(p = strchr(p + 1, close))) {
                parser->failed = true;
                return;
            }
            p++;
        } else {
            while (isalpha((unsigned char)*p) || *p == '-') /* (?i) or (?s-i:...) */
                parser->ignore_case = *p++ == 'i' || parser->ignore_case;
            if (*p == ')') {
                parser->at = p + 1;
                exact_empty(out);
                return;
            }
            if (*p++ != ':') {
                parser->failed = true;
                return;
            }
        }
    }
    parser->at = p;
    parse_alternatives(parser, out);
    if (*parser->at != ')')
        parser->failed = true;
    else
        parser->at++;
}

static void parse_atom(struct parser *parser, struct part *out)
{
    char c = *parser->at;
    if (c == '(') {
        parser->at++;
        parse_group(parser, out);
    } else if (c == '[') {
        skip_class(parser, out);
    } else if (c == '\\') {
        parse_escape(parser, out);
    } else if (c == '.') {
        parser->at++;
        anything(out);
    } else if (c == '^' || c == '$') {
        parser->at++;
        exact_empty(out);
    } else {
        parser->at++;
        exact_char(parser, c, out);
    }
}

/* Reads a quantifier if there is one. Returns false if there is none. */
static bool parse_quantifier(struct parser *parser, unsigned *least, bool *at_most_one)
{
    const char *p = parser->at;
    *at_most_one = false;
    if (*p == '*' || *p == '?') {
        *least = 0;
        *at_most_one = *p++ == '?';
    } else if (*p == '+') {
        *least = 1;
        p++;
    } else if (*p == '{' && isdigit((unsigned char)p[1])) {
        *least = 0;
        for (p++; isdigit((unsigned char)*p); p++)
            *least = *least > 1000 ? 1000 : *least * 10 + (unsigned)(*p - '0');
        while (*p == ',' || isdigit((unsigned char)*p))
            p++;
        if (*p != '}')
            return false; /* a brace that means itself */
        p++;
    } else {
        return false;
    }
    if (*p == '?' || *p == '+')
        p++;
    parser->at = p;
    return true;
}

static void apply_quantifier(struct parser *parser, struct part *part)
{
    unsigned least;
    bool at_most_one;
    while (!parser->failed && parse_quantifier(parser, &least, &at_most_one)) {
        if (least == 0 && at_most_one && part->is_exact && part->head.count < LITERAL_ALTERNATIVES) {
            part->head.text[part->head.count++] = "";
            part->tail = part->head;
            need_nothing(part);
        } else if (least == 0) {
            anything(part);
        } else {
            note_needed(parser, part, &part->head);
            part->is_exact = false;
        }
    }
}

static void parse_sequence(struct parser *parser, struct part *out)
{
    exact_empty(out);
    while (!parser->failed && *parser->at && *parser->at != '|' && *parser->at != ')') {
        struct part next;
        exact_empty(&next);
        parse_atom(parser, &next);
        apply_quantifier(parser, &next);
        append(parser, out, &next);
    }
    note_needed(parser, out, &out->tail);
}

static bool add_all(struct literal_set *to, const struct literal_set *from)
{
    if (to->count + from->count > LITERAL_ALTERNATIVES)
        return false;
    memcpy(to->text + to->count, from->text, from->count * sizeof from->text[0]);
    to->count += from->count;
    return true;
}

/* Needs that are linked as one. */
static struct need *as_one(struct parser *parser, struct need *needs)
{
    return needs->next ? new_need(parser, &(struct need){.kind = NEED_ALL, .first = needs}) : needs;
}

/* What is needed where one of two parts matches. */
static struct need *either(struct parser *parser, struct need *left, struct need *right)
{
    struct need *one = left ? as_one(parser, left) : NULL, *other = right ? as_one(parser, right) : NULL;
    if (!one || !other)
        return NULL;
    if (one->kind != NEED_ANY && !(one = new_need(parser, &(struct need){.kind = NEED_ANY, .first = one})))
        return NULL;
    other->next = one->first;
    one->first = other;
    return one;
}

static void parse_alternatives(struct parser *parser, struct part *out)
{
    if (++parser->depth > DEPTH_MAX) {
        parser->failed = true;
        return;
    }
    parse_sequence(parser, out);
    while (!parser->failed && *parser->at == '|') {
        parser->at++;
        struct part other;
        parse_sequence(parser, &other);
        bool heads = add_all(&out->head, &other.head), tails = add_all(&out->tail, &other.tail);
        if (!heads)
            out->head = empty;
        if (!tails)
            out->tail = empty;
        out->is_exact = out->is_exact && other.is_exact && heads && tails;
        out->needs = either(parser, out->needs, other.needs);
        if (!out->needed.count || !other.needed.count || !add_all(&out->needed, &other.needed))
            out->needed.count = 0;
        out->score = set_score(&out->needed);
    }
    parser->depth--;
}

/* Is the member found wherever this other one is found? Then one of them will do. */
static bool makes_needless(const struct literal_set *set, size_t keeper, size_t i)
{
    if (keeper == i || !strstr(set->text[i], set->text[keeper]))
        return false;
    return strcmp(set->text[i], set->text[keeper]) != 0 || keeper < i;
}

/* Drops members that hold another one, and cuts the rest down to LITERAL_MAX bytes around the rarest. */
static bool finish(struct literal_set *set, struct arena *arena)
{
    struct literal_set whole = *set;
    set->count = 0;
    for (size_t i = 0; i < whole.count; i++) {
        bool needless = false;
        for (size_t k = 0; k < whole.count && !needless; k++)
            needless = makes_needless(&whole, k, i);
        size_t length = strlen(whole.text[i]);
        const char *text = whole.text[i];
        if (!needless && length > LITERAL_MAX) {
            size_t window = literal_best_window(text, length), start = window > LITERAL_MAX / 2 ? window - LITERAL_MAX / 2 : 0;
            start = start > length - LITERAL_MAX ? length - LITERAL_MAX : start;
            text = arena_strndup(arena, text + start, LITERAL_MAX);
        }
        if (!text)
            return false;
        if (!needless)
            set->text[set->count++] = text;
    }
    return set->count > 0;
}

static const struct need *all_of(struct arena *arena, struct need *needs)
{
    struct need *need = needs ? arena_alloc(arena, sizeof *need) : NULL;
    if (need)
        *need = (struct need){.kind = NEED_ALL, .first = needs};
    return need;
}

static bool parse(const char *pattern, bool ignore_case, bool joins, struct arena *arena, struct literal_set *out, const struct need **need)
{
    struct parser parser = {.at = pattern, .arena = arena, .ignore_case = ignore_case, .joins = joins};
    struct part whole;
    parse_alternatives(&parser, &whole);
    if (parser.failed || *parser.at || whole.score == 0)
        return false;
    *out = whole.needed;
    out->ignore_case = parser.ignore_case;
    if (need)
        *need = all_of(arena, whole.needs);
    return finish(out, arena);
}

/* Joined text is rarer but of more alternatives, which may be too many where expressions are alternatives themselves. */
bool literal_of_regex(const char *pattern, bool ignore_case, struct arena *arena, struct literal_set *out, const struct need **need)
{
    return parse(pattern, ignore_case, true, arena, out, need) || parse(pattern, ignore_case, false, arena, out, need);
}

bool literal_of_text(const char *text, bool ignore_case, struct arena *arena, struct literal_set *out)
{
    *out = (struct literal_set){.text = {arena_strdup(arena, text)}, .count = 1, .ignore_case = ignore_case};
    return out->text[0] && strlen(text) >= LITERAL_MIN && finish(out, arena);
}

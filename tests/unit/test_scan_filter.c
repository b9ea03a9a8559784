/* The filter must never pass over a literal, whatever lies around it; the literals must be in everything that an expression matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "scan/filter.h"
#include "scan/guard.h"
#include "scan/literal.h"
#include "scan/rarity.h"

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static const char *const literals[] = {"hang",
                                       "hung",
                                       ".to(",
                                       "error",
                                       "stuck",
                                       "Killed",
                                       "rank 0",
                                       "exitcode",
                                       "Traceback (most recent call last)",
                                       "ncclSystemError",
                                       "no space left on device",
                                       "closed by localRank",
                                       " by ",
                                       "y loc"};
#define COUNT (sizeof literals / sizeof literals[0])

static struct filter *new_filter(void)
{
    uint8_t windows[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t length = strlen(literals[i]);
        windows[i] = (uint8_t)literal_best_window(literals[i], length);
    }
    return filter_new(literals, windows, COUNT);
}

static bool begins_here(const char *at, const char *end)
{
    for (size_t i = 0; i < COUNT; i++)
        if ((size_t)(end - at) >= strlen(literals[i]) && !strncasecmp(at, literals[i], strlen(literals[i])))
            return true;
    return false;
}

/* Is some literal found by way of a window in it, for every place that it can have? */
static void no_literal_is_passed_over(void **state)
{
    (void)state;
    struct filter *filter = new_filter();
    assert_non_null(filter);
    static char memory[FILTER_PAD + 300 + FILTER_PAD];
    char *text = memory + FILTER_PAD;
    for (size_t round = 0; round < 20000; round++) {
        size_t length = next_random() % 300;
        for (size_t i = 0; i < length; i++)
            text[i] = "abcdehnorstu .(0\n"[next_random() % 17];
        memset(text + length, 0, FILTER_PAD);
        const char *literal = literals[next_random() % COUNT];
        size_t size = strlen(literal);
        if (length < size)
            continue;
        size_t place = next_random() % (length - size + 1);
        memcpy(text + place, literal, size);
        bool seen = false;
        for (const char *at = filter_find(filter, text, text + length); at < text + length && !seen;
             at = filter_find(filter, at + 1, text + length)) {
            assert_ptr_equal(filter_find_plain(filter, at, text + length), at);
            seen = at >= text + place && at < text + place + size;
        }
        if (!seen)
            fail_msg("\"%s\" at %zu of %zu was passed over", literal, place, length);
    }
    filter_free(filter);
}

/* Every literal at every place, one after another: none is skipped because another one was found first. */
static void all_literals_are_found(void **state)
{
    (void)state;
    struct filter *filter = new_filter();
    static char memory[FILTER_PAD + 200 + FILTER_PAD];
    char *text = memory + FILTER_PAD;
    for (size_t round = 0; round < 20000; round++) {
        size_t length = 0, expected = 0, found = 0;
        while (length < 120) { /* literals side by side and laid over one another */
            const char *literal = literals[next_random() % COUNT];
            size_t size = strlen(literal), back = next_random() % 4;
            length = length > back ? length - back : 0;
            memcpy(text + length, literal, size);
            length += size;
        }
        memset(text + length, 0, FILTER_PAD);
        for (size_t at = 0; at < length; at++)
            for (size_t i = 0; i < COUNT; i++)
                expected += length - at >= strlen(literals[i]) && !strncasecmp(text + at, literals[i], strlen(literals[i]));
        for (const char *at = filter_find(filter, text, text + length); at < text + length;
             at = filter_find(filter, at + 1, text + length)) {
            struct filter_place place = {0};
            for (size_t id; filter_next(filter, at, &place, &id); found++)
                assert_int_equal(strncasecmp(place.start, literals[id], strlen(literals[id])), 0);
        }
        if (found != expected)
            fail_msg("%zu of %zu in \"%s\"", found, expected, text);
    }
    filter_free(filter);
}

static void what_has_no_literal_is_passed_over(void **state)
{
    (void)state;
    struct filter *filter = new_filter();
    static const char text[] = "step 12 loss 0.5 lr 1e-4 tokens/s 90000 exitcede Traceback (most recent work";
    static char memory[FILTER_PAD + sizeof text + FILTER_PAD];
    const char *begin = memcpy(memory + FILTER_PAD, text, sizeof text), *end = begin + strlen(begin);
    assert_false(begins_here(begin, end));
    assert_ptr_equal(filter_find(filter, begin, end), end);
    filter_free(filter);
}

static void expressions_give_their_rarest_needed_text(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *literals; /* joined by '|', "" for none */
    } cases[] = {{"Error while (?:creating|attaching to) shared memory segment (?<s>\\S*)",
                  "Error while creating shared memory segment |Error while attaching to shared memory segment "},
                 {"(?:cannot|could not) open", "cannot open|could not open"},
                 {"step\\w* (?:corrupts?|broken)\\b", " corrupt| broken"},
                 {"abc[de]fgh\\.i", "abcdfgh.i|abcefgh.i"},
                 {"^(?:a|bc)?\\d+ literal text$", " literal text"},
                 {"x{3}literal(?: more)?", "xliteral"},
                 {"step [^\n]{0,20}(?:does not|doesn.t|not) (?:mov\\w+|chang\\w+)", "t mov|t chang"},
                 {"(?:(?:ab|abc)+|cd)zzzz", "abzzzz|abczzzz|cdzzzz"},
                 {"(?:qx\\d|\\dqy)+jjkk", "jjkk"},
                 {"[Cc]annot allocate", "Cannot allocate|cannot allocate"},
                 {"\\d+|literal text", ""},
                 {"ab.cd.ef", ""},
                 {"(?:literal text)?\\d", ""},
                 {"(?:literal text)*\\d", ""},
                 {"(?:literal text)+\\d", "literal text"},
                 {"literal text(?#note)s", "literal texts"},
#define MANY "(?:aq|bq|cq) (?:zwxka\\d|zwxva\\d|zwxja\\d|zwxqa\\d)"
                 {MANY "|" MANY "|" MANY "|" MANY "|" MANY, "zwxka|zwxva|zwxja|zwxqa"}, /* too many to be joined */
                 {"(?:must).{2}(?: a| b| c| d| e)?(?: f| g| h| i)?(?:qxz#kvw#qx)?\\d seen later", " seen later"},
                 {"unclosed(", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena arena = {0};
        struct literal_set set;
        char joined[1024] = "";
        if (literal_of_regex(cases[i].pattern, false, &arena, &set, NULL))
            for (size_t k = 0; k < set.count; k++) {
                strcat(joined, k ? "|" : "");
                strcat(joined, set.text[k]);
            }
        if (strcmp(joined, cases[i].literals) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", cases[i].pattern, joined, cases[i].literals);
        arena_free(&arena);
    }
}

/* ---- guards ---- */

static bool admits(const char *pattern, const char *line)
{
    struct arena arena = {0};
    struct literal_set set;
    struct buf words = {0};
    struct pairs pairs;
    const struct need *need = NULL;
    assert_true(literal_of_regex(pattern, false, &arena, &set, &need));
    pairs_of(&pairs, line, strlen(line));
    bool admitted = !guard_write(need, &words) || guard_admits((const uint16_t *)(const void *)words.data, &pairs);
    buf_free(&words);
    arena_free(&arena);
    return admitted;
}

/* What matches is admitted, whatever the way in which it matches; what lacks a part is not. */
static void guards_ask_for_every_part(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *matching[3], *lacking[3];
    } cases[] = {
        {"\\baccuracy\\b[^\n]{0,60}\\b(?:lower|drops?|bad)\\b[^\n]{0,60}\\b(?:\\d+|multi\\w*)[ -]?(?:gpu|node)s?\\b",
         {"accuracy drops on 8 gpus", "Accuracy is bad with multi-node", "accuracy lower: 2 GPU"},
         {"accuracy 0.5 on 8 gpus", "accuracy drops at once", "accuracy 0.81 top5 0.95"}},
        {"\\b(?:hangs?|stuck)\\b.*\\bsaving\\b|\\bsaving\\b.*\\b(?:hangs?|stuck)\\b",
         {"hangs while saving", "saving is stuck", "SAVING HANGS"},
         {"saving checkpoint", "it hangs", "stuck at a step"}},
        {"checkpoint\\w*[^\n]{0,40}(?:fail(?:s|ed|ure)?|corrupt)(?: again)?",
         {"checkpoint failed", "checkpoints: corrupt again", "checkpoint fail"},
         {"checkpoint saved", "saving checkpoint 3", "a checkpoint of fall"}},
        {"exit code (?:\\d\\d)?", {"exit code ", "exit code 12", "EXIT CODE 1"}, {"exit cod", "exitcode 1", "exit"}},
        {"(?:ab{2,3}c|x+)\\tfixed text", {"abbc\tfixed text", "xx\tfixed text", "abbbc fixed text"}, {"xx fixed", "fixed", "text"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t k = 0; k < 3; k++) {
            if (!admits(cases[i].pattern, cases[i].matching[k]))
                fail_msg("%s is turned away by %s", cases[i].matching[k], cases[i].pattern);
            if (admits(cases[i].pattern, cases[i].lacking[k]))
                fail_msg("%s is admitted by %s", cases[i].lacking[k], cases[i].pattern);
        }
}

/* Too much to be kept: something is left out, or all of it, and lines that match are admitted all the same. */
static void guards_stay_small(void **state)
{
    (void)state;
    char pattern[8000] = "first literal";
    for (size_t i = 0; i < 40; i++)
        (void)sprintf(pattern + strlen(pattern), ".*(?:alternative%zu|another%zu|something%zu|different%zu)", i, i, i, i);
    char line[2000] = "first literal";
    for (size_t i = 0; i < 40; i++)
        (void)sprintf(line + strlen(line), " another%zu", i);
    assert_true(admits(pattern, line));
    assert_false(admits(pattern, "first literal and nothing else"));
}

static void rates_order_texts(void **state)
{
    (void)state;
    assert_true(literal_cost("training", 8) > literal_cost("segfault", 8));
    assert_true(literal_cost(" step ", 6) > literal_cost("jumpy ", 6));
    assert_true(literal_cost("hang", 4) > literal_cost("hangs", 5)); /* four bytes fill the filter's tables */
    assert_true(literal_best_window("training step ncclSystemError", 29) >= strlen("training step"));
    for (size_t i = 1; i < gram_count; i++)
        assert_true(strcmp(gram_table[i - 1].text, gram_table[i].text) < 0);
}

static void case_is_told_by_the_flag_and_by_the_expression(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct literal_set set;
    assert_true(literal_of_regex("(?i)literal text", false, &arena, &set, NULL));
    assert_true(set.ignore_case);
    assert_true(literal_of_regex("literal text", false, &arena, &set, NULL));
    assert_false(set.ignore_case);
    assert_true(literal_of_text("literal text", true, &arena, &set));
    assert_true(set.ignore_case);
    assert_false(literal_of_text("abcd", false, &arena, &set));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_literal_is_passed_over),
        cmocka_unit_test(all_literals_are_found),
        cmocka_unit_test(what_has_no_literal_is_passed_over),
        cmocka_unit_test(expressions_give_their_rarest_needed_text),
        cmocka_unit_test(guards_ask_for_every_part),
        cmocka_unit_test(guards_stay_small),
        cmocka_unit_test(rates_order_texts),
        cmocka_unit_test(case_is_told_by_the_flag_and_by_the_expression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

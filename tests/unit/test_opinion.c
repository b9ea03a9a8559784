/* Which lines of a log the classifier is asked about. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diagnose/opinion.h"

#define OUT_OF_MEMORY "training-evaluation/out-of-memory"

static struct kb *kb;

static int open_kb(void **state)
{
    (void)state;
    struct err err = {0};
    return kb_open(KB_FILE, NULL, 0, &kb, &err) == DTKB_OK ? 0 : -1;
}

static int close_kb(void **state)
{
    (void)state;
    kb_close(kb);
    return 0;
}

static struct evidence line(uint64_t number, enum evidence_kind kind, enum sig_role role, const char *text)
{
    return (struct evidence){.kind = kind, .role = role, .signature = SIGNATURE_NONE, .line = number, .sequence = number, .text = text};
}

static struct opinion opinion_of(struct evidence *list, size_t count)
{
    struct findings findings = {.evidence = list, .evidence_count = count};
    struct opinion opinion;
    struct err err = {0};
    if (opinion_form(kb, &findings, &opinion, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    return opinion;
}

static const char began[] = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB";
static const char followed[] = "RuntimeError: Connection closed by peer [10.0.0.7]:41874";

static void what_follows_is_not_asked_about_where_something_began(void **state)
{
    (void)state;
    struct evidence both[] = {line(1, EV_EXCEPTION, ROLE_INITIATING, began), line(2, EV_EXCEPTION, ROLE_CASCADE, followed)};
    /* The line that follows is told twice: as a structure, and as a line for the search. */
    struct evidence twice[] = {both[0], both[1], line(2, EV_ERROR_LINE, ROLE_UNKNOWN, followed)};
    struct opinion alone = opinion_of(both, 1), with = opinion_of(both, 2), told_twice = opinion_of(twice, 3);
    assert_string_equal(alone.symptoms.list[0].label, OUT_OF_MEMORY);
    double share = guesses_share(&alone.symptoms, OUT_OF_MEMORY);
    assert_true(fabs(guesses_share(&with.symptoms, OUT_OF_MEMORY) - share) < 1e-12);
    assert_true(fabs(guesses_share(&told_twice.symptoms, OUT_OF_MEMORY) - share) < 1e-12);
}

static void what_follows_is_asked_about_where_nothing_began(void **state)
{
    (void)state;
    struct evidence cascade[] = {line(1, EV_EXCEPTION, ROLE_CASCADE, followed)};
    struct opinion opinion = opinion_of(cascade, 1);
    assert_true(opinion.symptoms.count > 0);
    assert_true(guesses_share(&opinion.symptoms, "training-evaluation/communication-error") >
                guesses_share(&opinion.symptoms, OUT_OF_MEMORY));
}

static void without_a_log_there_is_no_opinion(void **state)
{
    (void)state;
    struct opinion opinion;
    assert_int_equal(opinion_form(kb, NULL, &opinion, NULL), DTKB_OK);
    assert_int_equal(opinion.symptoms.count + opinion.fixes.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_follows_is_not_asked_about_where_something_began),
        cmocka_unit_test(what_follows_is_asked_about_where_nothing_began),
        cmocka_unit_test(without_a_log_there_is_no_opinion),
    };
    return cmocka_run_group_tests(tests, open_kb, close_kb);
}

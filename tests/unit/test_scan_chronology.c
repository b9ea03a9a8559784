#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "scan/chronology.h"

static struct findings findings_of(struct evidence *evidence, size_t count)
{
    static struct input_file files[2];
    return (struct findings){.files = files, .file_count = 2, .evidence = evidence, .evidence_count = count};
}

static struct evidence at(uint32_t file, uint64_t sequence, double time, const char *text)
{
    return (struct evidence){.file = file, .sequence = sequence, .time = time, .text = text};
}

static void ranks_are_told_in_the_order_of_time(void **state)
{
    (void)state;
    struct evidence evidence[] = {at(0, 1, 100, "step"), at(0, 9, 109, "lost peer"), at(1, 20, 100.5, "step"),
                                  at(1, 30, NAN, "out of memory"), at(1, 30, NAN, "the same line")};
    struct findings findings = findings_of(evidence, 5);
    assert_int_equal(chronology_order(&findings, NULL), DTKB_OK);
    assert_string_equal(findings.evidence[2].text, "out of memory");
    assert_string_equal(findings.evidence[4].text, "lost peer");
    assert_int_equal(findings.evidence[2].sequence, findings.evidence[3].sequence);
    assert_true(findings.evidence[3].sequence < findings.evidence[4].sequence);
    arena_free(&findings.arena);
}

static void without_stamps_the_files_order_stays(void **state)
{
    (void)state;
    struct evidence evidence[] = {at(0, 1, 100, "a"), at(1, 5, NAN, "b"), at(1, 6, NAN, "c")};
    struct findings findings = findings_of(evidence, 3);
    assert_int_equal(chronology_order(&findings, NULL), DTKB_OK);
    assert_ptr_equal(findings.evidence, evidence);
    assert_int_equal(findings.evidence[2].sequence, 6);
    arena_free(&findings.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_told_in_the_order_of_time),
        cmocka_unit_test(without_stamps_the_files_order_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

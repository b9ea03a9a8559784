#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kb/postings.h"

#define COUNT 1000

static void fill(struct postings_entry *entries)
{
    for (uint32_t i = 0; i < COUNT; i++)
        entries[i] = (struct postings_entry){.doc = 1 + i * 3 + (i % 7 == 0), .weight = 1 + i % 300};
}

static void a_list_reads_back_as_written(void **unused)
{
    (void)unused;
    struct postings_entry entries[COUNT];
    struct buf bytes = {0};
    struct postings list;
    fill(entries);
    postings_write(&bytes, entries, COUNT);
    postings_begin(&list, bytes.data, bytes.length, 5000);
    for (size_t i = 0; i < COUNT; i++, postings_next(&list)) {
        assert_int_equal(list.doc, entries[i].doc);
        assert_int_equal(list.weight, entries[i].weight);
    }
    assert_int_equal(list.doc, POSTINGS_END);
    assert_false(list.damaged);
    buf_free(&bytes);
}

static void seeking_finds_the_first_at_or_after(void **unused)
{
    (void)unused;
    struct postings_entry entries[COUNT];
    struct buf bytes = {0};
    struct postings list;
    fill(entries);
    postings_write(&bytes, entries, COUNT);
    for (uint32_t step = 1; step < 900; step += 61) {
        postings_begin(&list, bytes.data, bytes.length, 5000);
        size_t at = 0;
        for (uint32_t target = step; target < 3300; target += step) {
            postings_seek(&list, target);
            while (at < COUNT && entries[at].doc < target)
                at++;
            assert_int_equal(list.doc, at < COUNT ? entries[at].doc : POSTINGS_END);
        }
    }
    buf_free(&bytes);
}

static void an_empty_list_is_at_its_end(void **unused)
{
    (void)unused;
    struct postings list;
    postings_begin(&list, "", 0, 10);
    assert_int_equal(list.doc, POSTINGS_END);
    assert_false(list.damaged);
}

static void damage_ends_the_list_and_is_told(void **unused)
{
    (void)unused;
    struct postings_entry entries[COUNT];
    struct buf bytes = {0};
    fill(entries);
    postings_write(&bytes, entries, COUNT);
    size_t told = 0;
    for (size_t i = 0; i < bytes.length; i++) {
        /* A copy of exact size, so that reading past its end is seen by the sanitizers. */
        unsigned char *copy = malloc(bytes.length - i / 2);
        memcpy(copy, bytes.data, bytes.length - i / 2);
        if (i / 2 < bytes.length - i / 2)
            copy[i / 2] ^= 0x85;
        struct postings list;
        postings_begin(&list, copy, bytes.length - i / 2, 5000);
        for (uint32_t doc = 0; list.doc != POSTINGS_END; postings_next(&list)) {
            assert_true(list.doc > doc && list.doc <= 5000);
            doc = list.doc;
        }
        told += list.damaged;
        free(copy);
    }
    assert_true(told > bytes.length / 2);
    buf_free(&bytes);
}

static void varints_are_bounded(void **unused)
{
    (void)unused;
    uint32_t value;
    const uint8_t largest[] = {0xff, 0xff, 0xff, 0xff, 0x0f}, too_large[] = {0xff, 0xff, 0xff, 0xff, 0x10}, cut[] = {0x80};
    const uint8_t *next = largest;
    assert_true(varint_read(&next, largest + 5, &value));
    assert_int_equal(value, UINT32_MAX);
    next = too_large;
    assert_false(varint_read(&next, too_large + 5, &value));
    next = cut;
    assert_false(varint_read(&next, cut + 1, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_reads_back_as_written), cmocka_unit_test(seeking_finds_the_first_at_or_after),
        cmocka_unit_test(an_empty_list_is_at_its_end),  cmocka_unit_test(damage_ends_the_list_and_is_told),
        cmocka_unit_test(varints_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

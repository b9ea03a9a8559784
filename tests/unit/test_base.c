#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/fact.h"
#include "base/version.h"

static void buf_keeps_to_its_maximum(void **state)
{
    (void)state;
    struct buf buf = {.maximum = 10};
    buf_adds(&buf, "12345");
    buf_addf(&buf, "%d", 67890);
    assert_false(buf.failed);
    buf_addc(&buf, 'x');
    assert_true(buf.failed);
    assert_string_equal(buf_text(&buf), "1234567890");
    buf_free(&buf);
}

static void versions_compare_as_people_read_them(void **state)
{
    (void)state;
    assert_true(version_compare("2.9", "2.10") < 0);
    assert_true(version_compare("2.21.5+cuda12.4", "2.21.5") == 0);
    assert_true(version_compare("2.0", "2.0.0") == 0);
    assert_true(version_compare("2.1.0rc1", "2.1.0") < 0);
    assert_true(version_compare("1.13.1+dfsg", "1.13.0") > 0);
}

static void fact_patterns_match_part_by_part(void **state)
{
    (void)state;
    assert_true(fact_name_matches("gpu.*.mig_mode", "gpu.0.mig_mode"));
    assert_true(fact_name_matches("net.iface.{iface}.up", "net.iface.eth0.up"));
    assert_false(fact_name_matches("gpu.*.mig_mode", "gpu.0.1.mig_mode"));
    assert_false(fact_name_matches("gpu.count", "gpu.counter"));
    assert_false(fact_name_matches("gpu.count", "gpu.count.x"));
}

static void facts_are_copied_and_found(void **state)
{
    (void)state;
    struct fact_set set = {0};
    char name[] = "host.shm.size_bytes", text[32];
    assert_true(fact_set_add(&set, &(struct fact){.name = name, .type = FACT_U64, .unit = "bytes", .value.u64 = UINT64_MAX}));
    name[0] = 'X';
    const struct fact *fact = fact_set_find(&set, "host.shm.size_bytes");
    assert_non_null(fact);
    assert_string_equal(fact_value_text(fact, text, sizeof text), "unlimited");
    fact_set_free(&set);
}

static void errors_carry_no_controls(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(err_set(&err, DTKB_E_IO, "bad file '%s'", "a\033[31m\nb"), DTKB_E_IO);
    assert_string_equal(err.text, "bad file 'a?[31m?b'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf_keeps_to_its_maximum),         cmocka_unit_test(versions_compare_as_people_read_them),
        cmocka_unit_test(fact_patterns_match_part_by_part), cmocka_unit_test(facts_are_copied_and_found),
        cmocka_unit_test(errors_carry_no_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

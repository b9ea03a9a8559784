#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "diagnose/condition.h"

static struct fact_set facts;

static void u64(const char *name, uint64_t value)
{
    assert_true(fact_set_add(&facts, &(struct fact){.name = name, .type = FACT_U64, .value.u64 = value}));
}

static int set_up(void **state)
{
    (void)state;
    u64("host.shm.size_bytes", 67108864);
    u64("host.limit.memlock_bytes", UINT64_MAX);
    fact_set_add(&facts, &(struct fact){.name = "gpu.0.mig_mode", .type = FACT_STRING, .value.string = "Disabled"});
    fact_set_add(&facts, &(struct fact){.name = "gpu.1.mig_mode", .type = FACT_STRING, .value.string = "Enabled"});
    fact_set_add(&facts, &(struct fact){.name = "gpu.driver.version", .type = FACT_STRING, .value.string = "525.60.13"});
    fact_set_add(&facts, &(struct fact){.name = "net.master.resolves", .type = FACT_BOOL, .value.boolean = false});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fact_set_free(&facts);
    return 0;
}

static enum truth ask(const char *name, enum condition_op op, const char *value)
{
    struct condition condition = {.kind = COND_FACT, .fact = name, .op = op, .value = value};
    return condition_test(&condition, &facts, NULL);
}

static void operators_compare_by_type(void **state)
{
    (void)state;
    assert_int_equal(ask("host.shm.size_bytes", OP_LT, "268435456"), TRUTH_YES);
    assert_int_equal(ask("host.shm.size_bytes", OP_GE, "67108865"), TRUTH_NO);
    assert_int_equal(ask("host.limit.memlock_bytes", OP_GT, "18446744073709551614"), TRUTH_YES);
    assert_int_equal(ask("host.limit.memlock_bytes", OP_EQ, "unlimited"), TRUTH_YES);
    assert_int_equal(ask("gpu.*.mig_mode", OP_EQ, "Enabled"), TRUTH_YES);
    assert_int_equal(ask("gpu.driver.version", OP_OLDER, "525.105"), TRUTH_YES);
    assert_int_equal(ask("gpu.driver.version", OP_CONTAINS, "525"), TRUTH_YES);
    assert_int_equal(ask("net.master.resolves", OP_EQ, "false"), TRUTH_YES);
}

static void what_nobody_looked_at_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(ask("nccl.init.status", OP_EQ, "ok"), TRUTH_UNKNOWN);
    assert_int_equal(ask("nccl.init.status", OP_ABSENT, NULL), TRUTH_UNKNOWN);
    assert_int_equal(ask("gpu.count", OP_ABSENT, NULL), TRUTH_YES); /* the area was looked at */
    struct condition unknown = {.kind = COND_FACT, .fact = "nccl.init.status", .op = OP_EQ, .value = "ok"};
    struct condition negated = {.kind = COND_NOT, .children = &unknown, .child_count = 1};
    assert_int_equal(condition_test(&negated, &facts, NULL), TRUTH_UNKNOWN);
}

static void all_and_any_follow_kleene(void **state)
{
    (void)state;
    const struct fact *decisive = NULL;
    struct condition parts[] = {
        {.kind = COND_FACT, .fact = "nccl.init.status", .op = OP_EQ, .value = "ok"},
        {.kind = COND_FACT, .fact = "host.shm.size_bytes", .op = OP_LT, .value = "268435456"},
    };
    struct condition any = {.kind = COND_ANY, .children = parts, .child_count = 2};
    struct condition all = {.kind = COND_ALL, .children = parts, .child_count = 2};
    assert_int_equal(condition_test(&any, &facts, &decisive), TRUTH_YES);
    assert_string_equal(decisive->name, "host.shm.size_bytes");
    assert_int_equal(condition_test(&all, &facts, NULL), TRUTH_UNKNOWN);
    parts[1].op = OP_GT;
    assert_int_equal(condition_test(&all, &facts, NULL), TRUTH_NO);
}

static void note_name(void *context, const char *fact)
{
    strcat(context, fact);
    strcat(context, " ");
}

static void missing_facts_are_named(void **state)
{
    (void)state;
    char names[128] = "";
    struct condition parts[] = {
        {.kind = COND_FACT, .fact = "gpu.*.mig_mode", .op = OP_EXISTS},
        {.kind = COND_FACT, .fact = "host.shm.free_bytes", .op = OP_LT, .value = "1"},
    };
    struct condition any = {.kind = COND_ANY, .children = parts, .child_count = 2};
    condition_missing(&any, &facts, note_name, names);
    assert_string_equal(names, "host.shm.free_bytes ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_compare_by_type),
        cmocka_unit_test(what_nobody_looked_at_is_unknown),
        cmocka_unit_test(all_and_any_follow_kleene),
        cmocka_unit_test(missing_facts_are_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* The conformance check: a plugin that keeps the contract passes, and each broken clause is named with the probe that breaks it. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "probe/conformance.h"
#include "probe_doubles.h"

static json_t *check(const char *file)
{
    const struct probe_options options = {.only_path = true};
    json_t *tree = NULL;
    struct err err;
    unsigned before = open_descriptors();
    if (conformance_check(&doubles_vocabulary, &options, file, &tree, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    assert_false(has_children());
    assert_int_equal(open_descriptors(), before);
    assert_string_equal(json_string_value(json_object_get(tree, "schema")), "dtkb.plugin-check/1");
    return tree;
}

static void expect(const json_t *tree, const char *clause, const char *result, const char *reason)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(json_object_get(tree, "clauses"), index, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "id")), clause) != 0)
            continue;
        const char *got = json_string_value(json_object_get(entry, "result")), *why = json_string_value(json_object_get(entry, "reason"));
        if (strcmp(got, result) != 0 || !strstr(why, reason))
            fail_msg("%s: %s, '%s'; expected %s, '%s'", clause, got, why, result, reason);
        return;
    }
    fail_msg("there is no clause %s", clause);
}

static void a_plugin_that_keeps_the_contract_passes(void **state)
{
    (void)state;
    json_t *tree = check(DOUBLES "/check/libdtkb-probe-keeps.so");
    static const char *const clauses[] = {"loads",      "names", "trusted",  "unique", "runs",  "result",      "facts",     "declared",
                                          "repeatable", "bare",  "deadline", "killed", "quiet", "descriptors", "processes", "files"};
    for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
        expect(tree, clauses[i], "pass", "");
    assert_string_equal(json_string_value(json_object_get(tree, "verdict")), "no-fault");
    json_decref(tree);
}

static void every_broken_clause_is_named(void **state)
{
    (void)state;
    json_t *tree = check(DOUBLES "/check/libdtkb-probe-breaks.so");
    expect(tree, "loads", "pass", "");
    expect(tree, "quiet", "warn", "probe 'noisy' prints 12 bytes, the first line: debug: here");
    expect(tree, "declared", "fail", "probe 'undeclared' emits 'double.offset'");
    expect(tree, "facts", "fail", "probe 'wrong_type': fact 'double.up' has type i64; the vocabulary says bool");
    expect(tree, "deadline", "fail", "probe 'deaf', given 0.");
    expect(tree, "killed", "fail", "probe 'defiant' went on after SIGTERM");
    expect(tree, "repeatable", "fail", "probe 'fickle' emitted 'double.item.");
    expect(tree, "bare", "fail", "probe 'fragile' crashed with empty roots: Aborted");
    expect(tree, "result", "fail", "probe 'wordless' gave no reason");
    expect(tree, "processes", "fail", "probe 'fertile' left 1 processes running");
    expect(tree, "files", "fail", "probe 'littering' wrote 'trace.log'");
    expect(tree, "descriptors", "fail", "probe 'leaking' left 1 descriptors open");
    expect(tree, "runs", "fail", "probe 'crashing' crashed: Aborted");
    assert_string_equal(json_string_value(json_object_get(tree, "verdict")), "fault");
    json_decref(tree);
}

static void programs_are_checked_too(void **state)
{
    (void)state;
    json_t *tree = check(DOUBLES "/good/dtkb-probe-shell-good");
    expect(tree, "loads", "pass", "");
    expect(tree, "bare", "pass", "");
    expect(tree, "quiet", "warn", "this is a note");
    expect(tree, "declared", "fail", "emits 'double.name'");
    expect(tree, "runs", "not-tested", "nothing here put it to the test");
    json_decref(tree);
}

static void what_does_not_load_fails_that_clause(void **state)
{
    (void)state;
    json_t *tree = check(DOUBLES "/bad/libdtkb-probe-flaw-version.so");
    expect(tree, "loads", "fail", "ABI version 7");
    expect(tree, "runs", "not-tested", "does not load");
    assert_string_equal(json_string_value(json_object_get(tree, "verdict")), "fault");
    json_decref(tree);
}

static void a_missing_file_is_an_error(void **state)
{
    (void)state;
    const struct probe_options options = {.only_path = true};
    json_t *tree = NULL;
    struct err err;
    assert_int_equal(conformance_check(&doubles_vocabulary, &options, "/nowhere/libdtkb-probe-x.so", &tree, &err), DTKB_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "/nowhere/libdtkb-probe-x.so"));
}

static void nothing_stays_in_the_scratch_folder(void **state)
{
    (void)state;
    char folder[] = "/tmp/dtkb-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    json_decref(check(DOUBLES "/abi/libdtkb-probe-first.so"));
    assert_int_equal(unsetenv("TMPDIR"), 0);
    assert_int_equal(rmdir(folder), 0); /* only possible when it is empty */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plugin_that_keeps_the_contract_passes),
        cmocka_unit_test(every_broken_clause_is_named),
        cmocka_unit_test(programs_are_checked_too),
        cmocka_unit_test(what_does_not_load_fails_that_clause),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(nothing_stays_in_the_scratch_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

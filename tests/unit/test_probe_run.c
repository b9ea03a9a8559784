/* Probes that misbehave: each costs its own result only, and leaves nothing behind. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe/probe.h"
#include "probe_doubles.h"

#define DEADLINE 0.6

struct outcome {
    dtkb_status status;
    struct fact_set facts;
    struct probe_results results;
    struct err err;
    double seconds;
    unsigned descriptors;
};

static void run_with(struct outcome *out, struct probe_options options, const char *const *names, size_t count)
{
    *out = (struct outcome){.descriptors = open_descriptors()};
    options.plugin_path = options.plugin_path ? options.plugin_path : DOUBLES "/good";
    options.only_path = true;
    uint64_t before = clock_ns();
    out->status = probe_run_checked(&doubles_vocabulary, names, count, &options, &out->facts, &out->results, &out->err);
    out->seconds = (double)(clock_ns() - before) / 1e9;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void run_names(struct outcome *out, struct probe_options options, const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    run_with(out, options, names, count);
    if (out->status != DTKB_OK)
        fail_msg("%s", out->err.text);
}

static void done(struct outcome *out)
{
    probe_results_free(&out->results);
    fact_set_free(&out->facts);
    assert_false(has_children());
    assert_int_equal(open_descriptors(), out->descriptors);
}

static const struct probe_result *result_of(const struct outcome *out, const char *name)
{
    for (size_t i = 0; i < out->results.count; i++)
        if (!strcmp(out->results.results[i].name, name))
            return &out->results.results[i];
    fail_msg("no result of %s", name);
    return NULL;
}

static void expect(const struct outcome *out, const char *name, enum probe_status status, const char *reason)
{
    const struct probe_result *result = result_of(out, name);
    if (result->status != status || !strstr(result->reason, reason))
        fail_msg("%s: %s, '%s'; expected %s, '%s'", name, probe_status_name(result->status), result->reason, probe_status_name(status),
                 reason);
}

static void facts_arrive_with_type_unit_and_source(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){0}, NAMES("good"));
    expect(&out, "good", PROBE_OK, "");
    assert_int_equal(out.facts.count, 5);
    const struct fact *size = fact_set_find(&out.facts, "double.size_bytes");
    assert_true(size && size->type == FACT_U64 && size->value.u64 == UINT64_MAX);
    assert_string_equal(size->unit, "bytes");
    assert_string_equal(size->plugin, "doubles");
    assert_true(size->time > 1e9);
    assert_true(fact_set_find(&out.facts, "double.up")->value.boolean);
    assert_true(fact_set_find(&out.facts, "double.offset")->value.i64 == -3);
    assert_true(fact_set_find(&out.facts, "double.rate_gbps")->value.f64 > 12.4);
    assert_string_equal(fact_set_find(&out.facts, "double.name")->value.string, "caf\xc3\xa9 \"quoted\" \x1b[31m \xef\xbf\xbd end");
    assert_string_equal(result_of(&out, "good")->log, "looking\n");
    done(&out);
}

static void a_probe_is_told_what_it_may_see(void **state)
{
    (void)state;
    struct outcome out;
    const char *const env[] = {"RANK=3", "DTKB_PARAM_other=stale", "NCCL_ALGO=Tree", "NCCL_P2P_DISABLE=0", NULL};
    const char *const params[] = {"echo.size-bytes=17", "good.other=5",
                                  "trial=NCCL_SOCKET_IFNAME=^lo,br-,NCCL_P2P_DISABLE=1,NCCL_ALGO=", NULL};
    const struct probe_options options = {
        .proc_root = "/p", .sys_root = "/s", .dev_root = "/d", .env = env, .params = params, .timeout = 5};
    run_names(&out, options, NAMES("echo", "shell-good"));
    expect(&out, "echo", PROBE_OK, "");
    expect(&out, "shell-good", PROBE_OK, "");
    assert_string_equal(fact_set_find(&out.facts, "double.name")->value.string,
                        "echo /p /s /d rank=3 size=17 other=none tried=1,^lo,br-,gone scratch=1 left=1");
    assert_string_equal(result_of(&out, "shell-good")->output, "this is a note\n");
    done(&out);
}

static void a_trial_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"trial=faster", "echo.trial=NCCL_P2P_DISABLE", "trial==1", "trial=", "trial=1A=2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct outcome out;
        run_with(&out, (struct probe_options){.params = (const char *const[]){wrong[i], NULL}}, NAMES("echo"), 1);
        assert_int_equal(out.status, DTKB_E_USAGE);
        assert_non_null(strstr(out.err.text, wrong[i]));
        assert_non_null(strstr(out.err.text, "NAME=VALUE"));
    }
}

static void results_and_reasons_are_the_probes_own(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){0}, NAMES("faulty", "inapplicable", "unable", "strange-result"));
    expect(&out, "faulty", PROBE_FAULT, "it is broken");
    expect(&out, "inapplicable", PROBE_SKIPPED, "no such device here");
    expect(&out, "unable", PROBE_UNAVAILABLE, "libfoo.so is missing");
    expect(&out, "strange-result", PROBE_UNAVAILABLE, "does not say at what");
    assert_string_equal(result_of(&out, "faulty")->evidence, "line one\nline two\n");
    assert_string_equal(result_of(&out, "faulty")->evidence_source, "tool");
    done(&out);
}

static void programs_keep_the_same_contract(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){0}, NAMES("python-good"));
    expect(&out, "python-good", PROBE_FAULT, "as asked");
    assert_true(fact_set_find(&out.facts, "double.size_bytes")->value.u64 == UINT64_MAX);
    assert_string_equal(fact_set_find(&out.facts, "double.rate_gbps")->origin, "a file");
    assert_true(fact_set_find(&out.facts, "double.up")->value.boolean);
    done(&out);
}

/* All that misbehave at once, and two that are well among them. */
static void each_gets_its_own_status_and_harms_no_other(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){.timeout = DEADLINE},
              NAMES("segfault", "aborts", "exits-0", "exits-3", "loops", "ignores-term", "stops-itself", "grandchild", "ill-typed",
                    "wrong-unit", "duplicates", "unknown-fact", "bad-fact", "many-facts", "leaks", "polite", "echo", "inapplicable"));
    assert_true(out.seconds < DEADLINE + 0.5 + 0.3 /* describing them first */);
    expect(&out, "segfault", PROBE_CRASHED, "Segmentation fault");
    assert_int_equal(result_of(&out, "segfault")->signal, SIGSEGV);
    expect(&out, "aborts", PROBE_CRASHED, "Aborted");
    expect(&out, "exits-0", PROBE_CRASHED, "ended its process with status 0");
    expect(&out, "exits-3", PROBE_CRASHED, "ended its process with status 3");
    expect(&out, "loops", PROBE_TIMED_OUT, "did not end within");
    expect(&out, "ignores-term", PROBE_TIMED_OUT, "did not end within");
    expect(&out, "stops-itself", PROBE_TIMED_OUT, "did not end within");
    expect(&out, "grandchild", PROBE_OK, "");
    expect(&out, "ill-typed", PROBE_BAD_OUTPUT, "fact 'double.size_bytes' has type string; the vocabulary says u64");
    expect(&out, "wrong-unit", PROBE_BAD_OUTPUT, "has unit 'kB'; the vocabulary says 'bytes'");
    expect(&out, "duplicates", PROBE_BAD_OUTPUT, "fact 'double.up' was emitted twice");
    expect(&out, "unknown-fact", PROBE_BAD_OUTPUT, "fact 'nobody.knows.this' is in no vocabulary");
    expect(&out, "bad-fact", PROBE_BAD_OUTPUT, "unknown type");
    expect(&out, "many-facts", PROBE_BAD_OUTPUT, "more than 4096 facts");
    expect(&out, "leaks", PROBE_OK, "");
    expect(&out, "polite", PROBE_TIMED_OUT, "nearly up");
    expect(&out, "echo", PROBE_OK, "");
    expect(&out, "inapplicable", PROBE_SKIPPED, "no such device here");
    assert_non_null(fact_set_find(&out.facts, "double.name")); /* of echo */
    done(&out);
}

static void a_hundred_megabytes_on_stdout_are_dropped(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){.timeout = 10}, NAMES("floods", "good"));
    expect(&out, "floods", PROBE_OK, "");
    expect(&out, "good", PROBE_OK, "");
    const char *printed = result_of(&out, "floods")->output;
    assert_in_range(strlen(printed), 65536, 65536 + 64);
    assert_non_null(strstr(printed, "[104792064 more bytes]"));
    done(&out);
}

static void programs_that_break_the_contract_are_told_how(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){.timeout = DEADLINE},
              NAMES("no-json", "no-result", "bad-status", "two-results", "kills-itself", "lingers", "wrong-word", "huge-line", "wrong-name",
                    "negative"));
    expect(&out, "no-json", PROBE_BAD_OUTPUT, "line 1 of what it reported is no JSON object");
    expect(&out, "no-result", PROBE_CRASHED, "before it gave a result");
    expect(&out, "bad-status", PROBE_CRASHED, "status 4 after it had given its result");
    expect(&out, "two-results", PROBE_BAD_OUTPUT, "second result");
    expect(&out, "kills-itself", PROBE_CRASHED, "Killed");
    expect(&out, "lingers", PROBE_TIMED_OUT, "did not end");
    expect(&out, "wrong-word", PROBE_BAD_OUTPUT, "result 'fine' is none of");
    expect(&out, "huge-line", PROBE_BAD_OUTPUT, "more than 64 KiB");
    expect(&out, "wrong-name", PROBE_BAD_OUTPUT, "not well-formed");
    expect(&out, "negative", PROBE_BAD_OUTPUT, "is no u64");
    done(&out);
}

static void a_hang_costs_its_deadline_and_little_more(void **state)
{
    (void)state;
    struct outcome describing, hanging;
    run_names(&describing, (struct probe_options){0}, NAMES("inapplicable"));
    run_names(&hanging, (struct probe_options){.timeout = 0.3}, NAMES("ignores-term"));
    double cost = hanging.seconds - describing.seconds;
    assert_true(cost < 0.3 + 0.6); /* 0.03 to SIGKILL; the rest is for a busy machine, far from the probe's own 10 */
    assert_true(result_of(&hanging, "ignores-term")->seconds < 0.3 + 0.6);
    done(&describing);
    done(&hanging);
}

static void nothing_is_taken_after_the_deadline(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){.timeout = 0.3}, NAMES("late"));
    expect(&out, "late", PROBE_TIMED_OUT, "did not end");
    assert_non_null(fact_set_find(&out.facts, "double.up"));
    assert_null(fact_set_find(&out.facts, "double.size_bytes"));
    assert_null(fact_set_find(&out.facts, "double.offset"));
    done(&out);
}

static void what_a_probe_started_ends_with_it(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){.timeout = 5}, NAMES("grandchild"));
    expect(&out, "grandchild", PROBE_OK, "");
    assert_true(out.seconds < 2); /* not waited for, though it holds the pipes */
    pid_t child = (pid_t)fact_set_find(&out.facts, "double.size_bytes")->value.u64;
    for (int i = 0; i < 200 && kill(child, 0) == 0; i++) /* until init has reaped it */
        (void)usleep(10000);
    assert_int_equal(kill(child, 0), -1);
    done(&out);
}

static void facts_before_a_crash_are_kept(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){0}, NAMES("segfault"));
    assert_non_null(fact_set_find(&out.facts, "double.up"));
    done(&out);
}

static void the_budget_ends_all_of_them(void **state)
{
    (void)state;
    struct outcome out;
    run_names(&out, (struct probe_options){.timeout = 20, .budget = 0.4}, NAMES("loops", "inapplicable", "ignores-term"));
    assert_true(out.seconds < 0.4 + 0.5 + 0.3);
    expect(&out, "loops", PROBE_TIMED_OUT, "");
    expect(&out, "ignores-term", PROBE_TIMED_OUT, "");
    expect(&out, "inapplicable", PROBE_SKIPPED, "no such device");
    done(&out);
}

static int after_a_while(void *context)
{
    const uint64_t *end = context;
    return clock_ns() > *end;
}

static void a_run_can_be_cancelled(void **state)
{
    (void)state;
    struct outcome out;
    uint64_t end = clock_ns() + 500 * CLOCK_NS_PER_MS;
    run_names(&out, (struct probe_options){.timeout = 20, .cancelled = after_a_while, .context = &end}, NAMES("loops"));
    expect(&out, "loops", PROBE_SKIPPED, "cancelled");
    assert_true(out.seconds < 2);
    done(&out);
}

static void an_unknown_name_lists_those_there_are(void **state)
{
    (void)state;
    struct outcome out;
    run_with(&out, (struct probe_options){0}, (const char *const[]){"god"}, 1);
    assert_int_equal(out.status, DTKB_E_NOT_FOUND);
    assert_non_null(strstr(out.err.text, "there is no probe 'god'; there are "));
    assert_non_null(strstr(out.err.text, "shell-good"));
    done(&out);
}

static void without_names_only_passive_probes_run(void **state)
{
    (void)state;
    struct outcome out;
    run_with(&out, (struct probe_options){0}, NULL, 0);
    assert_int_equal(out.status, DTKB_OK);
    assert_int_equal(out.results.count, 1);
    expect(&out, "good", PROBE_OK, "");
    done(&out);
}

static void the_first_version_1_plugin_still_runs(void **state)
{
    (void)state;
    struct outcome out;
    const char *const params[] = {"expected=still here", NULL};
    run_names(&out, ((struct probe_options){.plugin_path = DOUBLES "/abi", .params = params}), NAMES("first"));
    expect(&out, "first", PROBE_OK, "");
    assert_true(fact_set_find(&out.facts, "double.size_bytes")->value.u64 == 42);
    assert_string_equal(fact_set_find(&out.facts, "double.name")->value.string, "still here");
    done(&out);
}

static void *run_in_thread(void *context)
{
    struct outcome *out = context;
    const char *const names[] = {"good", "loops"};
    run_with(out, (struct probe_options){.timeout = 0.3}, names, 2);
    return NULL;
}

static void any_thread_may_run_them(void **state)
{
    (void)state;
    struct outcome outs[3];
    pthread_t threads[3];
    unsigned before = open_descriptors();
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &outs[i]), 0);
    for (int i = 0; i < 3; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(outs[i].status, DTKB_OK);
        expect(&outs[i], "good", PROBE_OK, "");
        expect(&outs[i], "loops", PROBE_TIMED_OUT, "");
        outs[i].descriptors = before;
        done(&outs[i]);
    }
}

/* An embedding program that ignores SIGCHLD has its children reaped behind our back; the probe's own word still counts. */
static void ignored_child_signals_do_not_matter(void **state)
{
    (void)state;
    struct outcome out;
    void (*old)(int) = signal(SIGCHLD, SIG_IGN);
    run_names(&out, (struct probe_options){.timeout = 0.5}, NAMES("good", "faulty", "segfault", "ignores-term"));
    (void)signal(SIGCHLD, old);
    expect(&out, "good", PROBE_OK, "");
    expect(&out, "faulty", PROBE_FAULT, "it is broken");
    expect(&out, "segfault", PROBE_CRASHED, "before it gave a result");
    expect(&out, "ignores-term", PROBE_TIMED_OUT, "");
    done(&out);
}

static void closed_standard_descriptors_do_not_matter(void **state)
{
    (void)state;
    struct outcome out;
    int saved[3];
    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        (void)close(fd);
    }
    const char *const names[] = {"good"};
    run_with(&out, (struct probe_options){0}, names, 1);
    for (int fd = 0; fd < 3; fd++) {
        (void)dup2(saved[fd], fd);
        (void)close(saved[fd]);
    }
    assert_int_equal(out.status, DTKB_OK);
    expect(&out, "good", PROBE_OK, "");
    probe_results_free(&out.results);
    fact_set_free(&out.facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_arrive_with_type_unit_and_source),
        cmocka_unit_test(a_probe_is_told_what_it_may_see),
        cmocka_unit_test(a_trial_that_is_none_is_refused),
        cmocka_unit_test(results_and_reasons_are_the_probes_own),
        cmocka_unit_test(programs_keep_the_same_contract),
        cmocka_unit_test(each_gets_its_own_status_and_harms_no_other),
        cmocka_unit_test(a_hundred_megabytes_on_stdout_are_dropped),
        cmocka_unit_test(programs_that_break_the_contract_are_told_how),
        cmocka_unit_test(a_hang_costs_its_deadline_and_little_more),
        cmocka_unit_test(nothing_is_taken_after_the_deadline),
        cmocka_unit_test(what_a_probe_started_ends_with_it),
        cmocka_unit_test(facts_before_a_crash_are_kept),
        cmocka_unit_test(the_budget_ends_all_of_them),
        cmocka_unit_test(a_run_can_be_cancelled),
        cmocka_unit_test(an_unknown_name_lists_those_there_are),
        cmocka_unit_test(without_names_only_passive_probes_run),
        cmocka_unit_test(the_first_version_1_plugin_still_runs),
        cmocka_unit_test(any_thread_may_run_them),
        cmocka_unit_test(ignored_child_signals_do_not_matter),
        cmocka_unit_test(closed_standard_descriptors_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

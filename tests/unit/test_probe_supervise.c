/* The supervisor itself, and what comes in over the wire. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "probe/intake.h"
#include "probe/supervise.h"
#include "probe_doubles.h"

static bool any_line(struct job *job, const char *text, size_t length)
{
    (void)job;
    (void)text;
    (void)length;
    return true;
}

static pid_t unreachable[8];
static void powerless(const struct child *child, int signal)
{
    if (signal == SIGTERM)
        for (size_t i = 0; i < 8; i++)
            if (!unreachable[i]) {
                unreachable[i] = child->pid;
                return;
            }
}

static void end_unreachable(void)
{
    for (size_t i = 0; i < 8 && unreachable[i]; i++) {
        assert_int_equal(kill(unreachable[i], SIGKILL), 0);
        assert_int_equal(waitpid(unreachable[i], NULL, 0), unreachable[i]);
        unreachable[i] = 0;
    }
}

static void one_that_cannot_be_killed_is_abandoned(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"/bin/sleep", (char *)"30", NULL}, *const env[] = {NULL};
    struct job jobs[2];
    for (int i = 0; i < 2; i++)
        jobs[i] = (struct job){.argv = argv, .env = env, .timeout_ns = 100 * CLOCK_NS_PER_MS, .line = any_line, .exclusive = true};
    const struct supervise_options options = {.budget_ns = 5 * CLOCK_NS_PER_S, .send = powerless};
    unsigned before = open_descriptors();
    uint64_t start = clock_ns();
    assert_int_equal(supervise(jobs, 1, &options, NULL), DTKB_OK);
    assert_true(clock_ns() - start < 100 * CLOCK_NS_PER_MS + 500 * CLOCK_NS_PER_MS);
    assert_int_equal(jobs[0].end, JOB_STUCK);
    assert_int_equal(open_descriptors(), before);
    end_unreachable();
    /* A stuck one does not keep the next exclusive one from its turn. */
    assert_int_equal(supervise(jobs, 2, &options, NULL), DTKB_OK);
    assert_int_equal(jobs[0].end, JOB_STUCK);
    assert_int_equal(jobs[1].end, JOB_STUCK);
    end_unreachable();
    assert_false(has_children());
}

static void exclusive_jobs_take_turns(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"/bin/sleep", (char *)"0.1", NULL}, *const env[] = {NULL};
    struct job jobs[4];
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct job){.argv = argv, .env = env, .timeout_ns = CLOCK_NS_PER_S, .line = any_line, .exclusive = i < 3};
    const struct supervise_options options = {.budget_ns = 5 * CLOCK_NS_PER_S};
    uint64_t start = clock_ns();
    assert_int_equal(supervise(jobs, 4, &options, NULL), DTKB_OK);
    assert_true(clock_ns() - start >= 300 * CLOCK_NS_PER_MS);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(jobs[i].end, JOB_EXITED);
        assert_int_equal(jobs[i].code, 0);
    }
}

static void more_jobs_than_fit_wait_their_turn(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"/bin/true", NULL}, *const env[] = {NULL};
    struct job jobs[80];
    for (int i = 0; i < 80; i++)
        jobs[i] = (struct job){.argv = argv, .env = env, .timeout_ns = 5 * CLOCK_NS_PER_S, .line = any_line};
    const struct supervise_options options = {.budget_ns = 20 * CLOCK_NS_PER_S};
    assert_int_equal(supervise(jobs, 80, &options, NULL), DTKB_OK);
    for (int i = 0; i < 80; i++)
        assert_int_equal(jobs[i].end, JOB_EXITED);
    assert_false(has_children());
}

static void what_cannot_start_says_so(void **state)
{
    (void)state;
    char *const argv[] = {(char *)"/nowhere/program", NULL}, *const env[] = {NULL};
    struct job job = {.argv = argv, .env = env, .timeout_ns = CLOCK_NS_PER_S, .line = any_line};
    const struct supervise_options options = {.budget_ns = CLOCK_NS_PER_S};
    unsigned before = open_descriptors();
    assert_int_equal(supervise(&job, 1, &options, NULL), DTKB_OK);
    assert_int_equal(job.end, JOB_NOT_STARTED);
    assert_int_equal(job.code, ENOENT);
    assert_int_equal(open_descriptors(), before);
    assert_false(has_children());
}

/* ---- the wire ---- */

static bool take(struct intake *intake, const char *line, char *mistake)
{
    return intake_line(intake, line, strlen(line), mistake, 256);
}

static void lines_are_checked_one_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *line, *mistake; /* NULL: good */
    } rows[] = {
        {"{\"fact\": \"double.size_bytes\", \"type\": \"u64\", \"value\": \"18446744073709551615\", \"unit\": \"bytes\"}", NULL},
        {"{\"fact\": \"double.size_bytes\", \"type\": \"u64\", \"value\": \"18446744073709551616\", \"unit\": \"bytes\"}", "is no u64"},
        {"{\"fact\": \"double.size_bytes\", \"type\": \"u64\", \"value\": \"-1\", \"unit\": \"bytes\"}", "is no u64"},
        {"{\"fact\": \"double.size_bytes\", \"type\": \"u64\", \"value\": 1.5, \"unit\": \"bytes\"}", "is no u64"},
        {"{\"fact\": \"double.size_bytes\", \"type\": \"u64\", \"unit\": \"bytes\"}", "is no u64"},
        {"{\"fact\": \"double.up\", \"type\": \"bool\", \"value\": 1}", "is no bool"},
        {"{\"fact\": \"double.up\", \"type\": \"boolean\", \"value\": true}", "type 'boolean'"},
        {"{\"fact\": \"double.rate_gbps\", \"type\": \"f64\", \"value\": 3, \"unit\": \"Gbit/s\"}", NULL},
        {"{\"fact\": \"double.rate_gbps\", \"type\": \"f64\", \"value\": 1e999, \"unit\": \"Gbit/s\"}", "no JSON object"},
        {"{\"fact\": \"double.rate_gbps\", \"type\": \"f64\", \"value\": NaN, \"unit\": \"Gbit/s\"}", "no JSON object"},
        {"{\"fact\": \"double.up \", \"type\": \"bool\", \"value\": true}", "not well-formed"},
        {"{\"fact\": 7, \"type\": \"bool\", \"value\": true}", "not well-formed"},
        {"{\"fact\": \"double.up\", \"fact\": \"double.up\", \"type\": \"bool\", \"value\": true}", "no JSON object"},
        {"{\"reason\": \"two\\nlines\", \"new key\": 1}", NULL},
        {"{\"log\": \"x\", \"level\": 1}", NULL},
        {"{\"answer\": 42}", "says nothing known"},
        {"[1]", "another value"},
        {"", "no JSON object"},
        {"{\"log\": \"\xff\"}", "no JSON object"},
        {"{\"log\": \"\\u0000\"}", "no JSON object"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct intake intake;
        char mistake[256] = "";
        assert_true(intake_start(&intake, &doubles_vocabulary, "test"));
        bool good = take(&intake, rows[i].line, mistake);
        if (good != !rows[i].mistake || (rows[i].mistake && !strstr(mistake, rows[i].mistake)))
            fail_msg("%s: %s", rows[i].line, good ? "taken" : mistake);
        intake_free(&intake);
    }
}

static void texts_are_capped_and_clean(void **state)
{
    (void)state;
    struct intake intake;
    char mistake[256], line[9000];
    assert_true(intake_start(&intake, &doubles_vocabulary, "test"));
    memset(line, 'x', sizeof line);
    memcpy(line, "{\"log\": \"\\u001b[2J", 18);
    strcpy(line + sizeof line - 3, "\"}");
    for (int i = 0; i < 100; i++)
        assert_true(take(&intake, line, mistake));
    assert_in_range(intake.log.length, INTAKE_TEXT_MAX - 9000, INTAKE_TEXT_MAX);
    assert_memory_equal(buf_text(&intake.log), "?[2Jx", 5);
    memcpy(line, "{\"reason\": \"xxxxx", 17);
    assert_true(take(&intake, line, mistake));
    assert_in_range(intake.reason.length, 1, 1024);
    intake_free(&intake);
}

static void broken_utf8_and_controls_are_replaced(void **state)
{
    (void)state;
    struct buf buf = {0};
    static const char dirty[] = "a\x1b[1m\xc2\x9b\xed\xa0\x80\xc0\x80 ok\t\n\xf0\x9f\x98\x80\xe2\x82";
    buf_add_clean(&buf, dirty, sizeof dirty - 1);
    assert_string_equal(
        buf_text(&buf),
        "a?[1m?\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd ok\t\n\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd");
    assert_true(utf8_is_valid(buf.data, buf.length));
    assert_int_equal(utf8_cut("a\xe2\x82\xac", 4, 3), 1);
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_cannot_be_killed_is_abandoned), cmocka_unit_test(exclusive_jobs_take_turns),
        cmocka_unit_test(more_jobs_than_fit_wait_their_turn),     cmocka_unit_test(what_cannot_start_says_so),
        cmocka_unit_test(lines_are_checked_one_by_one),           cmocka_unit_test(texts_are_capped_and_clean),
        cmocka_unit_test(broken_utf8_and_controls_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

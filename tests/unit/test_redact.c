#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/redact.h"

static struct redactor *redactor;

static void expect(const char *text, const char *wanted)
{
    struct buf out = {0};
    redact(redactor, text, &out);
    assert_string_equal(buf_text(&out), wanted);
    buf_free(&out);
}

static void secrets_go(void **state)
{
    (void)state;
    expect("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwx", "export HF_TOKEN=[removed]");
    expect("login with hf_abcdefghijklmnopqrstuvwx now", "login with [removed] now");
    expect("\"api_key\": \"s3cr3t-value\", \"x\": 1", "\"api_key\": \"[removed]\", \"x\": 1");
    expect("AWS_SECRET_ACCESS_KEY=abcd/efgh+ijkl", "AWS_SECRET_ACCESS_KEY=[removed]");
    expect("GET https://bob:hunter22@host/x", "GET https://bob:[removed]@host/x");
    expect("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [removed]");
    expect("key AKIAABCDEFGHIJKLMNOP used", "key [removed] used");
}

static void errors_stay(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1275, internal error, NCCL version 2.14.3",
        "KeyError: 'token'",
        "ValueError: Unexpected token at position 5",
        "tokens/s: 1200, loss: 2.31",
        "connect to tcp://10.0.0.3:29500 failed",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(lines[i], lines[i]);
}

static void hostile_lines_cost_little(void **state)
{
    (void)state;
    static char line[1 << 20];
    memset(line, 'a', sizeof line - 1);
    expect(line, line);
    for (size_t i = 0; i + 1 < sizeof line; i += 6)
        memcpy(line + i, "token=", i + 7 < sizeof line ? 6 : 1);
    struct buf out = {0};
    redact(redactor, line, &out);
    assert_false(out.failed);
    buf_free(&out);
}

static int set_up(void **state)
{
    (void)state;
    redactor = redactor_new();
    return redactor ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    redactor_free(redactor);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_go),
        cmocka_unit_test(errors_stay),
        cmocka_unit_test(hostile_lines_cost_little),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "kb/tokenizer.h"

static int note(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    struct buf *out = context;
    assert_true(start < end);
    assert_true(length > 0 && length <= TOKEN_MAX);
    buf_addf(out, "%s%.*s", part ? "|" : out->length ? " " : "", (int)length, token);
    return 0;
}

static void assert_words(const char *text, const char *expected)
{
    struct buf out = {0};
    assert_int_equal(tokenize(text, strlen(text), note, &out), 0);
    assert_string_equal(buf_text(&out), expected);
    buf_free(&out);
}

static void error_text_is_found_whole_and_by_parts(void **unused)
{
    (void)unused;
    assert_words("libcudart.so.10.0:", "libcudart.so.10.0|libcudart.so|10.0|libcudart|so");
    assert_words("ncclSystemError", "ncclsystemerror|nccl|system|error");
    assert_words("NCCLError GPUs", "ncclerror|nccl|error gpus");
    assert_words("NCCL_SOCKET_IFNAME=eth0", "nccl_socket_ifname|nccl|socket|ifname eth0|eth");
    assert_words("c10::Error", "c10::error|c10|error");
    assert_words("EADDRINUSE", "eaddrinuse");
    assert_words("/usr/lib/libnccl.so.2", "usr/lib/libnccl.so.2|usr|lib|libnccl.so.2|libnccl.so|libnccl|so");
    assert_words("2.21.5+cuda12.4", "2.21.5+cuda12.4|2.21.5|cuda12.4|cuda|12.4");
    assert_words("x86_64", "x86_64|x86|64");
}

static void hexadecimal_numbers_lose_leading_zeros(void **unused)
{
    (void)unused;
    assert_words("0x00007fAB 0x0", "0x7fab 0x0");
}

static void letters_beyond_ascii_are_words_too(void **unused)
{
    (void)unused;
    assert_words("ÄÖ Привет", "äö привет");
    assert_words("‘shared’ object", "shared object");
    assert_words("通信", "通 信");
}

static void any_bytes_are_allowed(void **unused)
{
    (void)unused;
    assert_words("a\xff\xfe"
                 "b\xc3(\xed\xa0\x80z",
                 "a b z");
    assert_words(". - :: // \"\" \xf0\x9f", "");
    unsigned char noise[4096];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
    struct buf out = {0};
    assert_int_equal(tokenize((const char *)noise, sizeof noise, note, &out), 0);
    buf_free(&out);
}

static void an_endless_word_is_cut(void **unused)
{
    (void)unused;
    char text[5000];
    memset(text, 'x', sizeof text);
    struct buf out = {0};
    assert_int_equal(tokenize(text, sizeof text, note, &out), 0);
    assert_true(out.length > 0);
    buf_free(&out);
}

static int stop(void *context, const char *token, size_t length, size_t start, size_t end, bool part)
{
    (void)token;
    (void)length;
    (void)start;
    (void)end;
    (void)part;
    ++*(int *)context;
    return 7;
}

static void the_taker_can_stop(void **unused)
{
    (void)unused;
    int calls = 0;
    assert_int_equal(tokenize("fooBar baz", 10, stop, &calls), 7);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_text_is_found_whole_and_by_parts),
        cmocka_unit_test(hexadecimal_numbers_lose_leading_zeros),
        cmocka_unit_test(letters_beyond_ascii_are_words_too),
        cmocka_unit_test(any_bytes_are_allowed),
        cmocka_unit_test(an_endless_word_is_cut),
        cmocka_unit_test(the_taker_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Dumps into a layer of the user's own. KB_FILE is set by the build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kb/import.h"

static char directory[] = "/tmp/dtkb-import-test.XXXXXX";
static char dump[300], json[300], layer[300];

static dtkb_status import(const char *file, const char *text, struct import_result *result, struct err *err)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    struct kb *kb = NULL;
    assert_int_equal(kb_open(KB_FILE, NULL, 0, &kb, err), DTKB_OK);
    (void)unlink(layer);
    dtkb_status status = kb_import(kb, file, layer, NULL, NULL, result, err);
    kb_close(kb);
    return status;
}

static void read_issue(const char *id, struct arena *arena, struct issue *out)
{
    const char *packs[] = {layer};
    struct kb *kb = NULL;
    assert_int_equal(kb_open(KB_FILE, packs, 1, &kb, NULL), DTKB_OK);
    assert_int_equal(kb_issue_by_id(kb, id, arena, out, NULL), DTKB_OK);
    kb_close(kb);
}

#define ROW                                                                                                       \
    "<row Id='35356514' PostTypeId='1' AcceptedAnswerId='35356520' Title='A &lt;b&gt; title'"                     \
    " Body='&lt;p&gt;It  hangs &amp;amp; stops.&lt;/p&gt;&lt;pre&gt;&lt;code&gt;RuntimeError: NCCL gone&#xA;x = " \
    "1&lt;/code&gt;&lt;/pre&gt;'/>\n"
#define ANSWER "<row Id='35356520' PostTypeId='2' ParentId='35356514' Body='&lt;p&gt;Set &lt;code&gt;X=1&lt;/code&gt;.&lt;/p&gt;'/>\n"

static void rows_of_the_study_get_their_texts(void **unused)
{
    (void)unused;
    struct err err = {0};
    struct import_result result = {0};
    if (import(dump, "<posts>\n<row Id='1' PostTypeId='1' Body='no' Title='no'/>\n" ROW ANSWER "</posts>", &result, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(result.read, 2);
    assert_true(result.filled >= 1);
    assert_int_equal(result.added, 0);
    struct arena arena = {0};
    struct issue issue;
    read_issue("so-35356514", &arena, &issue);
    assert_string_equal(issue.title, "A <b> title");
    assert_string_equal(issue.summary, "It hangs & stops.");
    assert_string_equal(issue.fix, "Set X=1.");
    assert_string_equal(issue.evidence, "imported");
    assert_int_equal(issue.error_line_count, 1);
    assert_string_equal(issue.error_lines[0], "RuntimeError: NCCL gone");
    assert_string_equal(issue.framework, "tensorflow"); /* the study's labels stay */
    arena_free(&arena);
}

static void broken_xml_leaves_nothing(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"<posts>\n" ROW "<row Id='2'\n", "<posts>\n" ROW,
                                        "<posts>\n" ROW "<row Id='2' Body='&nope;'/></posts>",
                                        "<!DOCTYPE posts [<!ENTITY a 'b'>]><posts>" ROW "</posts>", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct err err = {0};
        struct import_result result = {0};
        assert_int_equal(import(dump, texts[i], &result, &err), DTKB_E_FORMAT);
        assert_int_equal(strncmp(err.text, dump, strlen(dump)), 0);
        assert_int_not_equal(access(layer, F_OK), 0);
    }
}

static void issues_of_another_tracker_get_proposals(void **unused)
{
    (void)unused;
    struct err err = {0};
    struct import_result result = {0};
    static const char text[] =
        "[{\"html_url\":\"https://github.com/acme/Trainer/issues/7\",\"title\":\"libcudart.so.10.0 cannot open shared object file\","
        "\"body\":\"On import.\\n```\\nImportError: libcudart.so.10.0: cannot open shared object file\\n```\"},"
        "{\"html_url\":\"https://github.com/acme/Trainer/pull/8\",\"title\":\"x\",\"pull_request\":{}}]\n"
        "{\"html_url\":\"https://github.com/acme/Trainer/issues/7\",\"title\":\"the same again\"}\n"
        "{\"html_url\":\"https://github.com/horovod/horovod/issues/1370\",\"title\":\"has been read\"}\n";
    if (import(json, text, &result, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(result.added, 1);
    assert_int_equal(result.filled, 0);
    struct arena arena = {0};
    struct issue issue;
    read_issue("trainer-7", &arena, &issue);
    assert_string_equal(issue.symptom, "build-import/import-error");
    assert_int_equal(strncmp(issue.raw_label, "proposed (", 10), 0);
    assert_string_equal(issue.summary, "On import.");
    assert_int_equal(issue.error_line_count, 1);
    read_issue("horovod-1370", &arena, &issue);
    assert_string_not_equal(issue.title, "has been read");
    arena_free(&arena);
    assert_int_equal(import(json, "[{\"a\":1},", &result, &err), DTKB_E_FORMAT);
    assert_int_equal(import(json, "[]", &result, &err), DTKB_E_NOT_FOUND);
    assert_int_not_equal(access(layer, F_OK), 0);
}

static int make_directory(void **unused)
{
    (void)unused;
    if (!mkdtemp(directory))
        return -1;
    (void)snprintf(dump, sizeof dump, "%s/Posts.xml", directory);
    (void)snprintf(json, sizeof json, "%s/issues.json", directory);
    (void)snprintf(layer, sizeof layer, "%s/layer.db", directory);
    return 0;
}

static int remove_directory(void **unused)
{
    (void)unused;
    (void)unlink(dump);
    (void)unlink(json);
    (void)unlink(layer);
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_study_get_their_texts),
        cmocka_unit_test(broken_xml_leaves_nothing),
        cmocka_unit_test(issues_of_another_tracker_get_proposals),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

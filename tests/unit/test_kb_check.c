/* What kb_check() says about packs with one mistake each, and the import of a small sheet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "kb/build.h"
#include "kb/pack.h"

static char directory[] = "/tmp/dtkb-check-test.XXXXXX";

static void write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

#define CAUSE(id, attributes, signatures)                                                                                           \
    "<cause id='" id "' symptom='training-evaluation/hang' " attributes "><title>T</title><explanation>E.</explanation>" signatures \
    "<remedies><remedy><text>R.</text></remedy></remedies><links><link url='https://example.org'>x</link></links></cause>\n"
#define OTHER(id, signatures)                                                                                                 \
    "<cause id='" id "' symptom='build-import/import-error' " FIX "><title>T</title><explanation>E.</explanation>" signatures \
    "<remedies><remedy><text>R.</text></remedy></remedies><links><link url='https://example.org'>x</link></links></cause>\n"
#define SIGNATURE(id, strength, pattern, sample, miss)                                                                     \
    "<signature id='" id "' strength='" strength "'><regex>" pattern "</regex><sample>" sample "</sample><near-miss>" miss \
    "</near-miss></signature>"
#define FIX "fix='fix-dataset'"

/* Checks a pack of these causes; returns the complaints. */
static json_t *check(const char *causes, const char *healthy, dtkb_status expected)
{
    char path[300], text[8192], log[300];
    (void)snprintf(path, sizeof path, "%s/pack.xml", directory);
    (void)snprintf(log, sizeof log, "%s/healthy.log", directory);
    (void)snprintf(text, sizeof text, "<pack id='p' version='1'>\n%s</pack>", causes);
    write_text(path, text);
    if (healthy)
        write_text(log, healthy);
    const char *const packs[] = {path}, *const logs[] = {log};
    json_t *list = NULL;
    struct err err = {0};
    dtkb_status status = kb_check(packs, 1, logs, healthy != NULL, &list, &err);
    if (status != expected)
        fail_msg("status %d: %s; %s", status, err.text, list ? json_dumps(list, 0) : "");
    return list;
}

static void assert_complaint(const char *causes, const char *healthy, const char *severity, int line, const char *what)
{
    json_t *list = check(causes, healthy, strcmp(severity, "error") == 0 ? DTKB_E_FORMAT : DTKB_OK), *complaint;
    size_t i, found = 0;
    json_array_foreach(list, i, complaint)
    {
        found += strcmp(json_string_value(json_object_get(complaint, "severity")), severity) == 0 &&
                 json_integer_value(json_object_get(complaint, "line")) == line &&
                 strstr(json_string_value(json_object_get(complaint, "message")), what) != NULL;
    }
    if (!found)
        fail_msg("no %s '%s' in line %d among %s", severity, what, line, json_dumps(list, 0));
    json_decref(list);
}

static const char good[] = CAUSE("a", FIX, SIGNATURE("s", "proof", "flux (?&lt;n&gt;\\d+) lost", "flux 12 lost", "flux lost"));

static void a_good_pack_has_no_complaints(void **unused)
{
    (void)unused;
    json_t *list = check(good, "epoch 1 loss 0.3\n", DTKB_OK);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
}

static void mistakes_in_structure_are_found(void **unused)
{
    (void)unused;
    assert_complaint(CAUSE("a", "fix='fix-everything'", SIGNATURE("s", "proof", "flux lost", "flux lost", "flux")), NULL, "error", 2,
                     "fix-everything");
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "proof", "flux lost", "flux lost", "flux"))
                         CAUSE("a", FIX, SIGNATURE("s", "proof", "other thing", "other thing", "thing")),
                     NULL, "error", 3, "there already");
    assert_complaint(CAUSE("a", FIX,
                           SIGNATURE("s", "proof", "flux lost", "flux lost", "flux")
                               SIGNATURE("s", "proof", "flux gone", "flux gone", "flux")),
                     NULL, "error", 2, "two signatures");
    assert_complaint(
        CAUSE("a", FIX,
              SIGNATURE("s", "proof", "flux lost", "flux lost", "flux") "<confirm><fact name='no.such.fact' op='exists'/></confirm>"),
        NULL, "error", 2, "no.such.fact");
    assert_complaint(CAUSE("a", FIX,
                           SIGNATURE("s", "proof", "flux lost", "flux lost",
                                     "flux") "<confirm><fact name='host.shm.size_bytes' op='lt' value='much'/></confirm>"),
                     NULL, "error", 2, "much");
    assert_complaint("<cause/>", NULL, "error", 2, "cause");
}

static void mistakes_in_signatures_are_found(void **unused)
{
    (void)unused;
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "proof", "flux lost", "flux gone", "flux")), NULL, "error", 2,
                     "does not match its sample");
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "proof", "flux l", "flux lost", "flux later")), NULL, "error", 2,
                     "matches its near miss");
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "proof", "(a+)\\1bcdefgh", "aabcdefgh", "x")), NULL, "error", 2, "");
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "proof", "a.b.c", "aXbXc", "x")), NULL, "error", 2, "");
}

static void crossings_are_errors_between_strong_signs_only(void **unused)
{
    (void)unused;
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "strong", "flux lost", "flux lost", "flux"))
                         OTHER("b", SIGNATURE("t", "strong", "deep flux lost", "deep flux lost", "flux")),
                     NULL, "error", 2, "fires on a sample of b/t");
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "moderate", "flux lost", "flux lost", "flux"))
                         OTHER("b", SIGNATURE("t", "strong", "deep flux lost", "deep flux lost", "flux")),
                     NULL, "warning", 2, "fires on a sample of b/t");
    assert_complaint(good, "all fine\nflux 7 lost\n", "error", 2, "healthy.log:2");
}

static void a_sample_that_the_scanner_passes_over_is_told(void **unused)
{
    (void)unused;
    assert_complaint(CAUSE("a", FIX, SIGNATURE("s", "strong", "flux lost", "    assert found, (flux lost)", "flux")), NULL, "warning", 2,
                     "not found in a log that has them");
}

/* Six hundred lines of a healthy log, `often` of which hold a text. */
static const char *long_log(const char *text, size_t often)
{
    static char log[600 * 40];
    char *at = log;
    for (size_t i = 0; i < 600; i++)
        at += snprintf(at, 40, "step %zu %s\n", i, i < often ? text : "done");
    return log;
}

static void text_that_healthy_logs_have_often_is_told(void **unused)
{
    (void)unused;
    assert_complaint(good, long_log("the flux is steady", 12), "warning", 2, "20.0 of 1,000 lines");
    json_t *list = check(good, long_log("the flux is steady", 6), DTKB_OK);
    assert_int_equal(json_array_size(list), 0);
    json_decref(list);
}

static void a_directory_stands_for_its_logs(void **unused)
{
    (void)unused;
    char path[300], log[300];
    (void)snprintf(path, sizeof path, "%s/pack.xml", directory);
    (void)snprintf(log, sizeof log, "%s/healthy.log", directory);
    write_text(path, "<pack id='p' version='1'>\n" CAUSE("a", FIX, SIGNATURE("s", "proof", "flux lost", "flux lost", "flux")) "</pack>");
    write_text(log, "all fine\nflux lost\n");
    const char *const packs[] = {path}, *const logs[] = {directory};
    json_t *list = NULL;
    struct err err = {0};
    assert_int_equal(kb_check(packs, 1, logs, 1, &list, &err), DTKB_E_FORMAT);
    assert_non_null(strstr(json_string_value(json_object_get(json_array_get(list, 0), "message")), "healthy.log:2"));
    json_decref(list);
}

/* ---- the study's sheet ---- */

static void add_entry(struct archive *archive, const char *name, const char *text)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)strlen(text));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(archive, text, strlen(text)), (la_ssize_t)strlen(text));
    archive_entry_free(entry);
}

#define CELL(at, text) "<c r='" at "' t='inlineStr'><is><t>" text "</t></is></c>"
static const char sheet[] =
    "<worksheet><sheetData><row r='1'>" CELL("A1", "Type") CELL("B1", "Link") CELL("C1", "distributed-specific") CELL("D1", "stage")
        CELL("E1", "inner-category") CELL("F1", "leaf category") CELL("G1", "fix pattern") "</row><row r='2'>" CELL("A2", "GitHub-horovod")
            CELL("B2", "https://github.com/horovod/horovod/issues/42") CELL("C2", "1") CELL("D2", "Training &amp;  Evaluation ")
                CELL("E2", "Unexpected Performance") CELL("F2", "Hang")
                    CELL("G2", "fix network setting &amp; fix learning rate") "</row><row r='3'>" CELL("D3", "package build &amp; import")
                        CELL("F3", "import error") CELL("G3", "%s") "</row></sheetData></worksheet>";

static dtkb_status import(const char *last_fix, struct err *err)
{
    char xlsx[300], notes[300], text[4096];
    (void)snprintf(xlsx, sizeof xlsx, "%s/s.xlsx", directory);
    (void)snprintf(notes, sizeof notes, "%s/n.jsonl", directory);
    (void)snprintf(text, sizeof text, sheet, last_fix);
    struct archive *archive = archive_write_new();
    archive_write_set_format_zip(archive);
    assert_int_equal(archive_write_open_filename(archive, xlsx), ARCHIVE_OK);
    add_entry(archive, "xl/worksheets/sheet1.xml", text);
    archive_write_close(archive);
    archive_write_free(archive);
    write_text(notes, "{\"url\":\"https://github.com/horovod/horovod/issues/42\",\"evidence\":\"partial\",\"title\":\"A <title> & more\","
                      "\"summary\":\"\",\"cause\":\"\",\"fix\":\"\",\"signatures\":[\"boom  <1>\"],\"components\":[\"nccl\"],"
                      "\"versions\":{\"nccl\":\"2.4\"}}\n");
    return kb_import_study(xlsx, notes, NULL, directory, err);
}

static void a_sheet_becomes_reviewed_text(void **unused)
{
    (void)unused;
    struct err err = {0};
    if (import("fix dependency verzion", &err) == DTKB_OK)
        fail_msg("an unknown label was taken");
    assert_non_null(strstr(err.text, "row 3"));
    if (import("Fix Dependency  Versions", &err) != DTKB_OK)
        fail_msg("%s", err.text);
    char path[300];
    (void)snprintf(path, sizeof path, "%s/horovod-fault.xml", directory);
    struct pack pack;
    assert_int_equal(pack_read(path, &pack, &err), DTKB_OK);
    assert_int_equal(pack.issue_count, 2);
    const struct issue *first = &pack.issues[0].issue, *second = &pack.issues[1].issue;
    assert_string_equal(first->id, "horovod-42");
    assert_string_equal(first->symptom, "training-evaluation/hang");
    assert_int_equal(first->fix_count, 2);
    assert_string_equal(first->fixes[1], "fix-learning-rate");
    assert_string_equal(first->title, "A <title> & more");
    assert_string_equal(first->error_lines[0], "boom  <1>");
    assert_null(first->summary);
    assert_string_equal(second->id, "horovod-42.2"); /* the merged row has the link above */
    assert_string_equal(second->symptom, "build-import/import-error");
    assert_string_equal(second->fixes[0], "fix-dependency-version");
    assert_string_equal(second->raw_fix, "Fix Dependency Versions");
    pack_free(&pack);
}

static int make_directory(void **unused)
{
    (void)unused;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused)
{
    (void)unused;
    static const char *const names[] = {"pack.xml", "healthy.log", "s.xlsx", "n.jsonl", "horovod-fault.xml"};
    char path[300];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_pack_has_no_complaints),
        cmocka_unit_test(mistakes_in_structure_are_found),
        cmocka_unit_test(mistakes_in_signatures_are_found),
        cmocka_unit_test(crossings_are_errors_between_strong_signs_only),
        cmocka_unit_test(a_sample_that_the_scanner_passes_over_is_told),
        cmocka_unit_test(text_that_healthy_logs_have_often_is_told),
        cmocka_unit_test(a_directory_stands_for_its_logs),
        cmocka_unit_test(a_sheet_becomes_reviewed_text),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

/* Opening knowledge bases: the built one, packs over it, and files that are none, newer, cut or damaged. KB_FILE and KB_FOLDER are set by
 * the build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kb/build.h"
#include "kb/kb.h"
#include "kb/store.h"
#include "kb/tables.h"
#include "scan/scan.h"

static char directory[] = "/tmp/dtkb-kb-test.XXXXXX";

static const char *at(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t length)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

static unsigned char *read_kb(size_t *length)
{
    FILE *stream = fopen(KB_FILE, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    *length = (size_t)ftell(stream);
    rewind(stream);
    unsigned char *bytes = malloc(*length);
    assert_int_equal(fread(bytes, 1, *length, stream), *length);
    fclose(stream);
    return bytes;
}

static struct kb *open_kb(const char *pack)
{
    struct kb *kb = NULL;
    struct err err = {0};
    if (kb_open(KB_FILE, &pack, pack != NULL, &kb, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    return kb;
}

static json_int_t total(const json_t *stats, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(stats, "totals"), name));
}

static json_int_t count_in(const json_t *stats, const char *table, const char *id)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(stats, table), i, row) if (strcmp(json_string_value(json_object_get(row, "id")), id) ==
                                                                  0) return json_integer_value(json_object_get(row, "count"));
    return -1;
}

static void the_study_is_counted_as_published(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(NULL);
    json_t *stats = NULL;
    assert_int_equal(kb_stats(kb, &stats, NULL), DTKB_OK);
    assert_int_equal(total(stats, "issues"), 1131);
    assert_int_equal(total(stats, "faults"), 637);
    assert_int_equal(total(stats, "how_to"), 494);
    assert_int_equal(total(stats, "threads"), 1070);
    assert_int_equal(json_array_size(json_object_get(stats, "symptoms")), 30);
    assert_int_equal(count_in(stats, "symptoms", "training-evaluation/hang"), 44);
    assert_int_equal(count_in(stats, "symptoms", "communication-setup/setup-failure"), 85);
    assert_int_equal(count_in(stats, "symptoms", "build-import/import-error"), 31);
    assert_int_equal(count_in(stats, "symptoms", "training-evaluation/out-of-memory"), 21);
    json_decref(stats);
    kb_close(kb);
}

static void a_thread_with_several_faults_has_several_rows(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(NULL);
    struct arena arena = {0};
    struct issue first, second, by_url;
    assert_int_equal(kb_issue_by_id(kb, "horovod-107", &arena, &first, NULL), DTKB_OK);
    assert_int_equal(kb_issue_by_id(kb, "horovod-107.2", &arena, &second, NULL), DTKB_OK);
    assert_string_equal(first.url, second.url);
    assert_int_equal(kb_issue_by_id(kb, first.url, &arena, &by_url, NULL), DTKB_OK);
    assert_string_equal(by_url.id, "horovod-107");
    assert_int_equal(kb_issue_by_id(kb, "horovod-999999", &arena, &first, NULL), DTKB_E_NOT_FOUND);
    arena_free(&arena);
    kb_close(kb);
}

static void every_cause_and_signature_can_be_read(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(NULL);
    const struct signature *signatures;
    const struct scan_db *set;
    size_t count;
    assert_true(kb_cause_count(kb) > 100);
    for (uint32_t i = 0; i < kb_cause_count(kb); i++) {
        const struct cause *cause, *brief;
        assert_int_equal(kb_cause(kb, i, &cause, NULL), DTKB_OK);
        assert_int_equal(kb_cause_brief(kb, i, &brief, NULL), DTKB_OK);
        assert_int_equal(cause->index, i);
        assert_string_equal(cause->id, brief->id);
        assert_true(cause->remedy_count > 0);
    }
    assert_int_equal(kb_signatures(kb, &signatures, &count, NULL), DTKB_OK);
    for (size_t i = 0; i < count; i++)
        assert_true(signatures[i].cause < kb_cause_count(kb));
    assert_int_equal(kb_scan_db(kb, &set, NULL), DTKB_OK);
    kb_close(kb);
}

static void the_prior_is_a_share(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(NULL);
    double hang = kb_symptom_prior(kb, "training-evaluation/hang");
    assert_true(hang > 0.05 && hang < 0.09);
    assert_string_equal(kb_label_title(kb, "training-evaluation/hang"), "Hang in training");
    assert_null(kb_label_title(kb, "no/label"));
    kb_close(kb);
}

static const char pack[] =
    "<pack id='team' version='1'>"
    "<facts><fact name='team.switch.up' type='bool'>is it</fact></facts>"
    "<cause id='shm-too-small-nccl' symptom='training-evaluation/hang' fix='fix-dataset'><title>Ours</title><explanation>E.</explanation>"
    "<signature id='s' strength='proof'><literal>flux compensator</literal><sample>flux compensator</sample><near-miss>flux</near-miss>"
    "</signature><remedies><remedy><text>T.</text></remedy></remedies><links><issue-ref id='horovod-1370'/></links></cause>"
    "<issue id='horovod-1370' url='https://example.org/1' source='other' framework='horovod' kind='fault' evidence='full'"
    " symptom='training-evaluation/hang'><title>Flux compensator stalls libcudart</title></issue>"
    "</pack>";

static void a_pack_extends_and_replaces(void **unused)
{
    (void)unused;
    write_file(at("team.xml"), pack, sizeof pack - 1);
    struct kb *plain = open_kb(NULL), *kb = open_kb(at("team.xml"));
    assert_int_equal(kb_cause_count(kb), kb_cause_count(plain));
    const struct cause *cause;
    assert_int_equal(kb_cause_by_id(kb, "shm-too-small-nccl", &cause, NULL), DTKB_OK);
    assert_string_equal(cause->title, "Ours");
    assert_string_equal(cause->pack, "team");
    const struct signature *signatures;
    const struct scan_db *set;
    size_t count, ours = 0;
    assert_int_equal(kb_signatures(kb, &signatures, &count, NULL), DTKB_OK);
    for (size_t i = 0; i < count; i++)
        if (signatures[i].cause == cause->index) {
            assert_string_equal(signatures[i].pattern, "flux compensator");
            ours++;
        }
    assert_int_equal(ours, 1);
    assert_int_equal(kb_scan_db(kb, &set, NULL), DTKB_OK);
    enum fact_type type;
    const char *unit;
    assert_true(kb_fact_definition(kb, "team.switch.up", &type, &unit));
    assert_true(kb_fact_definition(kb, "host.shm.size_bytes", &type, &unit));
    assert_false(kb_fact_definition(kb, "team.switch.down", &type, &unit));

    struct kb_query query = {.text = "libcudart"};
    struct kb_hits hits;
    assert_int_equal(kb_search(kb, &query, &hits, NULL), DTKB_OK);
    size_t replaced = 0;
    for (size_t i = 0; i < hits.count; i++)
        replaced += strcmp(hits.hits[i].issue, "horovod-1370") == 0;
    assert_int_equal(replaced, 1); /* once, though both layers have it */
    kb_hits_free(&hits);
    kb_close(plain);
    kb_close(kb);
}

static const char *version_of(const struct issue *issue, const char *component)
{
    for (size_t i = 0; i < issue->version_count; i++)
        if (strcmp(issue->versions[i].component, component) == 0)
            return issue->versions[i].version;
    return "none";
}

/* What somebody wrote down stands; where nobody did, the log is asked. */
static void a_report_tells_the_versions_that_its_log_names(void **unused)
{
    (void)unused;
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pack id=\"reports\" version=\"1\">\n"
        "<issue id=\"silent\" url=\"https://example.org/1\" source=\"other\" framework=\"pytorch\" kind=\"report\" evidence=\"full\""
        " symptom=\"training-evaluation/hang\"><log>[pip3] torch 1.2.0\nnode1:1 [0] NCCL INFO NCCL version 2.4.8+cuda10.1\n"
        "NCCL version 2.21.5</log></issue>\n"
        "<issue id=\"told\" url=\"https://example.org/2\" source=\"other\" framework=\"pytorch\" kind=\"report\" evidence=\"full\""
        " symptom=\"training-evaluation/hang\"><log>NCCL version 2.4.8</log><version of=\"nccl\">2.9</version></issue>\n</pack>\n";
    write_file(at("reports.xml"), text, sizeof text - 1);
    struct kb *kb = open_kb(at("reports.xml"));
    struct arena arena = {0};
    struct issue issue;
    assert_int_equal(kb_issue_by_id(kb, "silent", &arena, &issue, NULL), DTKB_OK);
    assert_int_equal(issue.version_count, 2);
    assert_string_equal(version_of(&issue, "nccl"), "2.4.8+cuda10.1");
    assert_string_equal(version_of(&issue, "torch"), "1.2.0");
    assert_int_equal(kb_issue_by_id(kb, "told", &arena, &issue, NULL), DTKB_OK);
    assert_int_equal(issue.version_count, 1);
    assert_string_equal(version_of(&issue, "nccl"), "2.9");
    arena_free(&arena);
    kb_close(kb);
}

static void assert_not_opened(const char *file, const char *layer, dtkb_status expected)
{
    struct kb *kb = NULL;
    struct err err = {0};
    assert_int_equal(kb_open(file, &layer, layer != NULL, &kb, &err), expected);
    assert_non_null(strstr(err.text, layer ? layer : file));
}

static void what_is_no_kb_is_told_apart(void **unused)
{
    (void)unused;
    size_t length;
    unsigned char *bytes = read_kb(&length);
    assert_not_opened(at("missing.db"), NULL, DTKB_E_KB);
    assert_not_opened(directory, NULL, DTKB_E_KB);
    write_file(at("text.db"), "hello", 5);
    assert_not_opened(at("text.db"), NULL, DTKB_E_KB);
    write_file(at("cut.db"), bytes, length / 2);
    assert_not_opened(at("cut.db"), NULL, DTKB_E_KB);
    bytes[63] = 99; /* user_version */
    write_file(at("newer.db"), bytes, length);
    assert_not_opened(at("newer.db"), NULL, DTKB_E_KB_NEWER);
    bytes[63] = STORE_SCHEMA - 1;
    write_file(at("older.db"), bytes, length);
    assert_not_opened(at("older.db"), NULL, DTKB_E_KB);
    struct kb *kb = NULL;
    struct err err = {0};
    assert_int_equal(kb_open(at("older.db"), NULL, 0, &kb, &err), DTKB_E_KB);
    assert_non_null(strstr(err.text, "older dtkb")); /* not called damaged */
    bytes[63] = STORE_SCHEMA;
    bytes[68] ^= 1; /* application_id */
    write_file(at("other.db"), bytes, length);
    assert_not_opened(at("other.db"), NULL, DTKB_E_KB);
    write_file(at("bad.xml"), "<pack id='p' version='1'>\n\n\n\n\n\n<oops/></pack>", 46);
    assert_not_opened(KB_FILE, at("bad.xml"), DTKB_E_FORMAT);
    free(bytes);
}

/* Whatever bytes a database has, reading it yields answers or errors. */
static void use_all(struct kb *kb)
{
    const struct signature *signatures;
    size_t count;
    json_t *tree = NULL;
    for (uint32_t i = 0; i < kb_cause_count(kb); i++) {
        const struct cause *cause;
        (void)kb_cause(kb, i, &cause, NULL);
    }
    (void)kb_signatures(kb, &signatures, &count, NULL);
    if (kb_stats(kb, &tree, NULL) == DTKB_OK)
        json_decref(tree);
    static const char *const texts[] = {"nccl connection timeout", "\"out of memory\" error:cuda -docker"};
    for (size_t i = 0; i < 2; i++) {
        struct kb_query query = {.text = texts[i], .kind = i ? "fault" : NULL};
        struct kb_hits hits;
        if (kb_search(kb, &query, &hits, NULL) == DTKB_OK)
            kb_hits_free(&hits);
    }
}

static void a_damaged_database_is_an_error_at_worst(void **unused)
{
    (void)unused;
    size_t length;
    unsigned char *bytes = read_kb(&length);
    uint32_t state = 7;
    for (int round = 0; round < 40; round++) {
        unsigned char *copy = malloc(length);
        memcpy(copy, bytes, length);
        for (int i = 0; i < 1 + round * 8; i++) {
            state = state * 1664525u + 1013904223u;
            size_t where = 100 + state % (length - 100);
            state = state * 1664525u + 1013904223u;
            copy[where] = (unsigned char)(state >> 24);
        }
        write_file(at("damaged.db"), copy, length);
        free(copy);
        struct kb *kb = NULL;
        struct err err = {0};
        if (kb_open(at("damaged.db"), NULL, 0, &kb, &err) == DTKB_OK) {
            use_all(kb);
            kb_close(kb);
        }
    }
    free(bytes);
}

static void the_same_folder_gives_the_same_bytes(void **unused)
{
    (void)unused;
    struct err err = {0};
    if (kb_build(KB_FOLDER, at("again.db"), &err) != DTKB_OK)
        fail_msg("%s", err.text);
    size_t length;
    unsigned char *bytes = read_kb(&length), *again = malloc(length);
    FILE *stream = fopen(at("again.db"), "rb");
    assert_non_null(stream);
    assert_int_equal(fread(again, 1, length, stream), length);
    assert_int_equal(fgetc(stream), EOF);
    fclose(stream);
    assert_memory_equal(bytes, again, length);
    free(bytes);
    free(again);
}

static void a_failed_build_leaves_the_old_file(void **unused)
{
    (void)unused;
    struct err err = {0};
    write_file(at("kept.db"), "old", 3);
    assert_int_not_equal(kb_build(at("no-folder"), at("kept.db"), &err), DTKB_OK);
    char text[8] = "";
    FILE *stream = fopen(at("kept.db"), "rb");
    assert_int_equal(fread(text, 1, sizeof text, stream), 3);
    fclose(stream);
    assert_string_equal(text, "old");
}

static int make_directory(void **unused)
{
    (void)unused;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused)
{
    (void)unused;
    static const char *const names[] = {"team.xml", "reports.xml", "text.db",    "cut.db",   "newer.db", "older.db",
                                        "other.db", "bad.xml",     "damaged.db", "again.db", "kept.db"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(at(names[i]));
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_study_is_counted_as_published),     cmocka_unit_test(a_thread_with_several_faults_has_several_rows),
        cmocka_unit_test(every_cause_and_signature_can_be_read), cmocka_unit_test(the_prior_is_a_share),
        cmocka_unit_test(a_pack_extends_and_replaces),           cmocka_unit_test(a_report_tells_the_versions_that_its_log_names),
        cmocka_unit_test(what_is_no_kb_is_told_apart),           cmocka_unit_test(a_damaged_database_is_an_error_at_worst),
        cmocka_unit_test(the_same_folder_gives_the_same_bytes),  cmocka_unit_test(a_failed_build_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

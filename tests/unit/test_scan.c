#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scan/scan.h"

static const struct signature signatures[] = {
    {.id = "shm",
     .is_regex = true,
     .role = ROLE_INITIATING,
     .pattern = "Error while (?:creating|attaching to) shared memory segment (?<segment>/dev/shm/nccl-\\S*) \\(size (?<size>\\d+)\\)"},
    {.id = "closed", .pattern = "Connection closed by peer", .role = ROLE_CASCADE},
    {.id = "gloo", .pattern = "no support for _allgather_base in gloo process group", .ignore_case = true},
};
#define COUNT (sizeof signatures / sizeof signatures[0])

static struct scan_db *build(void)
{
    struct scan_db *db;
    struct err err = {0};
    if (scan_db_build(signatures, COUNT, &db, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    return db;
}

/* Findings of `text` fed in pieces: cut at `cut`, or in pieces of `piece` bytes if that is not 0. */
static struct findings scan_text(const char *text, size_t cut, size_t piece)
{
    struct scan_db *db = build();
    struct scan *scan;
    struct findings findings;
    size_t length = strlen(text);
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    if (piece) {
        for (size_t i = 0; i < length; i += piece)
            assert_int_equal(scan_feed(scan, "log", text + i, length - i < piece ? length - i : piece, NULL), DTKB_OK);
    } else {
        assert_int_equal(scan_feed(scan, "log", text, cut, NULL), DTKB_OK);
        assert_int_equal(scan_feed(scan, "log", text + cut, length - cut, NULL), DTKB_OK);
    }
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    scan_free(scan);
    scan_db_free(db);
    return findings;
}

static const struct evidence *first_of(const struct findings *findings, enum evidence_kind kind)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == kind)
            return &findings->evidence[i];
    return NULL;
}

/* Lines of the beginning are kept whatever they say. */
static const struct evidence *last_but_text(const struct findings *findings)
{
    size_t i = findings->evidence_count;
    while (i && findings->evidence[i - 1].kind == EV_TEXT)
        i--;
    assert_true(i > 0);
    return &findings->evidence[i - 1];
}

static const char log_text[] = "[rank3]: Traceback (most recent call last):\n"
                               "[rank3]:   File \"/opt/app/train.py\", line 88, in main\n"
                               "[rank3]:     dist.barrier()\n"
                               "[rank3]: torch.distributed.DistBackendError: NCCL error, unhandled system error\n"
                               "[rank3]: Last error:\n"
                               "[rank3]: \x1b[31mError while \x1b[0mcreating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)\n"
                               "rank 3 exit code 1\n"
                               "RuntimeError: Connection closed by peer [10.0.0.1]:1234";

static void a_signature_is_found_with_its_fields(void **state)
{
    (void)state;
    struct findings findings = scan_text(log_text, 0, 0);
    const struct evidence *evidence = first_of(&findings, EV_SIGNATURE);
    assert_non_null(evidence);
    assert_int_equal(evidence->signature, 0);
    assert_int_equal(evidence->rank, 3);
    assert_int_equal(evidence->line, 6);
    assert_int_equal(evidence->field_count, 2);
    assert_string_equal(evidence->fields[0].name, "segment");
    assert_string_equal(evidence->fields[0].value, "/dev/shm/nccl-pZafXL");
    assert_string_equal(evidence->text, "Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)");
    findings_free(&findings);
}

/* Lines like the frames of a traceback hold words of a great many signatures: one that matches is found among all that don't. */
static void many_signatures_of_the_same_words_hide_none(void **state)
{
    (void)state;
    enum { MANY = 200 };
    static char patterns[MANY][32];
    static struct signature many[MANY];
    char line[sizeof "shared words" + MANY + 1] = "shared words ";
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(patterns[i], sizeof patterns[i], "shared words \\d{%zu}$", i + 1);
        many[i] = (struct signature){.id = "many", .pattern = patterns[i], .is_regex = true, .strength = SIG_STRONG};
    }
    memset(line + strlen(line), '7', MANY);
    struct scan_db *all;
    struct err err = {0};
    if (scan_db_build(many, MANY, &all, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    struct scan *scan;
    struct findings findings;
    assert_int_equal(scan_new(all, NULL, &scan, NULL), DTKB_OK);
    assert_int_equal(scan_feed(scan, "log", line, strlen(line), NULL), DTKB_OK);
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    const struct evidence *evidence = first_of(&findings, EV_SIGNATURE);
    assert_non_null(evidence);
    assert_int_equal(evidence->signature, MANY - 1);
    findings_free(&findings);
    scan_free(scan);
    scan_db_free(all);
}

static void a_traceback_names_type_and_place(void **state)
{
    (void)state;
    struct findings findings = scan_text(log_text, 0, 0);
    const struct evidence *evidence = first_of(&findings, EV_EXCEPTION);
    assert_non_null(evidence);
    assert_string_equal(evidence->fields[0].value, "torch.distributed.DistBackendError");
    assert_string_equal(evidence->source_file, "/opt/app/train.py");
    assert_int_equal(evidence->source_line, 88);
    assert_int_equal(evidence->role, ROLE_INITIATING);
    assert_int_equal(last_but_text(&findings)->role, ROLE_CASCADE);
    assert_int_equal(first_of(&findings, EV_EXIT)->rank, 3);
    assert_false(findings.clean_end);
    findings_free(&findings);
}

static void assert_same(const struct findings *left, const struct findings *right)
{
    assert_int_equal(left->evidence_count, right->evidence_count);
    assert_int_equal(left->lines, right->lines);
    assert_int_equal(left->bytes, right->bytes);
    assert_int_equal(left->ranks_seen, right->ranks_seen);
    assert_int_equal(left->world_size, right->world_size);
    assert_int_equal(left->version_count, right->version_count);
    for (size_t i = 0; i < left->evidence_count; i++) {
        const struct evidence *l = &left->evidence[i], *r = &right->evidence[i];
        assert_int_equal(l->kind, r->kind);
        assert_int_equal(l->signature, r->signature);
        assert_int_equal(l->line, r->line);
        assert_int_equal(l->sequence, r->sequence);
        assert_int_equal(l->rank, r->rank);
        assert_int_equal(l->count, r->count);
        assert_string_equal(l->text, r->text);
    }
}

static void every_split_gives_the_same(void **state)
{
    (void)state;
    struct findings whole = scan_text(log_text, 0, 0);
    for (size_t cut = 1; cut < sizeof log_text; cut++) {
        struct findings parts = scan_text(log_text, cut, 0);
        assert_same(&whole, &parts);
        findings_free(&parts);
    }
    struct findings bytes = scan_text(log_text, 0, 1);
    assert_same(&whole, &bytes);
    findings_free(&bytes);
    findings_free(&whole);
}

static void a_look_at_the_findings_changes_nothing(void **state)
{
    (void)state;
    struct scan_db *db = build();
    struct scan *scan;
    struct findings findings, whole = scan_text(log_text, 0, 0);
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    for (size_t i = 0; i < sizeof log_text - 1; i++) {
        assert_int_equal(scan_feed(scan, "log", log_text + i, 1, NULL), DTKB_OK);
        assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
        if (i + 2 < sizeof log_text)
            findings_free(&findings);
    }
    assert_same(&whole, &findings);
    findings_free(&findings);
    findings_free(&whole);
    scan_free(scan);
    scan_db_free(db);
}

static void a_saved_set_is_loaded_again(void **state)
{
    (void)state;
    struct scan_db *db = build(), *again = build(), *loaded;
    void *bytes, *same;
    size_t length, same_length;
    assert_int_equal(scan_db_save(db, &bytes, &length, NULL), DTKB_OK);
    assert_int_equal(scan_db_save(again, &same, &same_length, NULL), DTKB_OK);
    assert_int_equal(length, same_length);
    assert_memory_equal(bytes, same, length);
    assert_int_equal(scan_db_load(bytes, length, signatures, COUNT, &loaded, NULL), DTKB_OK);
    scan_db_free(loaded);
    assert_int_equal(scan_db_load(bytes, length, signatures, COUNT - 1, &loaded, NULL), DTKB_E_UNSUPPORTED);
    assert_int_equal(scan_db_load(bytes, length - 1, signatures, COUNT, &loaded, NULL), DTKB_E_UNSUPPORTED);
    ((char *)bytes)[length - 20] ^= 1;
    assert_int_equal(scan_db_load(bytes, length, signatures, COUNT, &loaded, NULL), DTKB_E_UNSUPPORTED);
    free(bytes);
    free(same);
    scan_db_free(again);
    scan_db_free(db);
}

static void bad_expressions_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "(error) again \\1 error", "error(?=: fatal)", "unclosed (group", "\\d+ [a-z]*", "abcd|longer alternative", "a*b*c*"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct signature signature = {.id = "the-bad-one", .is_regex = true, .pattern = bad[i]};
        struct err err = {0};
        assert_int_equal(scan_check_signature(&signature, &err), DTKB_E_FORMAT);
        assert_non_null(strstr(err.text, "the-bad-one"));
    }
    struct signature good = {.id = "good", .is_regex = true, .pattern = "(?:cannot|could not) open (?<what>\\S+)"};
    bool matches = false;
    assert_int_equal(scan_check_signature(&good, NULL), DTKB_OK);
    assert_int_equal(scan_test_signature(&good, "it could not open x", &matches, NULL), DTKB_OK);
    assert_true(matches);
    assert_int_equal(scan_test_signature(&good, "it did open x", &matches, NULL), DTKB_OK);
    assert_false(matches);
}

/* Launchers, schedulers, fabrics and the kernel's word on a GPU belong to a job; a web server's log does not. */
static void a_job_is_known_by_its_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool training;
    } cases[] = {
        {"NVRM: Xid (PCI:0000:3b:00): 109, pid=1234, name=python", true},
        {"(raylet) A worker died or was killed while executing a task", true},
        {"slurmstepd: error: Detected 1 oom_kill event in StepId=11.0.", true},
        {"mlx5_core 0000:41:00.0: CREATE_MKEY(0x200) failed", true},
        {"UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory", true},
        {"it hangs at dist.init_process_group on the second machine", true},
        {"compiling the mpi4py wheel", true}, /* "mpi" begins the second word only */
        {"compiling the simple wheel", false},
        {"tput: unknown terminal", false},
        {"TPU system is not initialized", true},
        {"10.0.0.2 - - GET /index.html 502 upstream prematurely closed the connection", false},
        {"e1000e 0000:00:19.0 eth0: NIC Link is Up 1000 Mbps Full Duplex", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct findings findings = scan_text(cases[i].text, 0, 0);
        if (findings.training_log != cases[i].training)
            fail_msg("%s", cases[i].text);
        findings_free(&findings);
    }
}

/* "epoch" tells of a job at the beginning; 600 lines into a text of something else it tells nothing. "torch" does, if it is no single mention:
 * long texts have some of anybody's words. */
static void far_into_a_text_shared_words_tell_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned before;
        bool training;
    } cases[] = {{"Changed the epoch of the version", 0, true},
                 {"Changed the epoch of the version", 600, false},
                 {"import torch failed", 280, true},
                 {"import torch failed", 600, false},
                 {"import torch failed\nno torch here\nno module torch", 600, true},
                 {"import torch failed\nno torch here", 600, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16384];
        size_t length = 0;
        for (unsigned k = 0; k < cases[i].before; k++)
            length += (size_t)snprintf(text + length, sizeof text - length, "- mended %u\n", k);
        (void)snprintf(text + length, sizeof text - length, "%s\n", cases[i].text);
        struct findings findings = scan_text(text, 0, 0);
        if (findings.training_log != cases[i].training)
            fail_msg("%u lines, %s", cases[i].before, cases[i].text);
        findings_free(&findings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signature_is_found_with_its_fields),      cmocka_unit_test(many_signatures_of_the_same_words_hide_none),
        cmocka_unit_test(a_traceback_names_type_and_place),          cmocka_unit_test(every_split_gives_the_same),
        cmocka_unit_test(a_look_at_the_findings_changes_nothing),    cmocka_unit_test(a_saved_set_is_loaded_again),
        cmocka_unit_test(bad_expressions_are_refused_by_name),       cmocka_unit_test(a_job_is_known_by_its_words),
        cmocka_unit_test(far_into_a_text_shared_words_tell_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

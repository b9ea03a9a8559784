/* Where bytes come from: files by one and by several threads, pipes, archives, directories, other encodings, and hostile input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "scan/scan.h"

static const struct signature signatures[] = {
    {.id = "shm", .is_regex = true, .pattern = "shared memory segment (?<segment>/dev/shm/nccl-\\S*) \\(size (?<size>\\d+)\\)"},
    {.id = "closed", .pattern = "Connection closed by peer", .role = ROLE_CASCADE},
    {.id = "begin", .is_regex = true, .pattern = "^begins the (?<what>line)"},
    {.id = "absent", .is_regex = true, .pattern = "of process group [^\\n]*: rank (?<missing>\\d+) never came", .role = ROLE_INITIATING},
};
#define COUNT (sizeof signatures / sizeof signatures[0])
static const char failure[] = "[rank3]: Traceback (most recent call last):\n[rank3]:   File \"/opt/app/t.py\", line 5, in f\n"
                              "[rank3]: ValueError: bad sample\n[rank3]: shared memory segment /dev/shm/nccl-x (size 12)\n";

static char folder[] = "/tmp/dtkb-scan-XXXXXX";
static struct scan_db *db;

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && scan_db_build(signatures, COUNT, &db, NULL) == DTKB_OK ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    scan_db_free(db);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static struct findings scan_file(const char *name, unsigned threads)
{
    struct scan *scan;
    struct findings findings;
    struct err err = {0};
    struct scan_options options = {.threads = threads};
    assert_int_equal(scan_new(db, &options, &scan, NULL), DTKB_OK);
    if (scan_path(scan, path_of(name), &err) != DTKB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    scan_free(scan);
    return findings;
}

static const struct evidence *first_of(const struct findings *findings, enum evidence_kind kind)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == kind)
            return &findings->evidence[i];
    return NULL;
}

static void assert_same(const struct findings *left, const struct findings *right)
{
    assert_int_equal(left->evidence_count, right->evidence_count);
    assert_int_equal(left->lines, right->lines);
    assert_int_equal(left->ranks_seen, right->ranks_seen);
    for (size_t i = 0; i < left->evidence_count; i++) {
        const struct evidence *l = &left->evidence[i], *r = &right->evidence[i];
        assert_int_equal(l->kind, r->kind);
        assert_int_equal(l->line, r->line);
        assert_int_equal(l->rank, r->rank);
        assert_int_equal(l->count, r->count);
        assert_string_equal(l->text, r->text);
    }
}

/* Some megabytes of a job's log with trouble now and then; line numbers where it begins are known. */
static void make_log(struct buf *log)
{
    for (unsigned i = 0; log->length < (5u << 20); i++) {
        buf_addf(log, "[rank%u]: step %u loss %u.%u lr 1e-4 and some more text so that the line is as long as usual\n", i % 8, i, i % 7,
                 i % 100);
        if (i % 9973 == 9972)
            buf_addf(log, "[rank%u]: RuntimeError: Connection closed by peer [10.0.0.%u]:1\r\n", i % 8, i % 250);
        if (i % 20011 == 20010)
            buf_adds(log, failure);
    }
    assert_false(log->failed);
}

static void threads_pipes_and_feeds_find_the_same(void **state)
{
    (void)state;
    struct buf log = {0};
    make_log(&log);
    write_file("job.log", log.data, log.length);
    struct findings one = scan_file("job.log", 1), four = scan_file("job.log", 4);
    assert_non_null(first_of(&one, EV_SIGNATURE));
    assert_non_null(first_of(&one, EV_EXCEPTION));
    assert_non_null(first_of(&one, EV_PROGRESS));
    assert_int_equal(first_of(&one, EV_SIGNATURE)->line, 9974);
    assert_same(&one, &four);
    for (size_t piece = 1000; piece < 3000000; piece = piece * 7 + 3) {
        struct scan *scan;
        struct findings fed;
        assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
        for (size_t i = 0; i < log.length; i += piece)
            assert_int_equal(scan_feed(scan, "job.log", log.data + i, log.length - i < piece ? log.length - i : piece, NULL), DTKB_OK);
        assert_int_equal(scan_findings(scan, &fed, NULL), DTKB_OK);
        assert_same(&one, &fed);
        findings_free(&fed);
        scan_free(scan);
    }
    findings_free(&one);
    findings_free(&four);
    buf_free(&log);
}

static void a_failure_is_found_wherever_it_lies_at_a_block_edge(void **state)
{
    (void)state;
    const size_t block = 256 << 10;
    struct buf filler = {0};
    while (filler.length < block + 200)
        buf_addf(&filler, "%063u\n", (unsigned)filler.length);
    for (size_t shift = 0; shift < sizeof failure + 8; shift += 3) {
        struct buf log = {0};
        buf_add(&log, filler.data, block - 150 - (block - 150) % 64);
        while (log.length < block - sizeof failure + shift)
            buf_addc(&log, 'x');
        buf_addc(&log, '\n');
        uint64_t line = 1;
        for (size_t i = 0; i < log.length; i++)
            line += log.data[i] == '\n';
        buf_adds(&log, failure);
        buf_adds(&log, "the end\n");
        write_file("edge.log", log.data, log.length);
        struct findings findings = scan_file("edge.log", 2);
        const struct evidence *signature = first_of(&findings, EV_SIGNATURE), *exception = first_of(&findings, EV_EXCEPTION);
        assert_non_null(signature);
        assert_int_equal(signature->line, line + 3);
        assert_int_equal(signature->count, 1);
        assert_non_null(exception);
        assert_int_equal(exception->line, line + 2);
        assert_string_equal(exception->source_file, "/opt/app/t.py");
        findings_free(&findings);
        buf_free(&log);
    }
    buf_free(&filler);
}

static void lines_of_megabytes_hide_nothing_and_cost_little(void **state)
{
    (void)state;
    struct buf log = {0};
    for (size_t i = 0; i < (3u << 20); i++)
        buf_addc(&log, (char)('a' + i % 26));
    buf_adds(&log, " shared memory segment /dev/shm/nccl-x (size 12) ");
    for (size_t i = 0; i < (2u << 20); i++)
        buf_addc(&log, 'z');
    buf_adds(&log, "\nlast line");
    write_file("long.log", log.data, log.length);
    struct findings one = scan_file("long.log", 1), four = scan_file("long.log", 4);
    const struct evidence *evidence = first_of(&one, EV_SIGNATURE);
    assert_non_null(evidence);
    assert_int_equal(evidence->line, 1);
    assert_true(strlen(evidence->text) <= EVIDENCE_TEXT_MAX);
    assert_int_equal(one.lines, 2);
    assert_same(&one, &four);
    findings_free(&one);
    findings_free(&four);
    buf_free(&log);
}

static void progress_bars_don_t_hide_the_error_behind_them(void **state)
{
    (void)state;
    struct buf log = {0};
    for (unsigned i = 0; i < 20000; i++)
        buf_addf(&log, "\r%3u%%|####      | %u/20000 [00:10<00:20, 4.4it/s]", i / 200, i);
    buf_adds(&log, "\rbegins the line and\x1b[K\n");
    write_file("bar.log", log.data, log.length);
    struct findings findings = scan_file("bar.log", 1);
    assert_non_null(first_of(&findings, EV_SIGNATURE));
    assert_string_equal(first_of(&findings, EV_SIGNATURE)->text, "begins the line and");
    assert_string_equal(first_of(&findings, EV_PROGRESS)->text, " 99%|####      | 19999/20000 [00:10<00:20, 4.4it/s]");
    assert_int_equal(findings.lines, 1);
    findings_free(&findings);
    buf_free(&log);
}

static void utf16_is_read_as_text(void **state)
{
    (void)state;
    char wide[2 + 2 * sizeof failure];
    for (int little = 0; little < 2; little++) {
        wide[0] = (char)(little ? 0xff : 0xfe);
        wide[1] = (char)(little ? 0xfe : 0xff);
        for (size_t i = 0; i < sizeof failure - 1; i++) {
            wide[2 + 2 * i + (little ? 0u : 1u)] = failure[i];
            wide[2 + 2 * i + (little ? 1u : 0u)] = 0;
        }
        write_file("wide.log", wide, 2 * sizeof failure);
        struct findings findings = scan_file("wide.log", 1);
        assert_non_null(first_of(&findings, EV_SIGNATURE));
        assert_int_equal(first_of(&findings, EV_SIGNATURE)->rank, 3);
        findings_free(&findings);
    }
}

/* A tar of one member, compressed. */
static void write_archive(const char *name, const char *member, const char *bytes, size_t length)
{
    struct archive *archive = archive_write_new();
    assert_int_equal(archive_write_add_filter_gzip(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_set_format_ustar(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(archive, path_of(name)), ARCHIVE_OK);
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, member);
    archive_entry_set_size(entry, (la_int64_t)length);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(archive, bytes, length), (la_ssize_t)length);
    archive_entry_free(entry);
    assert_int_equal(archive_write_free(archive), ARCHIVE_OK);
}

static void archives_are_read_and_archives_in_archives(void **state)
{
    (void)state;
    write_archive("inner.tar.gz", "attempt_0/5/stderr.log", failure, sizeof failure - 1);
    struct findings findings = scan_file("inner.tar.gz", 1);
    assert_non_null(strstr(findings.files[0].name, "inner.tar.gz/attempt_0/5/stderr.log"));
    assert_int_equal(findings.files[0].rank, 5);
    assert_non_null(first_of(&findings, EV_SIGNATURE));
    findings_free(&findings);

    static char bytes[65536];
    FILE *file = fopen(path_of("inner.tar.gz"), "rb");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    write_archive("outer.tar.gz", "inner.tar.gz", bytes, length);
    findings = scan_file("outer.tar.gz", 1);
    assert_non_null(first_of(&findings, EV_SIGNATURE));
    findings_free(&findings);
}

static dtkb_status status_of(const char *name, struct err *err)
{
    struct scan *scan;
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    dtkb_status status = scan_path(scan, path_of(name), err);
    scan_free(scan);
    return status;
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    struct err err = {0};
    char binary[4096];
    for (size_t i = 0; i < sizeof binary; i++)
        binary[i] = (char)(i * 37 % 29);
    write_file("binary", binary, sizeof binary);
    assert_int_equal(status_of("binary", &err), DTKB_E_FORMAT);
    assert_non_null(strstr(err.text, "binary"));
    assert_int_equal(status_of("nothing", &err), DTKB_E_NOT_FOUND);
    assert_int_equal(mkdir(path_of("empty"), 0755), 0);
    assert_int_equal(status_of("empty", &err), DTKB_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "no log files"));
    write_file("cut.gz", "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
    assert_int_equal(status_of("cut.gz", &err), DTKB_E_FORMAT);
    write_file("none.log", "", 0);
    assert_int_equal(status_of("none.log", &err), DTKB_OK);
}

static void directories_are_read_in_order_and_loops_end(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("logs"), 0755), 0);
    assert_int_equal(mkdir(path_of("logs/10"), 0755), 0);
    assert_int_equal(mkdir(path_of("logs/2"), 0755), 0);
    write_file("logs/10/stderr.log", failure, sizeof failure - 1);
    write_file("logs/2/stderr.log", "plain\n", 6);
    write_file("logs/rank_7.log", "plain\n", 6);
    char link[256];
    (void)snprintf(link, sizeof link, "%s", path_of("logs"));
    assert_int_equal(symlink(link, path_of("logs/2/again")), 0);
    struct findings findings = scan_file("logs", 1);
    assert_int_equal(findings.file_count, 3);
    assert_int_equal(findings.files[0].rank, 2);
    assert_int_equal(findings.files[1].rank, 10);
    assert_int_equal(findings.files[2].rank, 7);
    findings_free(&findings);
}

/* A Flight Recorder dump of one of two ranks that asked for `last` collectives and got one. */
static void write_dump(const char *name, int last)
{
    struct buf dump = {0};
    buf_addf(&dump,
             "{\"version\": \"2.9\", \"pg_config\": {\"0\": {\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": \"[0, 1]\"}}, "
             "\"pg_status\": {\"0\": {\"last_enqueued_collective\": %d, \"last_completed_collective\": 1}}, \"entries\": [",
             last);
    for (int i = 1; i <= last; i++)
        buf_addf(&dump,
                 "%s{\"record_id\": %d, \"pg_id\": 0, \"process_group\": [\"0\", \"default_pg\"], \"collective_seq_id\": %d, "
                 "\"profiling_name\": \"nccl:all_reduce\", \"input_sizes\": [[4]], \"input_dtypes\": [\"Float\"], \"state\": \"%s\", "
                 "\"time_created_ns\": %d, \"is_p2p\": false}",
                 i > 1 ? ", " : "", i, i, i == 1 ? "completed" : "scheduled", i);
    buf_adds(&dump, "]}\n");
    write_file(name, dump.data, dump.length);
    buf_free(&dump);
}

static void signatures_are_tried_on_what_dumps_say(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("dumps"), 0700), 0);
    write_dump("dumps/trace_rank_0.json", 2);
    write_dump("dumps/trace_rank_1.json", 1);
    struct findings findings = scan_file("dumps", 1);
    const struct evidence *told = first_of(&findings, EV_DUMP), *found = first_of(&findings, EV_SIGNATURE);
    assert_non_null(told);
    assert_non_null(found);
    assert_int_equal(found->signature, 3);
    assert_int_equal(found->rank, 1);
    assert_int_equal(found->role, ROLE_INITIATING);
    assert_string_equal(found->text, told->text);
    assert_string_equal(found->fields[0].name, "missing");
    assert_string_equal(found->fields[0].value, "1");
    findings_free(&findings);
}

static void evidence_is_counted_and_capped(void **state)
{
    (void)state;
    struct buf log = {0};
    for (unsigned i = 0; i < 300; i++)
        buf_addf(&log, "[rank%u]: Connection closed by peer\n", i);
    for (unsigned i = 0; i < 300; i++)
        buf_addf(&log, "this is error %c%c number %u\n", 'a' + i % 26, 'a' + i / 26, i);
    for (unsigned i = 0; i < 50; i++)
        buf_addf(&log, "shared memory segment /dev/shm/nccl-%u (size 1)\n", i);
    write_file("many.log", log.data, log.length);
    struct findings findings = scan_file("many.log", 1);
    size_t signature_lines = 0, error_lines = 0;
    for (size_t i = 0; i < findings.evidence_count; i++) {
        signature_lines += findings.evidence[i].kind == EV_SIGNATURE && findings.evidence[i].signature == 1;
        error_lines += findings.evidence[i].kind == EV_ERROR_LINE;
        if (findings.evidence[i].kind == EV_SIGNATURE && findings.evidence[i].signature == 0) {
            assert_int_equal(findings.evidence[i].count, 50);
            assert_string_equal(findings.evidence[i].fields[0].value, "/dev/shm/nccl-0");
        }
    }
    assert_int_equal(signature_lines, 64);
    assert_int_equal(error_lines, 40);
    assert_true(findings.matches_dropped > 0);
    findings_free(&findings);
    buf_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_pipes_and_feeds_find_the_same),
        cmocka_unit_test(a_failure_is_found_wherever_it_lies_at_a_block_edge),
        cmocka_unit_test(lines_of_megabytes_hide_nothing_and_cost_little),
        cmocka_unit_test(progress_bars_don_t_hide_the_error_behind_them),
        cmocka_unit_test(utf16_is_read_as_text),
        cmocka_unit_test(archives_are_read_and_archives_in_archives),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(directories_are_read_in_order_and_loops_end),
        cmocka_unit_test(signatures_are_tried_on_what_dumps_say),
        cmocka_unit_test(evidence_is_counted_and_capped),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* Reports of tools: healthy and sick ones, cut off, hostile; as files, through pipes, in archives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "scan/scan.h"

static const struct signature signatures[] = {
    {.id = "ecc", .is_regex = true, .pattern = "has (?<errors>\\d+) uncorrected ECC errors? since", .role = ROLE_INITIATING},
    {.id = "dead", .is_regex = true, .pattern = "NCCL RAS: rank (?<rank>\\d+) of communicator \\S+ is considered dead"},
};

#include "signature_set.h"

static struct findings conclude(struct scan *scan)
{
    struct findings findings;
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    scan_free(scan);
    return findings;
}

static struct findings read_from(int fd)
{
    struct scan *scan;
    struct err err = {0};
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    if (scan_fd(scan, "report", fd, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(close(fd), 0);
    return conclude(scan);
}

static struct findings of_bytes(const void *bytes, size_t length)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fflush(file), 0);
    int fd = dup(fileno(file));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    struct findings findings = read_from(fd);
    assert_int_equal(fclose(file), 0);
    return findings;
}

static struct findings of_text(const char *text)
{
    return of_bytes(text, strlen(text));
}

static size_t count_of(const struct findings *findings, enum evidence_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->evidence_count; i++)
        count += findings->evidence[i].kind == kind;
    return count;
}

static const struct evidence *telling_as(enum evidence_kind kind, const struct findings *findings, const char *words)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == kind && strstr(findings->evidence[i].text, words))
            return &findings->evidence[i];
    for (size_t i = 0; i < findings->evidence_count; i++)
        print_message("  %s\n", findings->evidence[i].text);
    fail_msg("nothing tells '%s'", words);
    return NULL;
}

static const struct evidence *telling(const struct findings *findings, const char *words)
{
    return telling_as(EV_DUMP, findings, words);
}

static const char *field_of(const struct evidence *evidence, const char *name)
{
    for (size_t i = 0; i < evidence->field_count; i++)
        if (!strcmp(evidence->fields[i].name, name))
            return evidence->fields[i].value;
    return "";
}

/* ---- NCCL RAS ---- */

#define RAS_HEAD "{\"nccl_version\": \"2.28.9\", \"communicators_count\": 1, \"communicators\": [\n"
#define RAS_TAIL "], \"ras\": {\"collection_time_sec\": 0.1, \"timeouts_count\": 0}}\n"

static void add_rank(struct buf *buf, int rank, int init, int later, unsigned all_reduces)
{
    buf_addf(buf,
             "%s{\"rank\": %d, \"host\": \"10.0.0.%d\", \"pid\": %d, \"cuda_dev\": %d, \"nvml_dev\": %d, \"status\": {\"init_state\": %d, "
             "\"async_error\": %d, \"abort_flag\": false}, \"collective_counts\": {\"Broadcast\": 1, \"AllReduce\": %u}}",
             rank ? ",\n" : "", rank, 1 + rank / 4, 1000 + rank, rank % 4, rank % 4, init, later, all_reduces);
}

/* Eight ranks; `odd` of them differ from the others as told. */
static void make_ras(struct buf *buf, int odd, int init, int later, unsigned all_reduces, const char *missing)
{
    buf_adds(buf, RAS_HEAD "{\"hash\": \"0xabc\", \"size\": 9, \"ranks\": [");
    for (int rank = 0; rank < 8; rank++)
        add_rank(buf, rank, rank < odd ? init : 0, rank < odd ? later : 0, rank < odd ? all_reduces : 640);
    buf_addf(buf, "], \"missing_ranks\": [%s]}" RAS_TAIL, missing);
    assert_false(buf->failed);
}

static struct findings of_ras(int odd, int init, int later, unsigned all_reduces, const char *missing)
{
    struct buf buf = {0};
    make_ras(&buf, odd, init, later, all_reduces, missing);
    struct findings findings = of_bytes(buf.data, buf.length);
    buf_free(&buf);
    return findings;
}

static void communicators_in_order_are_no_evidence(void **state)
{
    (void)state;
    struct findings findings = of_ras(0, 0, 0, 0, "");
    assert_int_equal(findings.evidence_count, 0);
    assert_false(findings.training_log);
    assert_int_equal(findings.world_size, 9);
    assert_int_equal(findings.version_count, 1);
    assert_string_equal(findings.versions[0].version, "2.28.9");
    findings_free(&findings);
}

static void ranks_behind_and_ahead_are_named(void **state)
{
    (void)state;
    struct findings findings = of_ras(2, 0, 0, 639, "");
    const struct evidence *evidence = telling(&findings, "ranks 0, 1 of communicator 0xabc launched only 639 AllReduce operations");
    assert_int_equal(evidence->rank, 0);
    assert_int_equal(evidence->role, ROLE_INITIATING);
    assert_string_equal(field_of(evidence, "ranks"), "0, 1");
    assert_string_equal(field_of(evidence, "collective"), "AllReduce");
    assert_int_equal(count_of(&findings, EV_DUMP), 1);
    findings_free(&findings);
    findings = of_ras(1, 0, 0, 641, "");
    evidence = telling(&findings, "rank 0 of communicator 0xabc launched 641 AllReduce operations, 7 other ranks only 640");
    assert_int_equal(evidence->rank, RANK_UNKNOWN);
    findings_free(&findings);
}

static void dead_and_silent_ranks_are_told(void **state)
{
    (void)state;
    struct findings findings =
        of_ras(0, 0, 0, 0,
               "{\"rank\": 8, \"host\": \"10.0.0.3\", \"pid\": 77, \"cuda_dev\": 0, \"status\": {\"unresponsive\": true, "
               "\"considered_dead\": true}}");
    const struct evidence *evidence = telling(&findings, "rank 8 of communicator 0xabc is considered dead (process 77 on 10.0.0.3");
    assert_int_equal(evidence->rank, 8);
    assert_true(findings.training_log);
    assert_int_equal(count_of(&findings, EV_SIGNATURE), 1); /* signatures are tried on the words */
    findings_free(&findings);
    findings = of_ras(0, 0, 0, 0, "{\"rank\": 8, \"status\": {\"unresponsive\": true, \"considered_dead\": false}}");
    (void)telling(&findings, "does not answer");
    findings_free(&findings);
    findings = of_ras(0, 0, 0, 0, "{\"rank\": 8}");
    (void)telling(&findings, "is missing although its process answers");
    findings_free(&findings);
}

static void forgotten_commas_are_mended(void **state)
{
    (void)state;
    struct findings findings = of_ras(0, 0, 0, 0,
                                      "{\n\"rank\": 8,\n\"pid\": 77,\n\"nvml_dev\": 1\n  \"status\": {\n\"unresponsive\": true,\n"
                                      "\"considered_dead\": true\n}\n}");
    (void)telling(&findings, "is considered dead");
    findings_free(&findings);
}

static void errors_of_ranks_have_their_role(void **state)
{
    (void)state;
    struct findings findings = of_ras(1, 0, 6, 640, "");
    assert_int_equal(telling(&findings, "a running operation: remote process error")->role, ROLE_CASCADE);
    findings_free(&findings);
    findings = of_ras(1, 2, 0, 640, "");
    assert_int_equal(telling(&findings, "initialization: system error")->role, ROLE_INITIATING);
    findings_free(&findings);
    findings = of_ras(1, 7, 0, 640, "");
    (void)telling(&findings, "rank 0 of communicator 0xabc is still being initialized");
    findings_free(&findings);
    findings = of_ras(8, 7, 0, 640, ""); /* a job that starts */
    assert_int_equal(findings.evidence_count, 0);
    findings_free(&findings);
}

/* ---- DCGM ---- */

static void failed_tests_are_told_with_gpu_and_warning(void **state)
{
    (void)state;
    struct findings findings = of_text(
        "{\"DCGM Diagnostic\": {\"test_categories\": [{\"category\": \"Hardware\", \"tests\": [{\"name\": \"memory\", \"results\": ["
        "{\"entity_group\": \"GPU\", \"entity_id\": 0, \"status\": \"Pass\"}, {\"entity_group\": \"GPU\", \"entity_id\": 3, \"status\": "
        "\"Fail\","
        "\"warnings\": [{\"error_id\": 77, \"error_severity\": 2, \"warning\": \"wrong\\u001b[31m data\"}]}], \"test_summary\": "
        "{\"status\": "
        "\"Fail\"}}]}]}}");
    assert_int_equal(count_of(&findings, EV_DUMP), 1);
    const struct evidence *evidence = telling(&findings, "test memory failed on GPU 3: wrong data (severity: isolate)");
    assert_string_equal(field_of(evidence, "error_id"), "77");
    assert_string_equal(field_of(evidence, "device"), "GPU 3");
    assert_true(findings.training_log);
    findings_free(&findings);
}

static void older_layouts_are_read(void **state)
{
    (void)state;
    struct findings findings = of_text(
        "{\"DCGM GPU Diagnostic\": {\"test_categories\": [{\"tests\": [null, {\"name\": \"Memory\", \"results\": [{\"gpu_ids\": \"0,1\", "
        "\"status\": \"FAIL\", \"warnings\": [\"no memory\"]}]}, {\"name\": \"PCIe\", \"results\": [{\"gpu_id\": \"2\", \"status\": "
        "\"Warn\", "
        "\"warnings\": \"slow\"}]}, {\"name\": \"SM\", \"results\": [{\"status\": \"Skip\", \"warnings\": [\"not run\"]}]}]}]}}");
    assert_int_equal(count_of(&findings, EV_DUMP), 2);
    (void)telling(&findings, "test Memory failed on GPU 0,1: no memory");
    (void)telling(&findings, "test PCIe warns of GPU 2: slow");
    findings_free(&findings);
    findings = of_text("{\"DCGM Diagnostic\": {\"runtime_error\": \"the host engine is not running\"}}");
    (void)telling(&findings, "test run failed on the system: the host engine is not running");
    findings_free(&findings);
    findings =
        of_text("{\"DCGM Diagnostic\": {\"test_categories\": [{\"tests\": [{\"name\": \"software\", \"results\": [], \"test_summary\": "
                "{\"status\": \"Fail\", \"warnings\": [{\"warning\": \"no driver\"}]}}]}]}}");
    (void)telling(&findings, "test software failed on the system: no driver");
    findings_free(&findings);
}

/* ---- nvidia-smi ---- */

#define SMI(inside) \
    "<?xml version=\"1.0\" ?>\n<nvidia_smi_log><driver_version>570.86</driver_version><gpu id=\"x\">" inside "</gpu></nvidia_smi_log>"

static void sick_gpus_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words, *finding;
    } cases[] = {
        {SMI("<pci><pci_bus_id>00000000:07:00.0</pci_bus_id></pci><ecc_errors><volatile><sram_uncorrectable_parity>1</"
             "sram_uncorrectable_parity>"
             "<dram_uncorrectable>2</dram_uncorrectable></volatile></ecc_errors>"),
         "GPU 0 (00000000:07:00.0) has 3 uncorrected ECC errors since its last reset", "ecc_uncorrected"},
        {SMI("<ecc_errors><volatile><double_bit><total>1</total></double_bit></volatile></ecc_errors>"),
         "GPU 0 has 1 uncorrected ECC error since", "ecc_uncorrected"},
        {SMI("<remapped_rows><remapped_row_pending>Yes</remapped_row_pending></remapped_rows>"), "has a row remap that waits",
         "row_remap_pending"},
        {SMI("<remapped_rows><remapped_row_failure>Yes</remapped_row_failure></remapped_rows>"), "could not remap", "row_remap_failed"},
        {SMI("<retired_pages><pending_retirement>Yes</pending_retirement></retired_pages>"), "has a page retirement that waits",
         "page_retirement_pending"},
        {SMI("<clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active</clocks_throttle_reason_hw_slowdown></"
             "clocks_throttle_reasons>"),
         "is slowed down by heat or power: hw_slowdown", "throttled"},
        {SMI("<fabric><state>In Progress</state><status>N/A</status></fabric>"), "has not joined the NVSwitch fabric: state In Progress",
         "fabric_state"},
        {SMI("<fabric><state>Completed</state><status>Unknown Failure</status></fabric>"), "state Completed, Unknown Failure",
         "fabric_state"},
        {SMI("<gpu_recovery_action>Reboot</gpu_recovery_action>"), "the driver asks for: Reboot", "recovery_action"},
        {SMI("<compute_mode>Prohibited</compute_mode>"), "is in compute mode Prohibited", "compute_mode"},
        {SMI("<temperature><gpu_temp>GPU is lost</gpu_temp></temperature>"), "does not answer: GPU is lost", "lost"},
        {SMI("<pci><pci_gpu_link_info><link_widths><max_link_width>16x</max_link_width><current_link_width>8x</current_link_width></"
             "link_widths>"
             "</pci_gpu_link_info></pci>"),
         "runs on 8 of 16 PCIe lanes", "pcie_width"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct findings findings = of_text(cases[i].text);
        const struct evidence *evidence = telling(&findings, cases[i].words);
        assert_string_equal(field_of(evidence, "finding"), cases[i].finding);
        assert_int_equal(count_of(&findings, EV_DUMP), 1);
        assert_int_equal(findings.training_log, strcmp(cases[i].finding, "pcie_width") != 0);
        findings_free(&findings);
    }
}

/* How a machine is set up is told, but as no failure. */
static void settings_are_no_failures(void **state)
{
    (void)state;
    struct findings findings = of_text(SMI("<compute_mode>Exclusive_Process</compute_mode>"
                                           "<mig_mode><current_mig>Enabled</current_mig><pending_mig>Enabled</pending_mig></mig_mode>"));
    assert_string_equal(field_of(telling_as(EV_OBSERVED, &findings, "in compute mode Exclusive_Process"), "finding"), "compute_mode");
    assert_string_equal(field_of(telling_as(EV_OBSERVED, &findings, "in MIG mode"), "value"), "Enabled");
    assert_int_equal(count_of(&findings, EV_DUMP), 0);
    assert_int_equal(count_of(&findings, EV_OBSERVED), 2);
    assert_true(findings.clean_end);
    findings_free(&findings);
}

static void healthy_gpus_are_not(void **state)
{
    (void)state;
    struct findings findings =
        of_text(SMI("<compute_mode>Default</compute_mode><mig_mode><current_mig>N/A</current_mig></mig_mode><fabric><state>N/A</state></"
                    "fabric><ecc_errors><volatile>"
                    "<dram_uncorrectable>0</dram_uncorrectable></volatile><aggregate><dram_uncorrectable>9</dram_uncorrectable></aggregate>"
                    "</ecc_errors><gpu_recovery_action>None</gpu_recovery_action><processes><process_info><process_name>GPU is lost"
                    "</process_name></process_info></processes>"));
    assert_int_equal(findings.evidence_count, 0);
    assert_int_equal(findings.version_count, 1);
    findings_free(&findings);
}

static void a_cut_off_inventory_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    struct findings findings = of_text("<?xml version=\"1.0\" ?>\n<nvidia_smi_log><gpu id=\"x\"><ecc_errors><volatile><dram_uncorrectable>5"
                                       "</dram_uncorrectable></volatile></ecc_errors></gpu><gpu id=\"y\"><ecc_errors><vola");
    (void)telling(&findings, "GPU 0 has 5 uncorrected ECC errors");
    findings_free(&findings);
}

/* Entities are neither fetched nor replaced. */
static void entities_stay_what_they_are(void **state)
{
    (void)state;
    struct findings findings =
        of_text("<?xml version=\"1.0\"?>\n<!DOCTYPE nvidia_smi_log [<!ENTITY a \"aaaaaaaaaaaaaaaa\"><!ENTITY b "
                "\"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]>\n"
                "<nvidia_smi_log><gpu id=\"x\"><gpu_recovery_action>&b;&c;</gpu_recovery_action></gpu></nvidia_smi_log>");
    assert_int_equal(count_of(&findings, EV_DUMP), 0);
    findings_free(&findings);
}

/* ---- where they come from ---- */

static const char sick[] = SMI("<ecc_errors><volatile><dram_uncorrectable>5</dram_uncorrectable></volatile></ecc_errors>");

static void pipes_hold_reports_too(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], sick, sizeof sick - 1), sizeof sick - 1);
    assert_int_equal(close(ends[1]), 0);
    struct findings findings = read_from(ends[0]);
    (void)telling(&findings, "has 5 uncorrected ECC errors");
    assert_int_equal(count_of(&findings, EV_SIGNATURE), 1);
    findings_free(&findings);
}

static struct findings of_feed(const char *const *pieces, size_t count, size_t piece)
{
    struct scan *scan;
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0, length = strlen(pieces[i]); at < length; at += piece)
            assert_int_equal(scan_feed(scan, "fed", pieces[i] + at, length - at < piece ? length - at : piece, NULL), DTKB_OK);
    return conclude(scan);
}

static void fed_bytes_hold_reports_too(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < sizeof sick; piece = piece * 3 + 1) {
        const char *const report[] = {sick};
        struct findings findings = of_feed(report, 1, piece);
        (void)telling(&findings, "has 5 uncorrected ECC errors");
        assert_int_equal(count_of(&findings, EV_SIGNATURE), 1);
        assert_int_equal(findings.file_count, 1);
        assert_string_equal(findings.files[0].name, "fed");
        findings_free(&findings);
    }
}

/* Whatever begins with a brace or an angle bracket and is a log is read as one, in order and whole. */
static void fed_logs_that_look_like_reports_are_logs(void **state)
{
    (void)state;
    static char many[20000] = "{\"step\": 0}\n";
    while (strlen(many) < sizeof many - 100)
        strcat(many, "{\"step\": 1, \"loss\": 0.5}\n");
    strcat(many, "GPU has 7 uncorrected ECC errors since then\n");
    const char *const logs[][2] = {{"{\"communicators\": [\n", "GPU has 7 uncorrected ECC errors since then\n"},
                                   {"<nvidia_smi", " was asked\nGPU has 7 uncorrected ECC errors since then\n"},
                                   {many, ""}};
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        struct findings findings = of_feed(logs[i], 2, 50);
        (void)telling_as(EV_SIGNATURE, &findings, "has 7 uncorrected ECC errors");
        assert_int_equal(findings.bytes, strlen(logs[i][0]) + strlen(logs[i][1]));
        assert_true(findings.lines >= 2);
        findings_free(&findings);
    }
}

static void what_was_concluded_from_goes_on(void **state)
{
    (void)state;
    static const char first[] = "{\"communicators\": [\n", second[] = "GPU has 7 uncorrected ECC errors since then\n";
    struct scan *scan;
    struct findings findings;
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    assert_int_equal(scan_feed(scan, "fed", first, strlen(first), NULL), DTKB_OK);
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    assert_int_equal(findings.lines, 1);
    findings_free(&findings);
    assert_int_equal(scan_feed(scan, "fed", second, strlen(second), NULL), DTKB_OK);
    findings = conclude(scan);
    assert_int_equal(telling_as(EV_SIGNATURE, &findings, "has 7 uncorrected ECC errors")->line, 2);
    findings_free(&findings);
}

static void archives_hold_reports_too(void **state)
{
    (void)state;
    static char bytes[65536];
    size_t used = 0;
    struct archive *archive = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    assert_int_equal(archive_write_set_format_ustar(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_add_filter_gzip(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_open_memory(archive, bytes, sizeof bytes, &used), ARCHIVE_OK);
    archive_entry_set_pathname(entry, "smi.xml");
    archive_entry_set_size(entry, sizeof sick - 1);
    archive_entry_set_filetype(entry, AE_IFREG);
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(archive, sick, sizeof sick - 1), sizeof sick - 1);
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    archive_entry_free(entry);
    (void)archive_write_free(archive);
    struct findings findings = of_bytes(bytes, used);
    (void)telling(&findings, "has 5 uncorrected ECC errors");
    assert_string_equal(findings.files[0].name, "report/smi.xml");
    findings_free(&findings);
}

static void what_is_no_report_is_read_as_a_log(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"communicators\": 1}\nConnection lost\n",
        "{\"DCGM Diagnostic\": \"text\"}\n",
        "{\"nccl_version\": \"2.28.9\", \"communicators\": [{\"hash\": \n",
        "<html><nvidia_smi_log></nvidia_smi_log></html>\n",
        "{\"communicators\": [[[[[{\"DCGM Diagnostic\": [1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct findings findings = of_text(texts[i]);
        assert_int_equal(findings.file_count, 1);
        assert_int_equal(count_of(&findings, EV_DUMP), 0);
        assert_true(findings.lines >= 1);
        findings_free(&findings);
    }
}

/* Wrong types, missing members, numbers out of range: nothing of it may do harm. */
static void hostile_reports_do_no_harm(void **state)
{
    (void)state;
    static const char *const texts[] = {
        RAS_HEAD "1, null, {\"hash\": 5, \"size\": \"x\", \"ranks\": {\"a\": 1}, \"missing_ranks\": [1, {\"rank\": \"x\", \"status\": "
                 "[]}]}" RAS_TAIL,
        RAS_HEAD
        "{\"size\": 9223372036854775807, \"ranks\": [{\"rank\": 9223372036854775807, \"status\": {\"init_state\": -5, \"async_error\": "
        "99}, \"collective_counts\": {\"%s%n\": 1}}, {\"rank\": -4, \"collective_counts\": {\"%s%n\": -9223372036854775807}}]}" RAS_TAIL,
        "{\"DCGM Diagnostic\": {\"test_categories\": {\"tests\": 1}, \"tests\": [1, {\"name\": 7, \"results\": [{\"status\": \"Fail\", "
        "\"gpu_ids\": [1], \"warnings\": {\"warning\": 3, \"error_severity\": -1}}]}]}}",
        SMI("<ecc_errors><volatile><dram_uncorrectable>99999999999999999999999</dram_uncorrectable></volatile></ecc_errors><pci/>"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct findings findings = of_text(texts[i]);
        for (size_t k = 0; k < findings.evidence_count; k++)
            assert_true(strlen(findings.evidence[k].text) <= EVIDENCE_TEXT_MAX);
        findings_free(&findings);
    }
}

static void many_findings_are_capped(void **state)
{
    (void)state;
    struct buf buf = {0};
    buf_adds(&buf, "<nvidia_smi_log>");
    for (int i = 0; i < 2000; i++)
        buf_adds(&buf, "<gpu><compute_mode>Prohibited</compute_mode><gpu_recovery_action>Reset</gpu_recovery_action></gpu>");
    buf_adds(&buf, "</nvidia_smi_log>");
    struct findings findings = of_bytes(buf.data, buf.length);
    assert_int_equal(count_of(&findings, EV_DUMP), 256);
    findings_free(&findings);
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communicators_in_order_are_no_evidence),
        cmocka_unit_test(ranks_behind_and_ahead_are_named),
        cmocka_unit_test(dead_and_silent_ranks_are_told),
        cmocka_unit_test(forgotten_commas_are_mended),
        cmocka_unit_test(errors_of_ranks_have_their_role),
        cmocka_unit_test(failed_tests_are_told_with_gpu_and_warning),
        cmocka_unit_test(older_layouts_are_read),
        cmocka_unit_test(sick_gpus_are_told),
        cmocka_unit_test(settings_are_no_failures),
        cmocka_unit_test(healthy_gpus_are_not),
        cmocka_unit_test(a_cut_off_inventory_is_read_as_far_as_it_goes),
        cmocka_unit_test(entities_stay_what_they_are),
        cmocka_unit_test(pipes_hold_reports_too),
        cmocka_unit_test(fed_bytes_hold_reports_too),
        cmocka_unit_test(fed_logs_that_look_like_reports_are_logs),
        cmocka_unit_test(what_was_concluded_from_goes_on),
        cmocka_unit_test(archives_hold_reports_too),
        cmocka_unit_test(what_is_no_report_is_read_as_a_log),
        cmocka_unit_test(hostile_reports_do_no_harm),
        cmocka_unit_test(many_findings_are_capped),
    };
    return cmocka_run_group_tests(tests, build, discard);
}

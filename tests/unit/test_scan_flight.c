/* Flight Recorder dumps and the pickle reader behind them. Dumps are made here, in PyTorch's form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "scan/flight.h"
#include "scan/pickle.h"

static dtkb_status read_pickle(const char *bytes, size_t length, char **json, struct err *err)
{
    json_t *root = NULL;
    dtkb_status status = pickle_read("dump", bytes, length, &root, err);
    *json = status == DTKB_OK ? json_dumps(root, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(root);
    return status;
}

#define BYTES(text) text, sizeof(text) - 1

static void plain_data_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *json;
    } cases[] = {
        {BYTES("\x80\x02}q\0(X\x01\0\0\0aq\x01K\x05X\x01\0\0\0bq\x02]q\x03(M\0\x01J\xff\xff\xff\xffNeu."), "{\"a\":5,\"b\":[256,-1,null]}"},
        {BYTES("\x80\x04\x95\x0a\0\0\0\0\0\0\0\x8c\x01x\x94\x88\x89\x87\x94."), "[\"x\",true,false]"},
        {BYTES("(lp0\nI1\naI01\naF1.5\naS'x'\np1\nag1\na."), "[1,true,1.5,\"x\",\"x\"]"},
        {BYTES("\x80\x02\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808"},
        {BYTES("\x80\x02G?\xf8\0\0\0\0\0\0."), "1.5"},
        {BYTES("\x80\x03"
               "C\x02\xff"
               "a."),
         "\"\\\\xffa\""},
        {BYTES("\x80\x02K\x01K\x02\x86."), "[1,2]"},
        {BYTES("\x80\x04\x8f(K\x01K\x02\x90."), "[1,2]"},
        {BYTES("\x80\x02}(K\x07X\x01\0\0\0vu."), "{\"7\":\"v\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *json;
        struct err err = {0};
        if (read_pickle(cases[i].bytes, cases[i].length, &json, &err) != DTKB_OK)
            fail_msg("%zu: %s", i, err.text);
        assert_string_equal(json, cases[i].json);
        free(json);
    }
}

static void opcodes_that_could_run_code_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *name;
    } cases[] = {{BYTES("cos\nsystem\n(S'true'\ntR."), " GLOBAL "},
                 {BYTES("\x80\x04\x8c\x02os\x8c\x06system\x93."), " STACK_GLOBAL "},
                 {BYTES("\x80\x02NNR."), " REDUCE "},
                 {BYTES("(ios\nsystem\n."), " INST "},
                 {BYTES("\x80\x02(No."), " OBJ "},
                 {BYTES("\x80\x02NN\x81."), " NEWOBJ "},
                 {BYTES("\x80\x04NNN\x92."), " NEWOBJ_EX "},
                 {BYTES("\x80\x02NNb."), " BUILD "},
                 {BYTES("\x80\x02\x82\x01."), " EXT1 "},
                 {BYTES("\x80\x02\x83\x01\0."), " EXT2 "},
                 {BYTES("\x80\x02\x84\x01\0\0\0."), " EXT4 "},
                 {BYTES("Pid\n."), " PERSID "},
                 {BYTES("\x80\x02NQ."), " BINPERSID "},
                 {BYTES("\x80\x05\x97."), " NEXT_BUFFER "},
                 {BYTES("\x80\x05N\x98."), " READONLY_BUFFER "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *json;
        struct err err = {0};
        assert_int_equal(read_pickle(cases[i].bytes, cases[i].length, &json, &err), DTKB_E_FORMAT);
        if (!strstr(err.text, cases[i].name))
            fail_msg("\"%s\" does not name%s", err.text, cases[i].name);
    }
}

static void hostile_pickles_end_in_an_error(void **state)
{
    (void)state;
    struct buf deep = {0}, lists = {0};
    buf_adds(&deep, "\x80\x02");
    for (int i = 0; i < 100000; i++)
        buf_adds(&deep, "]");
    for (int i = 0; i < 99999; i++)
        buf_adds(&deep, "a");
    buf_adds(&deep, ".");
    buf_adds(&lists, "\x80\x02");
    for (int i = 0; i < 1000000; i++)
        buf_adds(&lists, "N");
    struct {
        const char *bytes;
        size_t length;
    } cases[] = {{deep.data, deep.length},
                 {lists.data, lists.length},
                 {BYTES("\x80\x02]q\0h\0a.")},             /* a list in itself */
                 {BYTES("\x80\x02}q\0X\x01\0\0\0kh\0s.")}, /* a dictionary in itself */
                 {BYTES("\x80\x02]q\0]q\x01h\0ah\0h\x01"
                        "a.")},
                 {BYTES("\x80\x02N.N")},
                 {BYTES("\x80\x02X\xff\xff\xff\x7fshort.")},
                 {BYTES("\x80\x02")},
                 {BYTES("\x80\x09N.")},
                 {BYTES("e.")},
                 {BYTES("(e.")},
                 {BYTES("a.")},
                 {BYTES("((s.")},
                 {BYTES("\x86.")},
                 {BYTES("(\x85.")},
                 {BYTES("h\x05.")},
                 {BYTES("0.")},
                 {BYTES("")}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *json = NULL;
        struct err err = {0};
        dtkb_status status = read_pickle(cases[i].bytes, cases[i].length, &json, &err);
        free(json);
        if (i == 5) /* what follows the end is nobody's */
            assert_int_equal(status, DTKB_OK);
        else
            assert_int_not_equal(status, DTKB_OK);
    }
    buf_free(&deep);
    buf_free(&lists);
}

/* A dump of a rank of four whose collectives `first`..`last` of group 0 are recorded, `completed` of them done. */
static json_t *dump(int first, int last, int completed, const char *odd_name, int odd)
{
    json_t *entries = json_array();
    for (int i = first; i <= last; i++) {
        const char *name = i == odd ? odd_name : "nccl:all_reduce";
        assert_int_equal(json_array_append_new(entries, json_pack("{s:i,s:i,s:[ss],s:i,s:s,s:[[ii]],s:[s],s:s,s:I,s:b}", "record_id", i,
                                                                  "pg_id", 0, "process_group", "0", "default_pg", "collective_seq_id", i,
                                                                  "profiling_name", name, "input_sizes", 4, 5, "input_dtypes", "Float",
                                                                  "state", i <= completed ? "completed" : "scheduled", "time_created_ns",
                                                                  (json_int_t)1000 + i, "is_p2p", 0)),
                         0);
    }
    return json_pack("{s:s,s:{s:{s:s,s:s,s:s}},s:{s:{s:i,s:i}},s:o}", "version", "2.9", "pg_config", "0", "name", "0", "desc", "default_pg",
                     "ranks", "[0, 1, 2, 3]", "pg_status", "0", "last_enqueued_collective", last, "last_completed_collective", completed,
                     "entries", entries);
}

static struct findings conclude(json_t *const *dumps, size_t count)
{
    struct flight *flight = flight_new();
    struct collect collect = {0};
    struct findings findings = {0};
    for (size_t i = 0; i < count; i++) {
        if (!dumps[i])
            continue;
        assert_true(flight_is_dump(dumps[i]));
        assert_int_equal(flight_add(flight, dumps[i], (uint32_t)i, (int32_t)i, NULL), DTKB_OK);
        json_decref(dumps[i]);
    }
    flight_conclude(flight, &collect);
    assert_int_equal(collect_finish(&collect, &findings, NULL), DTKB_OK);
    collect_free(&collect);
    flight_free(flight);
    return findings;
}

static const char *field(const struct evidence *evidence, const char *name)
{
    for (size_t i = 0; i < evidence->field_count; i++)
        if (!strcmp(evidence->fields[i].name, name))
            return evidence->fields[i].value;
    return "";
}

static void the_rank_that_never_came_is_named(void **state)
{
    (void)state;
    json_t *dumps[] = {dump(8, 12, 10, NULL, -1), dump(8, 12, 10, NULL, -1), dump(8, 10, 10, NULL, -1), dump(8, 11, 10, NULL, -1)};
    struct findings findings = conclude(dumps, 4);
    assert_int_equal(findings.evidence_count, 1);
    const struct evidence *evidence = &findings.evidence[0];
    assert_int_equal(evidence->kind, EV_DUMP);
    assert_int_equal(evidence->role, ROLE_INITIATING);
    assert_int_equal(evidence->rank, 2);
    assert_string_equal(field(evidence, "finding"), "never-came");
    assert_string_equal(field(evidence, "missing_ranks"), "2");
    assert_string_equal(field(evidence, "waiting_ranks"), "0, 1, 3");
    assert_string_equal(field(evidence, "collective"), "all_reduce");
    assert_string_equal(field(evidence, "sequence"), "11");
    assert_string_equal(field(evidence, "group_name"), "default_pg");
    assert_int_equal(findings.world_size, 4);
    findings_free(&findings);
}

/* As PyTorch 2.15 records gloo: one group without a name, whichever was made last, and no state but "scheduled". */
static json_t *gloo_dump(int last, int retired)
{
    json_t *entries = json_array();
    for (int i = 1; i <= last; i++)
        assert_int_equal(
            json_array_append_new(entries, json_pack("{s:i,s:i,s:[ss],s:i,s:s,s:[[i]],s:[s],s:s,s:I,s:b,s:b}", "record_id", i, "pg_id", 0,
                                                     "process_group", "0", "default_pg", "collective_seq_id", i, "profiling_name",
                                                     "gloo:all_reduce", "input_sizes", 4, "input_dtypes", "Float", "state", "scheduled",
                                                     "time_created_ns", (json_int_t)1000 + i, "is_p2p", 0, "retired", i <= retired)),
            0);
    return json_pack("{s:s,s:{s:{s:s,s:s,s:s}},s:{s:{s:i,s:i}},s:o}", "version", "2.10", "pg_config", "", "name", "", "desc", "", "ranks",
                     "[0, 1]", "pg_status", "0", "last_enqueued_collective", last, "last_completed_collective", retired, "entries",
                     entries);
}

static void gloo_dumps_tell_of_the_default_group(void **state)
{
    (void)state;
    json_t *dumps[] = {gloo_dump(4, 3), gloo_dump(3, 3), gloo_dump(4, 3)};
    struct findings findings = conclude(dumps, 3);
    assert_int_equal(findings.evidence_count, 1);
    assert_int_equal(findings.evidence[0].rank, 1);
    assert_string_equal(field(&findings.evidence[0], "finding"), "never-came");
    assert_string_equal(field(&findings.evidence[0], "waiting_ranks"), "0, 2");
    assert_string_equal(field(&findings.evidence[0], "sequence"), "4");
    findings_free(&findings);
    json_t *well[] = {gloo_dump(4, 4), gloo_dump(4, 4)};
    findings = conclude(well, 2);
    assert_int_equal(findings.evidence_count, 0);
    findings_free(&findings);
}

static void ranks_that_did_not_finish_are_named(void **state)
{
    (void)state;
    json_t *dumps[] = {dump(8, 12, 11, NULL, -1), dump(8, 12, 9, NULL, -1), dump(8, 12, 11, NULL, -1), dump(8, 12, 9, NULL, -1)};
    struct findings findings = conclude(dumps, 4);
    assert_int_equal(findings.evidence_count, 2);
    assert_int_equal(findings.evidence[0].rank, 1);
    assert_int_equal(findings.evidence[1].rank, 3);
    assert_string_equal(field(&findings.evidence[0], "finding"), "not-finished");
    assert_string_equal(field(&findings.evidence[0], "missing_ranks"), "1, 3");
    assert_string_equal(field(&findings.evidence[0], "sequence"), "10");
    findings_free(&findings);
}

static void mismatches_and_missing_dumps_are_named(void **state)
{
    (void)state;
    json_t *dumps[] = {dump(8, 12, 10, NULL, -1), dump(8, 12, 10, "nccl:broadcast", 11), NULL, dump(8, 12, 10, NULL, -1)};
    struct findings findings = conclude(dumps, 4);
    assert_int_equal(findings.evidence_count, 2);
    assert_string_equal(field(&findings.evidence[0], "finding"), "mismatch");
    assert_string_equal(field(&findings.evidence[0], "differs"), "collective");
    assert_int_equal(findings.evidence[0].rank, 1);
    assert_string_equal(field(&findings.evidence[1], "finding"), "missing-dump");
    assert_string_equal(field(&findings.evidence[1], "missing_ranks"), "2");
    findings_free(&findings);
}

static void a_job_that_went_well_has_no_verdict(void **state)
{
    (void)state;
    json_t *dumps[] = {dump(8, 12, 12, NULL, -1), dump(8, 12, 12, NULL, -1), dump(8, 12, 12, NULL, -1), dump(8, 12, 12, NULL, -1)};
    struct findings findings = conclude(dumps, 4);
    assert_int_equal(findings.evidence_count, 0);
    findings_free(&findings);
}

static void ranks_are_read_from_names(void **state)
{
    (void)state;
    assert_int_equal(flight_rank_of_name("dir/_dump_12"), 12);
    assert_int_equal(flight_rank_of_name("nccl_trace_rank_3"), 3);
    assert_int_equal(flight_rank_of_name("/x/comm_lib_trace_rank_0.json"), 0);
    assert_int_equal(flight_rank_of_name("host7_dump_4"), 4);
    assert_int_equal(flight_rank_of_name("trace"), RANK_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_data_is_read),
        cmocka_unit_test(opcodes_that_could_run_code_are_refused_by_name),
        cmocka_unit_test(hostile_pickles_end_in_an_error),
        cmocka_unit_test(the_rank_that_never_came_is_named),
        cmocka_unit_test(gloo_dumps_tell_of_the_default_group),
        cmocka_unit_test(ranks_that_did_not_finish_are_named),
        cmocka_unit_test(mismatches_and_missing_dumps_are_named),
        cmocka_unit_test(a_job_that_went_well_has_no_verdict),
        cmocka_unit_test(ranks_are_read_from_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

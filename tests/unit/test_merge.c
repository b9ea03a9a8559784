/* Joining the reports of a large job: quickly, the same in any order, and what is not alike stands out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include <dtkb/dtkb.h>

#include "base/clock.h"

#define RANKS 64
#define FACTS 300

static void add_fact(json_t *facts, const char *plugin, const char *name, json_t *value)
{
    json_array_append_new(facts, json_pack("{s:s, s:s, s:o, s:s}", "name", name, "type", "string", "value", value, "plugin", plugin));
}

/* Rank 7 has another driver; 9 an MTU of its own; 11 lacks a variable; each has its own address; 60 and above gave no report. */
static dtkb_doc *report_of(int rank)
{
    char name[64];
    json_t *facts = json_array();
    for (int i = 0; i < FACTS; i++) {
        (void)snprintf(name, sizeof name, "env.var.NAME_%d", i);
        if (rank != 11 || i != 5)
            add_fact(facts, "env", name, json_string("the same"));
    }
    add_fact(facts, "gpu_inventory", "gpu.driver.version", json_string(rank == 7 ? "550.90" : "535.54"));
    add_fact(facts, "net", "net.iface.eth0.mtu", json_integer(rank == 9 ? 1500 : 9000));
    add_fact(facts, "net", "net.iface.eth0.up", json_true());
    add_fact(facts, "env", "env.var.OWN", json_integer(rank));
    add_fact(facts, "host", "host.memory.available_bytes", json_integer(1000 + rank % 2));
    if (rank == 3) {
        add_fact(facts, "nccl", "nccl.bad_pair", json_string("2,5"));
        add_fact(facts, "nccl", "nccl.missing_ranks", json_string("61,62"));
    }
    if (rank < 5) /* all say the same */
        add_fact(facts, "nccl", "nccl.bad_ranks", json_string("3,14"));
    json_t *cause = json_pack("{s:s, s:f, s:s, s:[{s:s, s:i}]}", "id", "some-cause", "confidence", rank == 8 ? 0.9 : 0.4, "verified",
                              "untested", "evidence", "file", "train.log", "line", rank);
    json_t *tree =
        json_pack("{s:s, s:[], s:s, s:n, s:[], s:[], s:[o], s:[], s:[], s:[], s:{}, s:o, s:[{s:s, s:s, s:s}], s:{s:i, s:i, s:s}}", "schema",
                  "dtkb.report/1", "input", "verdict", rank == 8 ? "fault" : "no-fault", "first_failing_rank", "symptoms", "fixes",
                  "causes", cause, "evidence", "similar", "next", "versions", "facts", facts, "probes", "name", "net", "status", "ok",
                  "reason", "", "job", "rank", rank, "world_size", RANKS, "host", "node");
    char *text = json_dumps(tree, 0), why[DTKB_ERROR_TEXT_MAX];
    dtkb_doc *doc = NULL;
    assert_non_null(text);
    if (dtkb_doc_parse(text, strlen(text), &doc, why, sizeof why) != DTKB_OK)
        fail_msg("%s", why);
    free(text);
    json_decref(tree);
    return doc;
}

static json_t *merged(dtkb_doc *const *reports, size_t count, char **text)
{
    dtkb_doc *doc;
    char why[DTKB_ERROR_TEXT_MAX];
    if (dtkb_merge((const dtkb_doc *const *)reports, count, &doc, why, sizeof why) != DTKB_OK)
        fail_msg("%s", why);
    *text = strdup(dtkb_doc_json(doc));
    json_t *tree = json_loads(*text, 0, NULL);
    dtkb_doc_free(doc);
    assert_non_null(tree);
    return tree;
}

static const json_t *difference(const json_t *tree, const char *name)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(tree, "differences"), i,
                       entry) if (!strcmp(json_string_value(json_object_get(entry, "fact")), name)) return json_object_get(entry, "values");
    return NULL;
}

static void expect(const json_t *groups, size_t index, const char *value, json_int_t count, const char *first)
{
    const json_t *group = json_array_get(groups, index);
    char *text = json_dumps(json_object_get(group, "value"), JSON_ENCODE_ANY);
    assert_string_equal(text, value);
    assert_int_equal(json_integer_value(json_object_get(group, "count")), count);
    assert_string_equal(json_string_value(json_array_get(json_object_get(group, "reports"), 0)), first);
    free(text);
}

static void a_large_job(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    dtkb_doc *reports[COUNT], *backwards[COUNT];
    for (int i = 0; i < COUNT; i++)
        reports[i] = backwards[COUNT - 1 - i] = report_of(i);
    char *text, *again;
    uint64_t before = clock_ns();
    json_t *tree = merged(reports, COUNT, &text);
    assert_true(clock_ns() - before < 2 * CLOCK_NS_PER_S);
    json_decref(merged(backwards, COUNT, &again));
    assert_string_equal(text, again);

    assert_int_equal(json_array_size(json_object_get(tree, "differences")), 3);
    expect(difference(tree, "gpu.driver.version"), 0, "\"535.54\"", COUNT - 1, "rank 0 on node");
    expect(difference(tree, "gpu.driver.version"), 1, "\"550.90\"", 1, "rank 7 on node");
    expect(difference(tree, "net.iface.eth0.mtu"), 1, "1500", 1, "rank 9 on node");
    expect(difference(tree, "env.var.NAME_5"), 1, "null", 1, "rank 11 on node");
    const json_t *joined = json_object_get(tree, "joined");
    assert_int_equal(json_array_size(json_object_get(joined, "without_report")), RANKS - COUNT);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(joined, "without_report"), 0)), 60);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(joined, "missing_ranks"), 1)), 62);
    const json_t *pair = json_array_get(json_object_get(joined, "bad_pairs"), 0);
    assert_string_equal(json_string_value(json_object_get(pair, "pair")), "2,5");
    assert_string_equal(json_string_value(json_object_get(pair, "report")), "rank 3 on node");
    const json_t *ranks = json_object_get(joined, "bad_ranks");
    assert_int_equal(json_array_size(ranks), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(ranks, 0), "ranks")), "3,14");
    assert_string_equal(json_string_value(json_object_get(tree, "verdict")), "fault");
    const json_t *cause = json_array_get(json_object_get(tree, "causes"), 0);
    assert_true(json_number_value(json_object_get(cause, "confidence")) > 0.89);
    assert_int_equal(json_array_size(json_object_get(cause, "evidence")), COUNT);
    assert_int_equal(json_array_size(json_object_get(tree, "causes")), 1);
    assert_int_equal(json_array_size(json_object_get(tree, "probes")), 1); /* the same everywhere: told once */
    json_decref(tree);
    for (int i = 0; i < COUNT; i++)
        dtkb_doc_free(reports[i]);
    free(text);
    free(again);
}

static void two_reports_that_differ(void **state)
{
    (void)state;
    dtkb_doc *reports[] = {report_of(0), report_of(7)};
    char *text;
    json_t *tree = merged(reports, 2, &text);
    assert_non_null(difference(tree, "gpu.driver.version"));
    assert_null(difference(tree, "net.iface.eth0.mtu"));
    json_decref(tree);
    free(text);
    dtkb_doc_free(reports[0]);
    dtkb_doc_free(reports[1]);
}

static void what_is_no_report(void **state)
{
    (void)state;
    char why[DTKB_ERROR_TEXT_MAX] = "";
    dtkb_doc *doc = NULL, *other;
    assert_int_equal(dtkb_merge(NULL, 0, &doc, why, sizeof why), DTKB_E_USAGE);
    assert_string_equal(why, "no report to merge");
    static const char text[] = "{\"schema\": \"dtkb.stats/1\"}";
    if (dtkb_doc_parse(text, strlen(text), &other, why, sizeof why) == DTKB_OK) {
        assert_int_equal(dtkb_merge((const dtkb_doc *const *)&other, 1, &doc, why, sizeof why), DTKB_E_USAGE);
        dtkb_doc_free(other);
    }
    assert_null(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_job),
        cmocka_unit_test(two_reports_that_differ),
        cmocka_unit_test(what_is_no_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

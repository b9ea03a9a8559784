/* Trials through the public API: what is tried, what it proves and rules out, and where it ends. DOUBLES, KB_FILE and PACK are set by the
 * build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <dtkb/dtkb.h>

#include "api/trials.h"
#include "base/clock.h"

static dtkb *engine;

static int open_engine(void **state)
{
    (void)state;
    static const char *const packs[] = {PACK};
    dtkb_open_options options = DTKB_OPEN_OPTIONS_INIT;
    char why[DTKB_ERROR_TEXT_MAX];
    options.kb = KB_FILE;
    options.packs = packs;
    options.pack_count = 1;
    options.no_default_packs = 1;
    if (dtkb_open(&engine, &options, why, sizeof why) != DTKB_OK)
        fail_msg("%s", why);
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    dtkb_close(engine);
    return 0;
}

static dtkb_diagnose_options with_trials(void)
{
    dtkb_diagnose_options options = DTKB_DIAGNOSE_OPTIONS_INIT;
    options.plugin_path = DOUBLES "/trials";
    options.try_fixes = 1;
    options.max_causes = 20;
    return options;
}

static json_t *probe(const char *name, const dtkb_diagnose_options *options)
{
    dtkb_doc *doc;
    if (dtkb_probe(engine, name, options, &doc) != DTKB_OK)
        fail_msg("%s", dtkb_error(engine));
    json_t *report = json_loads(dtkb_doc_json(doc), 0, NULL);
    dtkb_doc_free(doc);
    assert_non_null(report);
    return report;
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static const char *verified(const json_t *report, const char *id)
{
    size_t i;
    const json_t *cause;
    json_array_foreach(json_object_get(report, "causes"), i, cause) if (!strcmp(text(cause, "id"), id)) return text(cause, "verified");
    return "absent";
}

static const json_t *trial(const json_t *report, const char *change)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(report, "trials"), i, entry) if (!strcmp(text(entry, "change"), change)) return entry;
    return NULL;
}

static bool names(const json_t *list, const char *id)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry) if (!strcmp(json_string_value(entry), id)) return true;
    return false;
}

static void proven_and_refuted(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    json_t *report = probe("try-peers", &options);
    const json_t *good = trial(report, "NCCL_P2P_DISABLE=1"), *bad = trial(report, "NCCL_SHM_DISABLE=1");
    assert_non_null(good);
    assert_non_null(bad);
    assert_true(json_is_true(json_object_get(good, "works")));
    assert_int_equal(json_integer_value(json_object_get(good, "confirmed")), 2);
    assert_string_equal(text(json_object_get(good, "before"), "status"), "fault");
    assert_string_equal(text(json_object_get(good, "before"), "reason"), "try-peers failed");
    assert_string_equal(text(json_object_get(good, "after"), "status"), "ok");
    assert_true(names(json_object_get(good, "proves"), "t-peers"));
    assert_true(names(json_object_get(good, "rules_out"), "t-cable"));
    assert_true(json_is_false(json_object_get(bad, "works")));
    assert_true(names(json_object_get(bad, "rules_out"), "t-shm"));
    assert_string_equal(verified(report, "t-peers"), "yes");
    assert_string_equal(verified(report, "t-shm"), "no");
    assert_string_equal(verified(report, "t-cable"), "no"); /* never tried, but ruled out */
    const json_t *trials = json_object_get(report, "trials");
    assert_ptr_equal(json_array_get(trials, json_array_size(trials) - 1), good); /* it ended at the first that works */
    assert_string_equal(text(json_array_get(json_object_get(report, "causes"), 0), "id"), "t-peers");
    json_decref(report);
}

static void a_diagnosis_of_a_log(void **state)
{
    (void)state;
    static const char log[] = "[rank0]: Traceback\nRuntimeError: double peers: cannot map peer memory\n";
    const dtkb_diagnose_options options = with_trials();
    dtkb_diagnosis *diagnosis;
    dtkb_doc *doc;
    assert_int_equal(dtkb_diagnosis_new(engine, &options, &diagnosis), DTKB_OK);
    assert_int_equal(dtkb_feed(diagnosis, "train.log", log, strlen(log)), DTKB_OK);
    if (dtkb_conclude(diagnosis, &doc) != DTKB_OK)
        fail_msg("%s", dtkb_error(engine));
    json_t *report = json_loads(dtkb_doc_json(doc), 0, NULL);
    assert_string_equal(verified(report, "t-peers"), "yes");
    assert_string_equal(verified(report, "t-shm"), "no");
    json_decref(report);
    dtkb_doc_free(doc);
    dtkb_diagnosis_free(diagnosis);
}

static void without_try_nothing_is_tried(void **state)
{
    (void)state;
    dtkb_diagnose_options options = with_trials();
    options.try_fixes = 0;
    json_t *report = probe("try-peers", &options);
    assert_null(json_object_get(report, "trials"));
    assert_string_not_equal(verified(report, "t-peers"), "yes");
    json_decref(report);
}

static void each_usable_interface(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    json_t *report = probe("try-sockets", &options); /* the interfaces are looked up for it */
    assert_non_null(trial(report, "NCCL_SOCKET_IFNAME=en8"));
    const json_t *good = trial(report, "NCCL_SOCKET_IFNAME=en9");
    assert_true(json_is_true(json_object_get(good, "works")));
    assert_null(trial(report, "NCCL_SOCKET_IFNAME=lo"));
    assert_null(trial(report, "NCCL_SOCKET_IFNAME=docker0"));
    assert_null(trial(report, "NCCL_SOCKET_IFNAME=en7"));
    assert_string_equal(verified(report, "t-route"), "yes");
    json_decref(report);
}

static void a_cause_that_only_the_trial_brings_up(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    json_t *report = probe("try-mute", &options);
    assert_string_equal(verified(report, "t-nvls"), "yes");
    assert_string_equal(text(json_array_get(json_object_get(report, "causes"), 0), "id"), "t-nvls");
    json_decref(report);
}

static void a_fault_that_goes_by_itself_proves_nothing(void **state)
{
    (void)state;
    char memory[] = "/tmp/dtkb-trial.XXXXXX", parameter[64];
    int fd = mkstemp(memory);
    assert_true(fd >= 0);
    close(fd);
    unlink(memory);
    (void)snprintf(parameter, sizeof parameter, "memory=%s", memory);
    const char *const parameters[] = {parameter};
    dtkb_diagnose_options options = with_trials();
    options.parameters = parameters;
    options.parameter_count = 1;
    json_t *report = probe("try-once", &options);
    const json_t *entry = trial(report, "NCCL_P2P_DISABLE=1");
    assert_true(json_is_false(json_object_get(entry, "works")));
    assert_non_null(strstr(text(json_object_get(entry, "after"), "reason"), "comes and goes"));
    assert_string_not_equal(verified(report, "t-once"), "yes");
    json_decref(report);
    unlink(memory);
}

static void what_could_not_be_run_refutes_nothing(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    json_t *report = probe("try-shy", &options);
    assert_string_equal(text(json_object_get(trial(report, "NCCL_P2P_DISABLE=1"), "after"), "status"), "unavailable");
    assert_string_equal(verified(report, "t-shy"), "untested");
    json_decref(report);
}

static void a_probe_without_trials_is_left_alone(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    json_t *report = probe("try-fixed", &options);
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(report, "trials"), i, entry) assert_string_not_equal(text(entry, "probe"), "try-fixed");
    json_decref(report);
}

static void bounded_in_time(void **state)
{
    (void)state;
    dtkb_diagnose_options options = with_trials();
    options.probe_budget = 1;
    uint64_t before = clock_ns();
    json_t *report = probe("try-slow", &options);
    double seconds = (double)(clock_ns() - before) / 1e9;
    assert_true(seconds < 3);
    assert_true(json_array_size(json_object_get(report, "trials")) < 6); /* of twelve */
    json_decref(report);
}

static void set_already_is_no_change(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    setenv("NCCL_SHM_DISABLE", "1", 1);
    json_t *report = probe("try-peers", &options);
    unsetenv("NCCL_SHM_DISABLE");
    assert_null(trial(report, "NCCL_SHM_DISABLE=1"));
    assert_string_equal(verified(report, "t-peers"), "yes");
    json_decref(report);
}

static void a_wrong_setting_of_the_job_is_no_proof_of_a_cause(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    setenv("NCCL_NVLS_ENABLE", "7", 1);
    json_t *report = probe("try-mute", &options);
    unsetenv("NCCL_NVLS_ENABLE");
    const json_t *entry = trial(report, "NCCL_NVLS_ENABLE=0");
    assert_true(json_is_true(json_object_get(entry, "works")));
    assert_string_equal(text(entry, "replaces"), "7");
    assert_string_equal(verified(report, "t-nvls"), "absent");
    json_decref(report);
}

static void several_variables_at_once(void **state)
{
    (void)state;
    const dtkb_diagnose_options options = with_trials();
    setenv("NCCL_PROTO", "LL", 1);
    json_t *report = probe("try-two", &options);
    unsetenv("NCCL_PROTO");
    const json_t *entry = trial(report, "NCCL_ALGO=Ring,NCCL_PROTO=Simple");
    assert_true(json_is_true(json_object_get(entry, "works")));
    assert_string_equal(text(entry, "replaces"), "NCCL_PROTO=LL");
    json_decref(report);
    setenv("NCCL_ALGO", "Ring", 1);
    setenv("NCCL_PROTO", "Simple", 1);
    setenv("NCCL_TWO_IS_BROKEN", "1", 1);
    report = probe("try-two", &options);
    assert_null(trial(report, "NCCL_ALGO=Ring,NCCL_PROTO=Simple")); /* it is so already */
    json_decref(report);
    unsetenv("NCCL_ALGO");
    unsetenv("NCCL_PROTO");
    unsetenv("NCCL_TWO_IS_BROKEN");
}

/* ---- place holders ---- */

static void add(struct fact_set *facts, const char *name, enum fact_type type, const char *string, uint64_t number)
{
    struct fact fact = {.name = name, .type = type, .unit = "", .origin = "", .plugin = "net"};
    if (type == FACT_STRING)
        fact.value.string = string;
    else if (type == FACT_BOOL)
        fact.value.boolean = number != 0;
    else
        fact.value.u64 = number;
    assert_true(fact_set_add(facts, &fact));
}

static void place_holders(void **state)
{
    (void)state;
    struct fact_set facts = {0};
    struct arena arena = {0};
    const char *out[4];
    add(&facts, "net.iface.lo.ipv4", FACT_STRING, "127.0.0.1", 0);
    add(&facts, "net.iface.lo.kind", FACT_STRING, "loopback", 0);
    add(&facts, "net.iface.lowest.ipv4", FACT_STRING, "192.0.2.5", 0);
    add(&facts, "net.iface.ib0.ipv4", FACT_STRING, "192.0.2.6", 0);
    add(&facts, "net.iface.ib0.up", FACT_BOOL, NULL, 1);
    add(&facts, "net.iface.down.ipv4", FACT_STRING, "192.0.2.7", 0);
    add(&facts, "net.iface.down.up", FACT_BOOL, NULL, 0);
    add(&facts, "ib.gid.mlx5_0.1.rocev2_ipv4_index", FACT_U64, NULL, 3);
    add(&facts, "ib.gid.mlx5_1.1.rocev2_ipv4_index", FACT_U64, NULL, 3);
    fact_set_sort(&facts);
    assert_int_equal(trial_expand("NCCL_SOCKET_IFNAME={net.iface.*.ipv4}", &facts, &arena, out, 4), 2);
    assert_string_equal(out[0], "NCCL_SOCKET_IFNAME=ib0");
    assert_string_equal(out[1], "NCCL_SOCKET_IFNAME=lowest");
    assert_int_equal(trial_expand("NCCL_IB_GID_INDEX={=ib.gid.*.*.rocev2_ipv4_index}", &facts, &arena, out, 4), 1); /* the same twice */
    assert_string_equal(out[0], "NCCL_IB_GID_INDEX=3");
    assert_int_equal(trial_expand("X=a{net.iface.*.ipv4}b", &facts, &arena, out, 1), 1);
    assert_string_equal(out[0], "X=aib0b");
    assert_int_equal(trial_expand("X={nobody.*.knows}", &facts, &arena, out, 4), 0);
    assert_int_equal(trial_expand("X=1", &facts, &arena, out, 4), 1);
    assert_int_equal(trial_expand("X={broken", &facts, &arena, out, 4), 1);
    assert_string_equal(out[0], "X={broken");
    assert_string_equal(trial_place_holder("X={=a.*.b}", &arena), "a.*.b");
    assert_null(trial_place_holder("X=1", &arena));
    arena_free(&arena);
    fact_set_free(&facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proven_and_refuted),
        cmocka_unit_test(a_diagnosis_of_a_log),
        cmocka_unit_test(without_try_nothing_is_tried),
        cmocka_unit_test(each_usable_interface),
        cmocka_unit_test(a_cause_that_only_the_trial_brings_up),
        cmocka_unit_test(a_fault_that_goes_by_itself_proves_nothing),
        cmocka_unit_test(what_could_not_be_run_refutes_nothing),
        cmocka_unit_test(a_probe_without_trials_is_left_alone),
        cmocka_unit_test(bounded_in_time),
        cmocka_unit_test(set_already_is_no_change),
        cmocka_unit_test(a_wrong_setting_of_the_job_is_no_proof_of_a_cause),
        cmocka_unit_test(several_variables_at_once),
        cmocka_unit_test(place_holders),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}

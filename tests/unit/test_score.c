/* The scoring model, term by term, on a knowledge base of a few cards. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>

#include <dtkb/dtkb.h>

#include "diagnose/score.h"

#define CARD(id, symptom, generic, signatures)                                                            \
    "<cause id='" id "' symptom='" symptom "' fix='fix-network-setting' generic='" generic "'><title>" id \
    "</title><explanation>e</explanation>" signatures                                                     \
    "<remedies><remedy><text>Do.</text></remedy></remedies><links><link url='https://example.org/'>l</link></links></cause>"
#define SIGNATURE(id, strength, more, text)                                                                        \
    "<signature id='" id "' strength='" strength "' " more "><literal>" text "</literal><sample>" text "</sample>" \
    "<near-miss>something else</near-miss></signature>"

static const char pack[] = "<?xml version='1.0'?><pack id='score' version='1'>" CARD(
    "zz-root", "training-evaluation/memory-issue", "false",
    SIGNATURE("a", "strong", "", "zzroot broke down") SIGNATURE("b", "weak", "effect='against'", "zzroot is only rehearsing")
        SIGNATURE("c", "weak", "effect='support'", "zzroot was tired") SIGNATURE("d", "strong", "", "zzroot cracked"))
    CARD("zz-later", "training-evaluation/path-error", "false", SIGNATURE("a", "strong", "", "zzlater fell over"))
        CARD("zz-peer", "training-evaluation/communication-error", "false", SIGNATURE("a", "strong", "role='cascade'", "zzpeer went away"))
            CARD("zz-kind", "training-evaluation/hang", "true", SIGNATURE("a", "strong", "", "zzroot broke"))
                CARD("zz-any", "training-evaluation/hang", "true",
                     SIGNATURE("a", "weak", "", "zzpeer went") SIGNATURE("b", "strong", "", "zzpeer crashed"))
                    CARD("zz-sure", "training-evaluation/path-error", "false", SIGNATURE("a", "proof", "", "zzsure gave out")) "</pack>";

static dtkb *engine;
static json_t *report;

static int set_up(void **state)
{
    (void)state;
    char path[] = "/tmp/dtkb-score-XXXXXX.xml", why[DTKB_ERROR_TEXT_MAX];
    int fd = mkstemps(path, 4);
    const char *packs[] = {path};
    dtkb_open_options options = DTKB_OPEN_OPTIONS_INIT;
    options.kb = KB_FILE;
    options.packs = packs;
    options.pack_count = 1;
    options.no_default_packs = 1;
    if (fd < 0 || write(fd, pack, sizeof pack - 1) != (ssize_t)sizeof pack - 1 || close(fd) != 0)
        return -1;
    dtkb_status status = dtkb_open(&engine, &options, why, sizeof why);
    unlink(path);
    if (status != DTKB_OK)
        fprintf(stderr, "%s\n", why);
    return status == DTKB_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    json_decref(report);
    dtkb_close(engine);
    return 0;
}

static void diagnose_log(const char *log)
{
    dtkb_diagnose_options options = DTKB_DIAGNOSE_OPTIONS_INIT;
    dtkb_diagnosis *diagnosis;
    dtkb_doc *doc;
    options.explain_scores = 1;
    options.max_causes = 20;
    assert_int_equal(dtkb_diagnosis_new(engine, &options, &diagnosis), DTKB_OK);
    assert_int_equal(dtkb_feed(diagnosis, "log", log, strlen(log)), DTKB_OK);
    assert_int_equal(dtkb_conclude(diagnosis, &doc), DTKB_OK);
    json_decref(report);
    report = json_loads(dtkb_doc_json(doc), 0, NULL);
    assert_non_null(report);
    dtkb_doc_free(doc);
    dtkb_diagnosis_free(diagnosis);
}

static const json_t *cause(const char *id)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(report, "causes"), i,
                       entry) if (!strcmp(json_string_value(json_object_get(entry, "id")), id)) return entry;
    return NULL;
}

static double term(const char *id, const char *name)
{
    const json_t *entry = cause(id);
    assert_non_null(entry);
    return json_number_value(json_object_get(json_object_get(entry, "score"), name));
}

static double confidence(const char *id)
{
    return json_number_value(json_object_get(cause(id), "confidence"));
}

static const char *first(void)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(report, "causes"), 0), "id"));
}

static const char died[] = "torchrun train.py\n[rank0]: RuntimeError: zzroot broke down\n";

static void a_card_that_explains_comes_before_one_that_names(void **state)
{
    (void)state;
    diagnose_log(died);
    assert_string_equal(first(), "zz-root");
    assert_null(cause("zz-kind")); /* adds nothing beside it */
    assert_true(confidence("zz-root") > 0.7);
}

static void the_root_comes_before_what_follows(void **state)
{
    (void)state;
    diagnose_log("torchrun train.py\n[rank0]: RuntimeError: zzroot broke down\n[rank1]: RuntimeError: zzlater fell over\n"
                 "[rank2]: RuntimeError: zzpeer went away\n");
    assert_string_equal(first(), "zz-root");
    assert_true(term("zz-root", "order") > term("zz-later", "order"));
    assert_true(term("zz-peer", "cascade") < -1.0);
    diagnose_log("torchrun train.py\n[rank1]: RuntimeError: zzlater fell over\n[rank0]: RuntimeError: zzroot broke down\n");
    assert_string_equal(first(), "zz-later");
}

static void a_cascade_alone_is_still_an_answer(void **state)
{
    (void)state;
    diagnose_log("torchrun train.py\n[rank2]: zzpeer went away\nrank 2 exit code 1\n");
    assert_string_equal(first(), "zz-peer");
    assert_true(term("zz-peer", "cascade") > -1.0);
}

static void a_generic_card_takes_no_cascade_for_a_beginning(void **state)
{
    (void)state;
    diagnose_log("torchrun train.py\n[rank2]: ConnectionResetError: zzpeer went\n");
    assert_true(term("zz-any", "cascade") < 0);
    diagnose_log("torchrun train.py\n[rank2]: RuntimeError: zzpeer went\n");
    assert_true(term("zz-any", "cascade") == 0);
    diagnose_log("torchrun train.py\nsubprocess.CalledProcessError: zzpeer crashed\n"); /* which only the launcher can tell */
    assert_true(term("zz-any", "cascade") == 0);
}

static void words_say_nothing_against_a_proof(void **state)
{
    (void)state;
    diagnose_log(
        "torchrun train.py\n[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
        "79.15 GiB; zzsure gave out and zzlater fell over\n");
    assert_true(term("zz-later", "words") < -0.5); /* of the same symptom */
    assert_true(term("zz-sure", "words") == 0);
}

static void support_raises_and_against_lowers(void **state)
{
    (void)state;
    diagnose_log(died);
    double plain = confidence("zz-root");
    diagnose_log("torchrun train.py\nzzroot was tired\n[rank0]: RuntimeError: zzroot broke down\n");
    assert_true(confidence("zz-root") > plain);
    diagnose_log("torchrun train.py\nzzroot is only rehearsing\n[rank0]: RuntimeError: zzroot broke down\n");
    assert_true(confidence("zz-root") < plain);
    diagnose_log("torchrun train.py\nzzroot was tired\nrank 0 exit code 1\n");
    assert_null(cause("zz-root")); /* support alone makes no candidate */
}

static void what_the_job_survived_is_no_fault(void **state)
{
    (void)state;
    diagnose_log("torchrun train.py\n[rank0]: zzroot broke down\n[rank0]: step 100 loss 2.1\n[rank0]: step 200 loss 2.0\n");
    const json_t *entry = cause("zz-root");
    assert_true(!entry || term("zz-root", "went-on") < -2.0);
    diagnose_log("torchrun train.py\n[rank0]: zzroot broke down\nrank 0 exit code 0\nrank 1 exit code 0\n");
    assert_string_equal(json_string_value(json_object_get(report, "verdict")), "no-fault");
}

static const char *verdict(void)
{
    return json_string_value(json_object_get(report, "verdict"));
}

/* A complaint that nobody knows: no fault where steps came after it, else unknown, and the line is shown. */
static void an_error_line_matters_where_no_steps_follow(void **state)
{
    (void)state;
    diagnose_log("torchrun train.py\nERROR: the zzflux capacitor failed\nepoch 0 step 2 loss 65.1\n");
    assert_string_equal(verdict(), "no-fault");
    diagnose_log("torchrun train.py\nepoch 0 step 2 loss 65.1\nERROR: the zzflux capacitor failed\n");
    assert_string_equal(verdict(), "unknown");
    const json_t *shown = json_array_get(json_object_get(report, "evidence"), 0);
    assert_string_equal(json_string_value(json_object_get(shown, "text")), "the zzflux capacitor failed");
    /* Another rank's steps say nothing of this one. */
    diagnose_log("torchrun train.py\n[rank0]: ERROR: the zzflux capacitor failed\n[rank1]: epoch 0 step 2 loss 65.1\n");
    assert_string_equal(verdict(), "unknown");
    diagnose_log("torchrun train.py\nERROR: the zzflux capacitor failed\n{'loss': 1.04, 'epoch': 0.1}\n"); /* as the Trainer logs */
    assert_string_equal(verdict(), "no-fault");
    diagnose_log("torchrun train.py\n[16:20:03] [0]\ttrain-rmse:0.64094\n");
    assert_string_equal(verdict(), "no-fault");
}

static void text_that_only_talks_is_less_sure(void **state)
{
    (void)state;
    diagnose_log(died);
    double sure = confidence("zz-root");
    diagnose_log("torchrun train.py\nwe saw that zzroot broke down once\n");
    assert_true(term("zz-root", "alive") < 0);
    assert_true(confidence("zz-root") < sure);
}

static void another_texts_words_add_up_to_a_limit(void **state)
{
    (void)state;
    static const char words[] = "RuntimeError: zzroot broke down\nRuntimeError: zzroot cracked\n";
    char job[200];
    (void)snprintf(job, sizeof job, "torchrun train.py\n%s", words);
    diagnose_log(job);
    double most = log(SCORE_FOREIGN_MOST / (1.0 - SCORE_FOREIGN_MOST));
    assert_true(term("zz-root", "signatures") > most + 0.5);
    diagnose_log(words);
    assert_true(fabs(term("zz-root", "signatures") - most) < 0.01);
    assert_true(fabs(term("zz-root", "foreign") + SCORE_FOREIGN) < 0.01);
}

/* Outdoing a rival makes nothing surer where no job is. */
static void in_another_text_a_lead_means_nothing(void **state)
{
    (void)state;
    diagnose_log("RuntimeError: zzroot broke down\nRuntimeError: zzroot cracked\nRuntimeError: zzlater fell over\nmore\n");
    double x = CONFIDENCE_OFFSET + CONFIDENCE_SLOPE * term("zz-root", "sum");
    assert_true(term("zz-root", "sum") > term("zz-later", "sum") + 0.1);
    assert_true(fabs(confidence("zz-root") - 1.0 / (1.0 + exp(-x))) < 0.01);
}

/* Somebody asks about a line: it may be of anything, so the answer is no more than a possibility, but it is one. */
static void a_pasted_line_is_asked_about(void **state)
{
    (void)state;
    diagnose_log("helper: zzroot broke down\n");
    assert_true(term("zz-root", "alive") == 0);
    assert_true(confidence("zz-root") >= CONFIDENCE_SHOWN && confidence("zz-root") < CONFIDENCE_CONVINCING);
    assert_string_equal(json_string_value(json_object_get(report, "verdict")), "unknown");
    diagnose_log("helper: zzroot broke down\none\nmore\nline\n");
    assert_null(cause("zz-root"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_that_explains_comes_before_one_that_names),
        cmocka_unit_test(in_another_text_a_lead_means_nothing),
        cmocka_unit_test(a_pasted_line_is_asked_about),
        cmocka_unit_test(the_root_comes_before_what_follows),
        cmocka_unit_test(a_cascade_alone_is_still_an_answer),
        cmocka_unit_test(a_generic_card_takes_no_cascade_for_a_beginning),
        cmocka_unit_test(words_say_nothing_against_a_proof),
        cmocka_unit_test(support_raises_and_against_lowers),
        cmocka_unit_test(what_the_job_survived_is_no_fault),
        cmocka_unit_test(an_error_line_matters_where_no_steps_follow),
        cmocka_unit_test(text_that_only_talks_is_less_sure),
        cmocka_unit_test(another_texts_words_add_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

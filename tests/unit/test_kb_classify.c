/* The classifier: against the formula worked by hand, over layers, and on texts that say nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kb/classify.h"
#include "kb/kb.h"
#include "kb/learner.h"
#include "kb/store.h"
#include "kb/words.h"

static void words_are_counted_and_scaled(void **unused)
{
    (void)unused;
    struct words words;
    assert_int_equal(words_of("hang hang 12345 all_reduce", &words, NULL), DTKB_OK);
    double squares = 0, hang = 0, all_reduce = 0;
    for (size_t i = 0; i < words.count; i++) {
        squares += words.list[i].weight * words.list[i].weight;
        if (!strcmp(words.list[i].text, "hang"))
            hang = words.list[i].weight;
        if (!strcmp(words.list[i].text, "all_reduce"))
            all_reduce = words.list[i].weight;
        assert_string_not_equal(words.list[i].text, "12345");
    }
    assert_true(fabs(squares - 1.0) < 1e-9);
    assert_true(fabs(hang / all_reduce - (1.0 + log(2.0))) < 1e-9); /* twice as often is not twice the weight */
    words_free(&words);
    assert_int_equal(words_of("", &words, NULL), DTKB_OK);
    assert_int_equal(words.count, 0);
    words_free(&words);
}

/* torchrun wraps every failure in the same lines; a log that holds them is of no kind for that. */
static void what_launchers_print_around_a_failure_is_not_heard(void **unused)
{
    (void)unused;
    static const char bare[] = "RuntimeError: shapes differ\nexitcode  : -9 (pid: 12)\n";
    static const char wrapped[] =
        "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded\n"
        "Traceback (most recent call last):\n"
        "  File \"/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 1787, in _wrapped_call_impl\n"
        "    return self._call_impl(*args, **kwargs)\n"
        "[rank3]:     return forward_call(*args, **kwargs)\n"
        "[1,0]<stderr>:    main()\n"
        "RuntimeError: shapes differ\r\n"
        "Traceback (most recent call last):\n"
        "  File \"/opt/env/bin/torchrun\", line 8, in <module>\n"
        "    sys.exit(main())\n"
        "  File \"/opt/env/lib/python3.11/site-packages/torch/distributed/launcher/api.py\", line 197, in __call__\n"
        "    return launch_agent(\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "Root Cause (first observed failure):\n"
        "  host      : node-0\n"
        "  exitcode  : -9 (pid: 12)\n"
        "  error_file: <N/A>\n"
        "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html";
    struct words left, right;
    assert_int_equal(words_of(bare, &left, NULL), DTKB_OK);
    assert_int_equal(words_of(wrapped, &right, NULL), DTKB_OK);
    assert_int_equal(left.count, right.count);
    for (size_t i = 0; i < left.count; i++) {
        assert_string_equal(left.list[i].text, right.list[i].text);
        assert_true(fabs(left.list[i].weight - right.list[i].weight) < 1e-9);
    }
    words_free(&left);
    words_free(&right);
}

/* Two labels, three words. */
static const char pack_text[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pack id=\"two\" version=\"1\">\n"
    "<issue id=\"a\" url=\"https://example.org/a\" source=\"other\" framework=\"pytorch\" kind=\"report\" evidence=\"full\""
    " symptom=\"training-evaluation/hang\"><fix-pattern id=\"fix-behavior-logic\"/><log>zebra zebra quagga</log></issue>\n"
    "<issue id=\"b\" url=\"https://example.org/b\" source=\"other\" framework=\"pytorch\" kind=\"report\" evidence=\"full\""
    " symptom=\"training-evaluation/path-error\"><fix-pattern id=\"fix-dataset\"/><log>quagga okapi</log></issue>\n"
    "</pack>\n";

static char directory[] = "/tmp/dtkb-classify-test.XXXXXX";

static const char *write_pack(const char *name, const char *text)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
    return path;
}

/* The score of a label by the formula of classify.h; `others`: what the texts of all other labels hold of the words. */
static double by_hand(const double others[], const double x[], double label_weight, double total, double vocabulary)
{
    double score = 0;
    for (int i = 0; i < 3; i++)
        score -= x[i] * log((others[i] + CLASSIFY_SMOOTHING) / (total - label_weight + CLASSIFY_SMOOTHING * vocabulary));
    return score;
}

static struct kb *open_kb(const char *file, const char *pack)
{
    struct kb *kb = NULL;
    struct err err = {0};
    if (kb_open(file, &pack, pack != NULL, &kb, &err) != DTKB_OK)
        fail_msg("%s", err.text);
    return kb;
}

/* A database with nothing but what the learner writes. */
static const char *learned_file(void)
{
    static char path[256];
    static const struct lesson lessons[] = {{.text = "zebra zebra quagga", .symptom = "training-evaluation/hang"},
                                            {.text = "quagga okapi", .symptom = "training-evaluation/path-error"}};
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/learned.db", directory);
    struct store *store;
    (void)unlink(path);
    assert_int_equal(store_create_file(path, &db, NULL), DTKB_OK);
    assert_int_equal(store_begin(db, NULL, NULL, &store, NULL), DTKB_OK);
    struct learner *learner = learner_new(db);
    assert_non_null(learner);
    for (size_t i = 0; i < sizeof lessons / sizeof *lessons; i++)
        assert_int_equal(learner_add(learner, &lessons[i], NULL), DTKB_OK);
    assert_int_equal(learner_write(learner, NULL), DTKB_OK);
    learner_free(learner);
    assert_int_equal(store_finish(store, NULL), DTKB_OK);
    store_free(store);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return path;
}

static void shares_follow_the_formula(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(learned_file(), NULL);
    struct guesses guesses;
    assert_int_equal(kb_classify(kb, "zebra okapi", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_int_equal(guesses.count, 2);
    /* okapi, quagga, zebra in the texts of the two labels, to three places as they are kept */
    double two = 1.0 + log(2.0), length = sqrt(two * two + 1.0);
    double hang[] = {0, round(1000 / length) / 1000, round(1000 * two / length) / 1000}, path[] = {0.707, 0.707, 0},
           x[] = {M_SQRT1_2, 0, M_SQRT1_2};
    double hang_weight = hang[1] + hang[2], path_weight = 1.414, total = hang_weight + path_weight;
    double h = by_hand(path, x, hang_weight, total, 3), p = by_hand(hang, x, path_weight, total, 3);
    double expected = 1.0 / (1.0 + exp(CLASSIFY_SHARPNESS * (p - h)));
    assert_true(fabs(guesses_share(&guesses, "training-evaluation/hang") - expected) < 1e-3);
    assert_true(fabs(guesses.list[0].share + guesses.list[1].share - 1.0) < 1e-9);
    assert_true(guesses.list[0].share >= guesses.list[1].share);
    kb_close(kb);
}

static void too_many_labels_are_refused(void **unused)
{
    (void)unused;
    struct learner *learner = learner_new(NULL);
    struct err err = {0};
    assert_non_null(learner);
    for (int i = 0; i <= KB_GUESSES_MAX; i++) {
        char symptom[32];
        (void)snprintf(symptom, sizeof symptom, "stage/symptom-%d", i);
        struct lesson lesson = {.text = "zebra", .symptom = symptom};
        assert_int_equal(learner_add(learner, &lesson, &err), i < KB_GUESSES_MAX ? DTKB_OK : DTKB_E_FORMAT);
    }
    assert_non_null(strstr(err.text, "stage/symptom-128"));
    learner_free(learner);
}

static void a_text_without_a_known_word_has_no_guess(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(learned_file(), NULL);
    struct guesses guesses;
    assert_int_equal(kb_classify(kb, "wildebeest", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_int_equal(guesses.count, 0);
    assert_int_equal(kb_classify(kb, "", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_int_equal(guesses.count, 0);
    assert_int_equal(kb_classify(kb, "zebra", TASK_FIX, &guesses, NULL), DTKB_OK); /* learned for symptoms only */
    assert_int_equal(guesses.count, 0);
    kb_close(kb);
}

static void damaged_counts_are_told(void **unused)
{
    (void)unused;
    static const char *const damage[] = {"UPDATE learned SET weight = -5", "UPDATE learned SET n = n + 1000",
                                         "UPDATE word SET labels = x'80'", "UPDATE word SET labels = x'ff7f02ff7f01'"};
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        const char *file = learned_file();
        sqlite3 *db;
        struct guesses guesses;
        struct err err = {0};
        assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, damage[i], NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        struct kb *kb = open_kb(file, NULL);
        assert_int_equal(kb_classify(kb, "zebra okapi", TASK_SYMPTOM, &guesses, &err), DTKB_E_KB);
        assert_non_null(strstr(err.text, "damaged"));
        kb_close(kb);
    }
}

static void a_pack_teaches_too(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(KB_FILE, write_pack("two.xml", pack_text));
    struct guesses guesses;
    assert_int_equal(kb_classify(kb, "zebra okapi zebra", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_string_equal(guesses.list[0].label, "training-evaluation/hang");
    assert_int_equal(kb_classify(kb, "okapi", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_string_equal(guesses.list[0].label, "training-evaluation/path-error");
    assert_int_equal(kb_classify(kb, "okapi", TASK_FIX, &guesses, NULL), DTKB_OK);
    assert_string_equal(guesses.list[0].label, "fix-dataset");
    kb_close(kb);
}

/* A report that could be filed under two symptoms, and that two fixes would have cured, teaches all four. */
static void every_right_answer_is_learned(void **unused)
{
    (void)unused;
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pack id=\"both\" version=\"1\">\n"
        "<issue id=\"c\" url=\"https://example.org/c\" source=\"other\" framework=\"pytorch\" kind=\"report\" evidence=\"full\""
        " symptom=\"training-evaluation/hang\"><also symptom=\"training-evaluation/path-error\"/><fix-pattern id=\"fix-dataset\"/>"
        "<fix-pattern id=\"fix-learning-rate\"/><log>zebra okapi</log></issue>\n</pack>\n";
    struct kb *kb = open_kb(KB_FILE, write_pack("both.xml", text));
    struct guesses symptoms, fixes;
    assert_int_equal(kb_classify(kb, "okapi", TASK_SYMPTOM, &symptoms, NULL), DTKB_OK);
    assert_int_equal(kb_classify(kb, "okapi", TASK_FIX, &fixes, NULL), DTKB_OK);
    double other_symptom = guesses_share(&symptoms, "training-evaluation/low-efficiency"),
           other_fix = guesses_share(&fixes, "fix-optimizer");
    assert_true(guesses_share(&symptoms, "training-evaluation/hang") > 2.0 * other_symptom);
    assert_true(guesses_share(&symptoms, "training-evaluation/path-error") > 2.0 * other_symptom);
    assert_true(guesses_share(&fixes, "fix-dataset") > 2.0 * other_fix);
    assert_true(guesses_share(&fixes, "fix-learning-rate") > 2.0 * other_fix);
    kb_close(kb);
}

/* What speaks for a card is a word of its kind; what speaks against it is none. */
static void a_card_teaches_what_speaks_for_it(void **unused)
{
    (void)unused;
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pack id=\"card\" version=\"1\">\n"
        "<cause id=\"zz-card\" symptom=\"training-evaluation/hang\" fix=\"fix-dataset\"><title>t</title><explanation>e</explanation>"
        "<signature id=\"for\" strength=\"strong\"><literal>zzquokka stands</literal><sample>zzquokka stands</sample>"
        "<near-miss>other</near-miss></signature>"
        "<signature id=\"not\" strength=\"weak\" effect=\"against\"><literal>zzwombat runs</literal><sample>zzwombat runs</sample>"
        "<near-miss>other</near-miss></signature>"
        "<remedies><remedy><text>Do.</text></remedy></remedies><links><link "
        "url=\"https://example.org/\">l</link></links></cause>\n</pack>\n";
    struct kb *kb = open_kb(KB_FILE, write_pack("card.xml", text));
    struct guesses guesses;
    assert_int_equal(kb_classify(kb, "zzquokka", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_true(guesses.count > 0);
    assert_int_equal(kb_classify(kb, "zzwombat", TASK_SYMPTOM, &guesses, NULL), DTKB_OK);
    assert_int_equal(guesses.count, 0);
    kb_close(kb);
}

static void the_bundled_base_knows_the_usual_words(void **unused)
{
    (void)unused;
    struct kb *kb = open_kb(KB_FILE, NULL);
    struct guesses guesses;
    assert_int_equal(kb_classify(kb, "the process ran out of memory and was killed by the oom killer", TASK_SYMPTOM, &guesses, NULL),
                     DTKB_OK);
    assert_string_equal(guesses.list[0].label, "training-evaluation/out-of-memory");
    double sum = 0;
    for (size_t i = 0; i < guesses.count; i++)
        sum += guesses.list[i].share;
    assert_true(fabs(sum - 1.0) < 1e-9);
    kb_close(kb);
}

static int make_directory(void **unused)
{
    (void)unused;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **unused)
{
    char command[300];
    (void)unused;
    (void)snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted_and_scaled),
        cmocka_unit_test(what_launchers_print_around_a_failure_is_not_heard),
        cmocka_unit_test(shares_follow_the_formula),
        cmocka_unit_test(too_many_labels_are_refused),
        cmocka_unit_test(a_text_without_a_known_word_has_no_guess),
        cmocka_unit_test(damaged_counts_are_told),
        cmocka_unit_test(a_pack_teaches_too),
        cmocka_unit_test(every_right_answer_is_learned),
        cmocka_unit_test(a_card_teaches_what_speaks_for_it),
        cmocka_unit_test(the_bundled_base_knows_the_usual_words),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

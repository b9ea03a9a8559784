/* How the cards' judgement and the words' become the labels of a report. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diagnose/labels.h"

#define HANG "training-evaluation/hang"
#define SLOW "training-evaluation/low-efficiency"
#define PATH "training-evaluation/path-error"

/* One card that accuses, as sure as told. */
static struct candidates one_card(struct candidate *candidate, const struct cause *cause, double confidence)
{
    *candidate = (struct candidate){.cause = cause, .confidence = confidence};
    return (struct candidates){.list = candidate, .count = 1};
}

static double confidence_of(const struct labels *labels, const char *id)
{
    for (size_t i = 0; i < labels->count; i++)
        if (!strcmp(labels->list[i].id, id))
            return labels->list[i].confidence;
    return 0;
}

static bool near(double left, double right)
{
    return fabs(left - right) < 1e-9;
}

static const struct cause path_card = {.id = "card", .symptom = PATH, .fix = "fix-data-path"};

static void a_card_that_the_words_bear_out_keeps_its_confidence(void **unused)
{
    (void)unused;
    struct candidate candidate;
    struct candidates candidates = one_card(&candidate, &path_card, 0.9);
    struct opinion opinion = {.symptoms = {.list = {{PATH, 0.5}, {HANG, 0.4}, {SLOW, 0.1}}, .count = 3}};
    struct labels labels = {0};
    labels_symptoms(&candidates, &opinion, &labels);
    assert_string_equal(labels.list[0].id, PATH);
    assert_true(near(labels.list[0].confidence, 0.9));
    /* No card speaks for the others: the words share out what is left. */
    assert_true(near(confidence_of(&labels, HANG), 0.1 * 0.8));
    assert_true(near(confidence_of(&labels, SLOW), 0.1 * 0.2));
}

static void a_card_that_the_words_contradict_loses_confidence_and_place(void **unused)
{
    (void)unused;
    struct candidate candidate;
    struct candidates candidates = one_card(&candidate, &path_card, 0.9);
    struct opinion opinion = {.symptoms = {.list = {{HANG, 0.9}, {PATH, 0.1}}, .count = 2}};
    struct labels labels = {0};
    labels_symptoms(&candidates, &opinion, &labels);
    assert_true(near(confidence_of(&labels, PATH), 0.9 * sqrt(0.1 / 0.9)));
    assert_string_equal(labels.list[0].id, HANG);
    assert_true(near(labels.list[0].confidence + labels.list[1].confidence, 1.0));
}

static void without_known_words_the_cards_speak_alone(void **unused)
{
    (void)unused;
    const char *also[] = {HANG};
    struct cause cause = path_card;
    cause.also_symptoms = also;
    cause.also_symptom_count = 1;
    struct candidate candidate;
    struct candidates candidates = one_card(&candidate, &cause, 0.8);
    struct opinion opinion = {0};
    struct labels labels = {0};
    labels_symptoms(&candidates, &opinion, &labels);
    assert_true(near(confidence_of(&labels, PATH), 0.8));
    assert_true(near(confidence_of(&labels, HANG), 0.8 * 0.3));
}

static void a_faint_card_is_one_voice_among_the_words(void **unused)
{
    (void)unused;
    struct candidate candidate;
    struct candidates candidates = one_card(&candidate, &path_card, 0.2);
    struct opinion opinion = {.symptoms = {.list = {{HANG, 0.5}, {PATH, 0.5}}, .count = 2}};
    struct labels labels = {0};
    labels_symptoms(&candidates, &opinion, &labels);
    assert_string_equal(labels.list[0].id, PATH);
    assert_true(confidence_of(&labels, PATH) < 0.7);
    opinion.symptoms.list[0].share = 0.9;
    opinion.symptoms.list[1].share = 0.1;
    memset(&labels, 0, sizeof labels);
    labels_symptoms(&candidates, &opinion, &labels);
    assert_string_equal(labels.list[0].id, HANG);
}

static void a_card_is_less_sure_of_the_cure_than_of_the_trouble(void **unused)
{
    (void)unused;
    struct candidate candidate;
    struct candidates candidates = one_card(&candidate, &path_card, 0.9);
    struct opinion opinion = {.symptoms = {.list = {{PATH, 1.0}}, .count = 1}, .fixes = {.list = {{"fix-data-path", 1.0}}, .count = 1}};
    struct labels symptoms = {0}, fixes = {0};
    labels_symptoms(&candidates, &opinion, &symptoms);
    labels_fixes(&candidates, &opinion, &fixes);
    assert_true(near(symptoms.list[0].confidence, 0.9));
    assert_true(fixes.list[0].confidence < 0.7);
}

/* The same card, the same words: they weigh more on how it is cured than on what it is. */
static void words_are_heard_more_on_the_cure(void **unused)
{
    (void)unused;
    struct candidate candidate;
    struct candidates candidates = one_card(&candidate, &path_card, 0.9);
    struct opinion opinion = {.symptoms = {.list = {{HANG, 0.4}, {PATH, 0.3}, {SLOW, 0.3}}, .count = 3},
                              .fixes = {.list = {{"fix-dataset", 0.4}, {"fix-data-path", 0.3}, {"fix-optimizer", 0.3}}, .count = 3}};
    struct labels symptoms = {0}, fixes = {0};
    labels_symptoms(&candidates, &opinion, &symptoms);
    labels_fixes(&candidates, &opinion, &fixes);
    assert_string_equal(symptoms.list[0].id, PATH);
    assert_string_equal(fixes.list[0].id, "fix-dataset");
}

/* Equal words: what shows no error is meant rather than what would have shown one; a job that makes steps has met. */
static void a_log_without_complaint_is_of_a_silent_kind(void **unused)
{
    (void)unused;
    struct opinion opinion = {.symptoms = {.list = {{PATH, 0.34}, {HANG, 0.33}, {"communication-setup/hang-timeout", 0.33}}, .count = 3}};
    struct labels labels = {0};
    labels_silent_symptoms(&opinion, false, &labels);
    assert_string_equal(labels.list[2].id, PATH);
    assert_true(near(confidence_of(&labels, HANG), confidence_of(&labels, "communication-setup/hang-timeout")));
    memset(&labels, 0, sizeof labels);
    labels_silent_symptoms(&opinion, true, &labels);
    assert_string_equal(labels.list[0].id, HANG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_that_the_words_bear_out_keeps_its_confidence),
        cmocka_unit_test(a_card_that_the_words_contradict_loses_confidence_and_place),
        cmocka_unit_test(without_known_words_the_cards_speak_alone),
        cmocka_unit_test(a_faint_card_is_one_voice_among_the_words),
        cmocka_unit_test(a_card_is_less_sure_of_the_cure_than_of_the_trouble),
        cmocka_unit_test(words_are_heard_more_on_the_cure),
        cmocka_unit_test(a_log_without_complaint_is_of_a_silent_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

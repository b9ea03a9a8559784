/* Searching the built knowledge base (KB_FILE), and the ranking against FTS5's own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kb/layer.h"
#include "kb/search.h"

static struct kb *kb;

static struct kb_hits search(const struct kb_query *query)
{
    struct kb_hits hits = {0};
    struct err err = {0};
    if (kb_search(kb, query, &hits, &err) != DTKB_OK)
        fail_msg("%s: %s", query->text, err.text);
    return hits;
}

static size_t place_of(const char *text, const char *issue)
{
    struct kb_hits hits = search(&(struct kb_query){.text = text});
    size_t place = 0;
    for (size_t i = 0; i < hits.count && !place; i++)
        if (strcmp(hits.hits[i].issue, issue) == 0)
            place = i + 1;
    kb_hits_free(&hits);
    return place;
}

static size_t count_of(const struct kb_query *query)
{
    struct kb_hits hits = search(query);
    size_t count = hits.count;
    kb_hits_free(&hits);
    return count;
}

static void known_issues_come_first(void **unused)
{
    (void)unused;
    assert_in_range(place_of("libcudart cannot open shared object", "horovod-1370"), 1, 3);
    assert_in_range(place_of("NotFoundError: libcudart.so.10.0: cannot open shared object file: No such file or directory", "horovod-1370"),
                    1, 1);
    assert_in_range(place_of("LIBCUDART.SO.10.0", "horovod-1370"), 1, 1);
    assert_in_range(place_of("\"stall warning\" 99 nodes", "horovod-100"), 1, 1);
}

static void what_changes_from_run_to_run_does_not_matter(void **unused)
{
    (void)unused;
    struct kb_hits plain = search(&(struct kb_query){.text = "libcudart cannot open shared object"});
    struct kb_hits noisy =
        search(&(struct kb_query){.text = "12:04:31.220117 10.0.0.3:29500 libcudart cannot open 0x7f0012ab34cd shared object 4711471147"});
    assert_int_equal(plain.count, noisy.count);
    for (size_t i = 0; i < plain.count; i++)
        assert_string_equal(plain.hits[i].issue, noisy.hits[i].issue);
    /* The parts of a time stamp go with it: a 12 alone is no volatile number. */
    assert_true(plain.count > 0 && fabs(plain.hits[0].score - noisy.hits[0].score) < 1e-9);
    kb_hits_free(&plain);
    kb_hits_free(&noisy);
}

/* A score says nothing of how alike two texts are: long ones have more words to find. The likeness does. */
static void likeness_tells_kin_from_chance(void **unused)
{
    (void)unused;
    const struct kb_query queries[] = {
        {.text = "NotFoundError: libcudart.so.10.0: cannot open shared object file: No such file or directory", .any_word = true},
        {.text = "NotFoundError: libcudart.so.10.0: cannot open shared object file: zebra giraffe okapi quagga tapir", .any_word = true},
        {.text = "marmalade parsnip rhubarb turnip bad sample in shard", .any_word = true},
    };
    double likeness[3];
    for (size_t i = 0; i < 3; i++) {
        struct kb_hits hits = search(&queries[i]);
        assert_true(hits.count > 0);
        likeness[i] = hits.hits[0].likeness;
        for (size_t k = 0; k < hits.count; k++)
            assert_true(hits.hits[k].likeness >= 0 && hits.hits[k].likeness <= 1);
        kb_hits_free(&hits);
    }
    assert_true(likeness[0] > 0.7 && likeness[0] > likeness[1] && likeness[1] > likeness[2] && likeness[2] < 0.3);
}

static void no_text_is_a_syntax_error(void **unused)
{
    (void)unused;
    static const char *const texts[] = {"NCCL connection refused \"unlike",
                                        "\"",
                                        "\"\"",
                                        "\"\"\"",
                                        "a AND OR NOT",
                                        "NEAR(a b, 3)",
                                        "title:",
                                        "title:\"",
                                        "-",
                                        "--",
                                        "-\"",
                                        "error:-x",
                                        "(a OR",
                                        "a* ^b",
                                        "col : x",
                                        "{title} : x",
                                        "a\x01\x02\xff",
                                        "fix:\"x",
                                        "-title:\"no space\" nccl",
                                        "';DROP TABLE issue;--",
                                        "*",
                                        "^",
                                        ":",
                                        "+",
                                        "nccl\n\tsocket\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (int any = 0; any < 2; any++) {
            struct kb_query query = {.text = texts[i], .any_word = any};
            (void)count_of(&query);
        }
}

static void phrases_fields_and_exclusions_narrow(void **unused)
{
    (void)unused;
    size_t words = count_of(&(struct kb_query){.text = "shared object", .limit = 200});
    size_t phrase = count_of(&(struct kb_query){.text = "\"shared object\"", .limit = 200});
    size_t backwards = count_of(&(struct kb_query){.text = "error:\"object shared\" object", .limit = 200});
    size_t without = count_of(&(struct kb_query){.text = "shared object -libcudart", .limit = 200});
    assert_true(phrase > 0 && phrase <= words);
    assert_true(without > 0 && without < words);
    assert_true(backwards > 0); /* nothing has it, so any of the words will do */
    size_t anywhere = count_of(&(struct kb_query){.text = "slurm", .limit = 200});
    size_t title = count_of(&(struct kb_query){.text = "title:slurm", .limit = 200});
    assert_true(title > 0 && title < anywhere);
}

static void filters_hold_for_every_hit(void **unused)
{
    (void)unused;
    struct kb_query query = {.text = "gpu memory", .framework = "horovod", .stage = "training-evaluation", .kind = "fault", .limit = 50};
    struct kb_hits hits = search(&query);
    assert_true(hits.count > 0);
    for (size_t i = 0; i < hits.count; i++) {
        struct arena arena = {0};
        struct issue issue;
        assert_int_equal(kb_issue_by_id(kb, hits.hits[i].issue, &arena, &issue, NULL), DTKB_OK);
        assert_string_equal(issue.framework, "horovod");
        assert_string_equal(issue.kind, "fault");
        assert_int_equal(strncmp(issue.symptom, "training-evaluation/", 20), 0);
        arena_free(&arena);
    }
    kb_hits_free(&hits);
    assert_int_equal(count_of(&(struct kb_query){.symptom = "training-evaluation/hang", .kind = "fault", .limit = 100}), 44);
    assert_int_equal(count_of(&(struct kb_query){.symptom = "out-of-memory", .kind = "fault", .limit = 100}), 21); /* the stage is plain */
}

static void a_filter_that_matches_nothing_is_an_error(void **unused)
{
    (void)unused;
    struct kb_hits hits;
    struct err err = {0};
    assert_int_equal(kb_search(kb, &(struct kb_query){.text = "x", .framework = "horovd"}, &hits, &err), DTKB_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "horovod"));
    assert_int_equal(kb_search(kb, &(struct kb_query){.text = "x", .symptom = "training-evaluation/hangs"}, &hits, &err), DTKB_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "training-evaluation/hang'"));
    assert_int_equal(kb_search(kb, &(struct kb_query){.text = "x", .kind = "how-to", .symptom = "training-evaluation/hang"}, &hits, &err),
                     DTKB_E_NOT_FOUND);
    assert_int_equal(kb_search(kb, &(struct kb_query){.text = "  "}, &hits, &err), DTKB_E_USAGE);
}

/* The same words, ranked by FTS5 itself; words of every second issue, worth 1e-6 there, are left out here. */
#define SLACK 1e-4

static void the_ranking_is_that_of_fts5(void **unused)
{
    (void)unused;
    static const char *const queries[] = {"tensorflow slow gradient gpu memory nodes hangs broadcast version timeout network socket",
                                          "install pip wheel gcc compile header", "checkpoint save weights keras",
                                          "mpi ssh port host refused interface docker"};
    struct layer layer;
    assert_int_equal(layer_open_file(KB_FILE, &layer, NULL), DTKB_OK);
    assert_int_equal(layer_need_index(&layer, NULL), DTKB_OK);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct kb_hits hits = search(&(struct kb_query){.text = queries[i], .any_word = true});
        char match[512] = "";
        for (const char *p = queries[i]; *p; p++)
            (void)snprintf(match + strlen(match), sizeof match - strlen(match), *p == ' ' ? " OR " : "%c", *p);
        sqlite3_stmt *statement;
        assert_int_equal(sqlite3_prepare_v2(layer.db,
                                            "SELECT i.id, s.rank FROM (SELECT rowid AS n, rank FROM search WHERE search MATCH ?1 ORDER BY"
                                            " rank LIMIT 10) s CROSS JOIN issue i ON i.n = s.n",
                                            -1, &statement, NULL),
                         SQLITE_OK);
        sqlite3_bind_text(statement, 1, match, -1, SQLITE_STATIC);
        for (size_t j = 0; j < 10; j++) {
            assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
            assert_true(hits.hits[j].score > -sqlite3_column_double(statement, 1) - SLACK);
            assert_true(hits.hits[j].score < -sqlite3_column_double(statement, 1) + SLACK);
        }
        sqlite3_finalize(statement);
        kb_hits_free(&hits);
    }
    layer_close(&layer);
}

static void a_long_log_can_be_asked_about(void **unused)
{
    (void)unused;
    size_t size = 200000, length = 0;
    char *text = malloc(size);
    for (unsigned i = 0; length + 64 < size; i++)
        length += (size_t)snprintf(text + length, size - length, "word%u NCCL WARN connect failed %x\n", i % 500, i);
    struct kb_query query = {.text = text, .any_word = true};
    assert_true(count_of(&query) > 0);
    free(text);
}

static void snippets_are_one_line(void **unused)
{
    (void)unused;
    struct kb_hits hits = search(&(struct kb_query){.text = "connection refused", .any_word = true, .limit = 50});
    for (size_t i = 0; i < hits.count; i++) {
        assert_non_null(hits.hits[i].snippet);
        assert_null(strpbrk(hits.hits[i].snippet, "\r\n\t"));
        assert_true(strlen(hits.hits[i].snippet) < 200);
        assert_true(!i || hits.hits[i].score <= hits.hits[i - 1].score);
    }
    kb_hits_free(&hits);
}

static int open_kb(void **unused)
{
    (void)unused;
    return kb_open(KB_FILE, NULL, 0, &kb, NULL) == DTKB_OK ? 0 : -1;
}

static int close_kb(void **unused)
{
    (void)unused;
    kb_close(kb);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_issues_come_first),
        cmocka_unit_test(what_changes_from_run_to_run_does_not_matter),
        cmocka_unit_test(likeness_tells_kin_from_chance),
        cmocka_unit_test(no_text_is_a_syntax_error),
        cmocka_unit_test(phrases_fields_and_exclusions_narrow),
        cmocka_unit_test(filters_hold_for_every_hit),
        cmocka_unit_test(a_filter_that_matches_nothing_is_an_error),
        cmocka_unit_test(the_ranking_is_that_of_fts5),
        cmocka_unit_test(a_long_log_can_be_asked_about),
        cmocka_unit_test(snippets_are_one_line),
    };
    return cmocka_run_group_tests(tests, open_kb, close_kb);
}

/* search_bench [ISSUES [QUERIES]]: how much faster the ranking of kb_search() is than a plain FTS5 ORDER BY rank, and whether it finds the
 * same. Makes a knowledge base of synthetic issues (words spread as in real text, by Zipf's law), asks a dozen words both ways, and prints
 * the two medians, their ratio, and how many of the first ten agree. Exit status 1 when the bar is missed: 20 times, 9 of 10. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kb/layer.h"
#include "kb/search.h"
#include "kb/store.h"

#define VOCABULARY 60000
#define WORDS 12
#define RATIO_BAR 20.0
#define AGREE_BAR 0.9

static uint64_t state = 88172645463325252u;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* The n-th commonest word is drawn about 1/n as often as the commonest. */
static unsigned zipf(void)
{
    return (unsigned)(exp(uniform() * log(VOCABULARY)) - 1);
}

/* Words of letters only: they have no parts, so both ways see the same words. */
static void add_word(char *text, size_t *length, unsigned word)
{
    if (*length)
        text[(*length)++] = ' ';
    text[(*length)++] = 'w';
    for (unsigned rest = word + 26; rest; rest /= 26)
        text[(*length)++] = (char)('a' + rest % 26);
    text[*length] = '\0';
}

static void sentence(char *text, unsigned words)
{
    size_t length = 0;
    for (unsigned i = 0; i < words; i++)
        add_word(text, &length, zipf());
}

static const char *no_title(void *context, const char *id)
{
    (void)context;
    (void)id;
    return NULL;
}

static dtkb_status make(const char *file, unsigned issues, struct err *err)
{
    sqlite3 *db = NULL;
    struct store *store = NULL;
    dtkb_status status = store_create_file(file, &db, err);
    if (status == DTKB_OK)
        status = store_begin(db, no_title, NULL, &store, err);
    for (unsigned i = 0; i < issues && status == DTKB_OK; i++) {
        char id[32], title[256], summary[1024], error[512], cause[512], fix[512];
        snprintf(id, sizeof id, "synthetic-%u", i);
        sentence(title, 8);
        sentence(summary, 20 + (unsigned)(uniform() * 40));
        sentence(error, 10 + (unsigned)(uniform() * 10));
        sentence(cause, 10);
        sentence(fix, 10);
        const char *lines[] = {error};
        struct issue issue = {.id = id,
                              .url = "https://example.org/",
                              .source = "other",
                              .framework = "synthetic",
                              .kind = "fault",
                              .evidence = "imported",
                              .title = title,
                              .summary = summary,
                              .cause = cause,
                              .fix = fix,
                              .error_lines = lines,
                              .error_line_count = 1,
                              .distributed = -1};
        status = store_add_issue(store, &issue, err);
    }
    if (status == DTKB_OK)
        status = store_finish(store, err);
    store_free(store);
    sqlite3_close(db);
    return status;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double ask_plain(sqlite3 *db, char words[WORDS][16], char ids[10][32])
{
    static const char sql[] = "SELECT i.id FROM (SELECT rowid AS n FROM search WHERE search MATCH ?1 ORDER BY rank LIMIT 10) s"
                              " CROSS JOIN issue i ON i.n = s.n";
    char match[WORDS * 24] = "";
    for (int i = 0; i < WORDS; i++)
        snprintf(match + strlen(match), sizeof match - strlen(match), "%s%s", i ? " OR " : "", words[i]);
    sqlite3_stmt *statement = NULL;
    double start = now();
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    sqlite3_bind_text(statement, 1, match, -1, SQLITE_STATIC);
    for (int i = 0; i < 10 && sqlite3_step(statement) == SQLITE_ROW; i++)
        snprintf(ids[i], sizeof ids[i], "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return now() - start;
}

static double ask_ours(struct kb *kb, char words[WORDS][16], char ids[10][32])
{
    char text[WORDS * 24] = "";
    for (int i = 0; i < WORDS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", words[i]);
    struct kb_query query = {.text = text, .any_word = true};
    struct kb_hits hits = {0};
    struct err err = {0};
    double start = now();
    if (kb_search(kb, &query, &hits, &err) != DTKB_OK)
        fprintf(stderr, "%s\n", err.text);
    double took = now() - start;
    for (size_t i = 0; i < hits.count && i < 10; i++)
        snprintf(ids[i], sizeof ids[i], "%s", hits.hits[i].issue);
    kb_hits_free(&hits);
    return took;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct question {
    char words[WORDS][16], ours[10][32], theirs[10][32];
};

/* A dozen different words, as common as they come. */
static void ask_for(char words[WORDS][16])
{
    for (int i = 0; i < WORDS; i++) {
        size_t length = 0;
        add_word(words[i], &length, zipf());
        for (int j = 0; j < i; j++)
            if (strcmp(words[j], words[i]) == 0) {
                i--;
                break;
            }
    }
}

static bool compare(const char *file, unsigned queries, struct err *err)
{
    struct kb *kb = NULL;
    struct layer plain = {0};
    if (kb_open(file, NULL, 0, &kb, err) != DTKB_OK || layer_open_file(file, &plain, err) != DTKB_OK ||
        layer_need_index(&plain, err) != DTKB_OK)
        return false;
    double *ours = calloc(queries, sizeof *ours), *theirs = calloc(queries, sizeof *theirs);
    struct question *questions = calloc(queries, sizeof *questions);
    unsigned same = 0, found = 0;
    for (unsigned i = 0; i < queries; i++)
        ask_for(questions[i].words);
    (void)ask_ours(kb, questions[0].words, questions[0].ours); /* opens the index */
    /* One way after the other: the garbage that one leaves in the heap must not slow the other. */
    for (unsigned i = 0; i < queries; i++)
        ours[i] = ask_ours(kb, questions[i].words, questions[i].ours);
    for (unsigned i = 0; i < queries; i++)
        theirs[i] = ask_plain(plain.db, questions[i].words, questions[i].theirs);
    for (unsigned i = 0; i < queries; i++)
        for (int j = 0; j < 10; j++) {
            found += questions[i].theirs[j][0] != '\0';
            for (int k = 0; k < 10; k++)
                same += questions[i].theirs[j][0] && strcmp(questions[i].theirs[j], questions[i].ours[k]) == 0;
        }
    free(questions);
    qsort(ours, queries, sizeof *ours, by_value);
    qsort(theirs, queries, sizeof *theirs, by_value);
    double ratio = theirs[queries / 2] / ours[queries / 2], agree = found ? (double)same / found : 0;
    printf("plain FTS5 %.2f ms, kb_search %.2f ms (worst %.2f): %.0f times faster; %.1f of 10 results the same\n", theirs[queries / 2],
           ours[queries / 2], ours[queries - 1], ratio, agree * 10);
    free(ours);
    free(theirs);
    layer_close(&plain);
    kb_close(kb);
    return ratio >= RATIO_BAR && agree >= AGREE_BAR;
}

int main(int argc, char **argv)
{
    unsigned issues = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000000;
    unsigned queries = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 15;
    char file[] = "/tmp/search_bench.XXXXXX";
    int fd = mkstemp(file);
    struct err err = {0};
    if (fd < 0 || !issues || !queries)
        return 2;
    close(fd);
    bool met = make(file, issues, &err) == DTKB_OK && compare(file, queries, &err);
    if (err.code != DTKB_OK)
        fprintf(stderr, "search_bench: %s\n", err.text);
    unlink(file);
    return met ? 0 : 1;
}

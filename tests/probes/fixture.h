/* What the tests of the bundled probes share: recorded trees, a run of one probe, and questions about its facts. */
#ifndef DTKB_TESTS_PROBES_FIXTURE_H
#define DTKB_TESTS_PROBES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fact.h"
#include "probe/probe.h"

/* A folder of this test's own, made by tree_start() and removed by tree_end(); both are cmocka's setup and teardown. */
extern char tree[64];
int tree_start(void **state);
int tree_end(void **state);
/* A path below it; good until the sixteenth call after. */
const char *tree_path(const char *path);
/* Writes a file of the tree, and the folders on its way. */
void tree_file(const char *path, const char *text);
void tree_bytes(const char *path, const void *bytes, size_t size);
void tree_program(const char *path, const char *text);
void tree_link(const char *path, const char *target);

/* The last run: facts checked against kb/facts.xml, so that a probe that breaks its vocabulary gives bad-output. */
struct ran {
    struct fact_set facts;
    const struct probe_result *result;
    struct probe_results results;
};
extern struct ran ran;

/* Runs one probe with `settings`, NULL-terminated: "key=value" are parameters; "@proc", "@sys", "@dev" put that root below the tree;
 * "$NAME=value" is a variable of the job, whose environment then holds only such. */
void run_probe(const char *probe, const char *const *settings);
#define RUN(probe, ...) run_probe(probe, (const char *const[]){__VA_ARGS__, NULL})

/* Besides, whether some fact is marked as wrong, which must be so where there is a fault and only there. */
void status_is(enum probe_status status, const char *in_reason);
/* All facts that are marked as what the fault consists in, by name, joined by blanks. */
void accused_are(const char *names);
void fact_is_u64(const char *fact, uint64_t value);
void fact_is_f64(const char *fact, double value);
void fact_is_bool(const char *fact, bool value);
void fact_is_string(const char *fact, const char *value);
void no_fact(const char *fact);
/* Words that must stand in the log of the run. */
void log_has(const char *words);

/* Runs `body` in a process of its own, with the namespaces of unshare() given, so that it may change limits and mounts; its questions count
 * as the test's own. It ends itself with status CANNOT where what it needs is not permitted: the test is skipped then. */
#define CANNOT 77
void in_own_process(void (*body)(void), int namespaces);

#endif

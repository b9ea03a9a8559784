/* Runs one probe with the stand-ins of tests/fakes and compares what it says. */
#ifndef DTKB_TESTS_GPU_SCENARIO_H
#define DTKB_TESTS_GPU_SCENARIO_H

#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/probe.h"

struct scenario {
    const char *probe;
    const char *env[10];   /* NAME=VALUE, besides what every scenario has */
    const char *params[7]; /* KEY=VALUE */
    double timeout;        /* seconds, 0: the probe's own */
    enum probe_status status;
    const char *reason[4]; /* each stands in the reason */
    const char *facts[12]; /* "name=value as text"; "name~part of it"; "!name": absent */
    const char *evidence;  /* stands in the evidence */
    const char *log;       /* stands in the log */
    double within;         /* it takes no longer, in seconds; 0: whatever */
};

/* Fails the test with everything the probe said when something differs. */
void scenario_run(const struct scenario *scenario);
/* The same for several at a time: the ranks of a job. */
void scenario_run_all(const struct scenario *scenarios, size_t count);

#endif

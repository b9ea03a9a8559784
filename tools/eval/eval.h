/* Measuring answers: cases with right answers in, figures out. */
#ifndef DTKB_EVAL_H
#define DTKB_EVAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <dtkb/dtkb.h>

/* What one set of cases came to. Rates are over `cases`, the false alarms over `healthy`. */
struct figures {
    size_t cases;   /* with a fault to find */
    size_t healthy; /* without one: no symptom listed */
    size_t symptom1, symptom3, fix1, fix3;
    size_t rank_asked, rank_right;
    size_t abstained;       /* verdict unknown, or a fault without a symptom */
    size_t false_alarms;    /* healthy cases reported as faults */
    size_t confident_noise; /* healthy or foreign cases with a cause at 0.4 or more, or a symptom above */
    struct {
        size_t count, right;
        double confidence;
    } bins[10]; /* of the first symptom's confidence */
};

/* One case: its text or its file, and the answers that count as right. */
struct test_case {
    const char *name, *log, *path;
    const json_t *symptoms, *fixes, *rank;
};
/* Runs a case and adds to `out`; prints what went wrong to `log` when that is not NULL. False when it could not be run (said on stderr). */
bool eval_case(dtkb *engine, const struct test_case *test, struct figures *out, FILE *log);

/* The reports of a knowledge pack as cases (kb/README.md: an issue with a log). */
bool eval_pack(dtkb *engine, const char *path, struct figures *out, FILE *log);

/* A case file: a .jsonl with one case a line ("log" inside), an index.json beside its logs, a knowledge pack with reports, or a folder of logs that
 * hold no training fault. Runs each case, adds to `out`, and prints what went wrong to `log` when that is not NULL. False when the file can't be read (said
 * on stderr). */
bool eval_file(dtkb *engine, const char *path, struct figures *out, FILE *log);

double rate(size_t part, size_t whole);

/* Expected calibration error of the first symptom's confidence, ten bins. */
double calibration_error(const struct figures *figures);

void print_figures(FILE *out, const char *title, const struct figures *figures);

/* Compares with recorded figures ({"file": {"symptom1": 0.8, ...}}); prints each that dropped; returns how many did. */
size_t compare_figures(const json_t *recorded, const char *name, const struct figures *figures);
json_t *figures_json(const struct figures *figures);

#endif

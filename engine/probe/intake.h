/* Takes what a probe reports, line by line, and checks every fact before it is believed. */
#ifndef DTKB_PROBE_INTAKE_H
#define DTKB_PROBE_INTAKE_H

#include <jansson.h>

#include "base/buf.h"
#include "base/fact.h"
#include "probe/vocabulary.h"

#define INTAKE_FACTS_MAX 4096u
#define INTAKE_TEXT_MAX ((size_t)64 << 10)      /* of the log */
#define INTAKE_EVIDENCE_MAX ((size_t)256 << 10) /* of text for the scanner */

/* What a probe says became of it; the words are those of the wire. */
enum intake_result {
    RESULT_NONE,
    RESULT_OK,
    RESULT_FAULT,
    RESULT_SKIPPED,
    RESULT_UNAVAILABLE,
    RESULT_STOPPED, /* it gave up when its deadline came near */
    RESULT_ERROR    /* it failed itself */
};

struct intake {
    const struct vocabulary *vocabulary;
    const char *plugin; /* becomes the facts' source */
    struct fact_set facts;
    json_t *names; /* of the facts so far: finds a second one quickly */
    enum intake_result result;
    struct buf reason, log, evidence, evidence_source;
    int left_descriptors, left_threads; /* that the probe left open, where the helper was asked to count */
    size_t line;
};

/* False when out of memory. */
bool intake_start(struct intake *intake, const struct vocabulary *vocabulary, const char *plugin);
/* Takes a line. False when it breaks the contract: `mistake` says how, and nothing more may be offered. */
bool intake_line(struct intake *intake, const char *text, size_t length, char *mistake, size_t mistake_size);
void intake_free(struct intake *intake);

#endif

/* What a log shows, for the tests of the observers: each rule on a log that breaks it and on one that only looks like it. */
#ifndef DTKB_TEST_OBSERVED_H
#define DTKB_TEST_OBSERVED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "scan/scan.h"

static const struct signature signatures[] = {
    {.id = "alone", .is_regex = true, .pattern = "GPU table: GPU (?<gpu>\\d+) alone works", .role = ROLE_INITIATING},
};

#include "signature_set.h"

static struct findings of_text(const char *text)
{
    struct scan *scan;
    struct findings findings;
    assert_int_equal(scan_new(db, NULL, &scan, NULL), DTKB_OK);
    assert_int_equal(scan_feed(scan, "log", text, strlen(text), NULL), DTKB_OK);
    assert_int_equal(scan_findings(scan, &findings, NULL), DTKB_OK);
    scan_free(scan);
    return findings;
}

static const struct evidence *telling(const struct findings *findings, const char *words)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].kind == EV_OBSERVED && strstr(findings->evidence[i].text, words))
            return &findings->evidence[i];
    return NULL;
}

static void shows(const char *text, const char *words)
{
    struct findings findings = of_text(text);
    if (!telling(&findings, words)) {
        for (size_t i = 0; i < findings.evidence_count; i++)
            print_message("  %d %s\n", findings.evidence[i].kind, findings.evidence[i].text);
        fail_msg("nothing tells '%s'", words);
    }
    findings_free(&findings);
}

static void shows_nothing(const char *text)
{
    struct findings findings = of_text(text);
    const struct evidence *told = telling(&findings, "");
    if (told)
        fail_msg("told: %s", told->text);
    findings_free(&findings);
}

#endif

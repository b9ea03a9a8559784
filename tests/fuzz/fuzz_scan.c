/* Any bytes as a log, fed in two pieces that the first byte chooses; findings are taken before and after the second. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scan/scan.h"

static const struct signature signatures[] = {
    {.id = "shm", .is_regex = true, .pattern = "shared memory segment (?<segment>\\S*) \\(size (?<size>\\d+)\\)"},
    {.id = "closed", .pattern = "Connection closed by peer"},
    {.id = "hang", .is_regex = true, .ignore_case = true, .pattern = "^\\S+ (?:hangs?|stuck|freezes) in (?<where>.*)$"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct scan *scan)
{
    struct findings findings;
    if (scan_findings(scan, &findings, NULL) != DTKB_OK)
        return;
    for (size_t i = 0; i < findings.evidence_count; i++)
        for (const char *p = findings.evidence[i].text; *p; p++)
            if ((unsigned char)*p < 0x20 || *p == 0x7f)
                abort(); /* a control would reach a terminal */
    findings_free(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scan_db *db;
    struct scan *scan;
    if (!db && scan_db_build(signatures, sizeof signatures / sizeof signatures[0], &db, NULL) != DTKB_OK)
        abort();
    if (size == 0 || scan_new(db, NULL, &scan, NULL) != DTKB_OK)
        return 0;
    size_t cut = size * data[0] / 256;
    (void)scan_feed(scan, "rank_0.log", data, cut, NULL);
    look(scan);
    (void)scan_feed(scan, "rank_0.log", data + cut, size - cut, NULL);
    look(scan);
    scan_free(scan);
    return 0;
}

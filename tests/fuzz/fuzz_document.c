/* Any bytes as a file, once as it is and once through a pipe: the same has to be found. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scan/scan.h"

#define PIPE_HOLDS 65536 /* so that nobody waits */

static const struct signature signatures[] = {
    {.id = "told", .is_regex = true, .pattern = "GPU \\d+ (?:\\([^)]*\\) )?has (?<errors>\\d+) uncorrected ECC errors?"},
    {.id = "closed", .pattern = "Connection closed by peer"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t look(struct scan *scan)
{
    struct findings findings;
    if (scan_findings(scan, &findings, NULL) != DTKB_OK)
        return 0;
    for (size_t i = 0; i < findings.evidence_count; i++) {
        for (const char *p = findings.evidence[i].text; *p; p++)
            if ((unsigned char)*p < 0x20 || *p == 0x7f)
                abort(); /* a control would reach a terminal */
        for (size_t k = 0; k < findings.evidence[i].field_count; k++)
            if (!findings.evidence[i].fields[k].name || !findings.evidence[i].fields[k].value)
                abort();
    }
    size_t count = findings.evidence_count;
    findings_free(&findings);
    return count;
}

static size_t read_from(const struct scan_db *db, int fd, dtkb_status *status)
{
    struct scan *scan;
    if (scan_new(db, NULL, &scan, NULL) != DTKB_OK)
        abort();
    *status = scan_fd(scan, "rank_0.log", fd, NULL);
    size_t count = look(scan);
    scan_free(scan);
    (void)close(fd);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scan_db *db;
    int ends[2], file = memfd_create("fuzz", MFD_CLOEXEC);
    dtkb_status whole, piped;
    if (!db && scan_db_build(signatures, sizeof signatures / sizeof signatures[0], &db, NULL) != DTKB_OK)
        abort();
    if (file < 0 || size > PIPE_HOLDS || pipe(ends) != 0)
        return 0;
    if (write(file, data, size) != (ssize_t)size || lseek(file, 0, SEEK_SET) != 0 || write(ends[1], data, size) != (ssize_t)size)
        abort();
    (void)close(ends[1]);
    size_t of_file = read_from(db, file, &whole), of_pipe = read_from(db, ends[0], &piped);
    if (size && data[0] != 0x80 && whole == DTKB_OK && piped == DTKB_OK && of_file != of_pipe)
        abort();
    return 0;
}

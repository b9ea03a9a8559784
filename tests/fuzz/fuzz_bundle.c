/* Any bytes as a bundle, and the diagnosis concluded from what was read. */
#include <stdlib.h>

#include <dtkb/dtkb.h>

#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dtkb *engine;
    dtkb_open_options options = DTKB_OPEN_OPTIONS_INIT;
    options.kb = KB_FILE;
    options.no_default_packs = 1;
    if (!engine && dtkb_open(&engine, &options, NULL, 0) != DTKB_OK)
        abort();
    char path[64];
    int fd = memory_file(data, size, path);
    dtkb_diagnosis *diagnosis;
    dtkb_doc *report;
    if (fd < 0 || dtkb_diagnosis_new(engine, NULL, &diagnosis) != DTKB_OK)
        return 0;
    if (dtkb_feed_bundle(diagnosis, path) == DTKB_OK && dtkb_conclude(diagnosis, &report) == DTKB_OK) {
        if (!dtkb_doc_json(report))
            abort(); /* what was concluded must be writable */
        dtkb_doc_free(report);
    }
    dtkb_diagnosis_free(diagnosis);
    close(fd);
    return 0;
}

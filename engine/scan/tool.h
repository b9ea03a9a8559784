/*
 * Reports that diagnostic tools write as one document: NCCL RAS (`ncclras -f json`), DCGM (`dcgmi diag -j`), the driver
 * (`nvidia-smi -q -x`). What is wrong in them becomes EV_DUMP evidence in words of our own, settings that jobs may run into EV_OBSERVED; signatures are tried on both. A report that
 * names nothing wrong is no evidence that all is well.
 */
#ifndef DTKB_SCAN_TOOL_H
#define DTKB_SCAN_TOOL_H

#include <jansson.h>

#include "scan/collect.h"

#define TOOL_FIELDS_MAX 8
#define TOOL_VALUE_MAX 200

struct tool_report {
    struct collect *collect;
    uint32_t file;
    uint64_t told; /* findings so far */
};

struct tool_finding {
    enum sig_role role;
    bool setting; /* how a machine was set up, no trouble by itself */
    int32_t rank;
    struct evidence_field fields[TOOL_FIELDS_MAX];
    size_t field_count;
};

void tool_field(struct tool_finding *finding, const char *name, const char *value);
/* Evidence with this text; what came from the document may hold anything, controls are taken out here. */
__attribute__((format(printf, 3, 4))) void tool_tell(struct tool_report *report, const struct tool_finding *finding, const char *format,
                                                     ...);

/* Is it such a document at all? */
bool ras_is_report(const json_t *root);
bool dcgm_is_report(const json_t *root);
void ras_tell(struct tool_report *report, const json_t *root);
void dcgm_tell(struct tool_report *report, const json_t *root);

/* False where the text is something else. A document that was cut off is read as far as it goes. */
bool smi_tell(struct tool_report *report, const char *text, size_t length);

#endif

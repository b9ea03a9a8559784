/* Lines that the text and the HTML report share. Each appends to `out`. */
#ifndef DTKB_REPORT_PHRASES_H
#define DTKB_REPORT_PHRASES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* What a log without a fault may be of all the same. */
void add_silent_hint(struct buf *out, const json_t *symptom);

/* "about horovod 0.16.4 (here 0.28.1), nccl 2.4": what an old thread was about, against what runs here. Nothing for an empty list. */
void add_versions(struct buf *out, const json_t *versions);

/* "nccl with NCCL_P2P_DISABLE=1: works, each of 3 times; proves ...". */
void add_trial(struct buf *out, const json_t *trial);

/* Line `i` of what a merged report says of its ranks, "" when there is nothing of its kind; false behind the last. */
bool add_joined(struct buf *out, const json_t *joined, size_t i);

/* "driver.version: 535.54 on 7; 550.90 on rank 3". */
void add_difference(struct buf *out, const json_t *difference);

#endif

/* What NCCL itself says of a silent job: its RAS service, which answers in plain text on a port of each node. */
#ifndef DTKB_CLI_RAS_H
#define DTKB_CLI_RAS_H

#include <stdio.h>

/* Asks the service at NCCL_RAS_ADDR, or localhost:28028, for its verbose status and writes the answer to `out`, bounded in time and size.
 * Nothing when nobody listens there. */
void ras_describe(FILE *out);

#endif

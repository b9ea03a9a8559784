/* Which rank of which job a report speaks of. */
#ifndef DTKB_API_RANK_H
#define DTKB_API_RANK_H

#include <stdbool.h>

#include "api/api.h"

/* Adds "job": {rank, world_size, host} to a report about this process's machine, where a launcher started it. */
void report_add_rank(json_t *report);

#endif

/* The collectives and sizes, by the names their facts have. */
#ifndef DTKB_MPI_STEPS_H
#define DTKB_MPI_STEPS_H

#include <stdbool.h>
#include <stddef.h>

enum { ALLREDUCE, BROADCAST, ALLGATHER, REDUCESCATTER, SENDRECV, COLLECTIVES };
enum { SIZES = 3 };

extern const char *const collective_names[COLLECTIVES];
extern const size_t step_sizes[SIZES];

#endif

/* What the processes of a silent job wait in. */
#ifndef DTKB_CLI_STALL_H
#define DTKB_CLI_STALL_H

#include <stdio.h>
#include <sys/types.h>

/* Writes to `out`, for `root` and all its descendants: name, state, the kernel function each waits in, its rank where its environment
 * tells, and a Python or native stack where py-spy or gdb is at hand; then what NCCL's RAS service on this node says, where there is one. */
void stall_describe(pid_t root, FILE *out);

/* Copies what comes from a descriptor for so many seconds and bytes at most, control bytes shown as '?'. */
void stall_copy(int from, double seconds, size_t most, FILE *out);

#endif

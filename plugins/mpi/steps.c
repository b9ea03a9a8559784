#include "steps.h"

const char *const collective_names[COLLECTIVES] = {
    [ALLREDUCE] = "allreduce",         [BROADCAST] = "broadcast", [ALLGATHER] = "allgather",
    [REDUCESCATTER] = "reducescatter", [SENDRECV] = "sendrecv",
};
const size_t step_sizes[SIZES] = {8, 65536, 4194304};

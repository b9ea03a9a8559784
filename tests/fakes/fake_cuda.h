/* What the other stand-ins see of the fake driver. Not part of the driver API. */
#ifndef DTKB_TESTS_FAKE_CUDA_H
#define DTKB_TESTS_FAKE_CUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

/* The number in an environment variable; `otherwise` when it is not set. */
long fake_number(const char *variable, long otherwise);
/* Does the variable, a list of numbers joined by commas, hold this one? */
bool fake_listed(const char *variable, long number);

/* The device of the calling thread's context; -1 without one. */
int fake_cuda_current_device(void);
/* Work that others put on a stream: it is busy until as many have ended as have begun. */
void fake_cuda_stream_begin(CUstream stream);
void fake_cuda_stream_end(CUstream stream);

#endif

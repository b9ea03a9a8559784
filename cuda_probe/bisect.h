/* Which GPU, or which pair of them, makes a collective fail: the next subset to try, until one suspect is left. */
#ifndef DTKB_CUDA_PROBE_BISECT_H
#define DTKB_CUDA_PROBE_BISECT_H

#include <stdbool.h>
#include <stdint.h>

#define BISECT_DEVICES_MAX 12
#define BISECT_SUSPECTS_MAX (BISECT_DEVICES_MAX * (BISECT_DEVICES_MAX + 1) / 2)

/* Sets of devices are bit masks. A suspect is one device or two: a subset fails when it holds the whole culprit. */
struct bisect {
    int devices;
    uint32_t suspects[BISECT_SUSPECTS_MAX];
    unsigned count;
    unsigned tests;      /* told so far */
    bool passed, failed; /* at least one subset did */
};

/* Every device and every pair is suspect: all devices together have failed. */
void bisect_start(struct bisect *bisect, int devices);
/* The subset, of two devices or more, that tells most; 0: nothing more can be told. */
uint32_t bisect_next(const struct bisect *bisect);
void bisect_tell(struct bisect *bisect, uint32_t subset, bool failed);
/* The culprit, one bit or two; 0: the fault is not one of a device or pair (every subset fails, or none). */
uint32_t bisect_culprit(const struct bisect *bisect);

#endif

/* Time. Deadlines are on the monotonic clock, time stamps of facts on the calendar's. */
#ifndef DTKB_BASE_CLOCK_H
#define DTKB_BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_NS_PER_MS 1000000ull
#define CLOCK_NS_PER_S 1000000000ull

uint64_t clock_ns(void);          /* CLOCK_MONOTONIC */
double clock_epoch_seconds(void); /* CLOCK_REALTIME */

#endif

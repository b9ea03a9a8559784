/* A step with a deadline of its own: vendor calls may never return. */
#ifndef DTKB_CUDA_PROBE_BOUNDED_H
#define DTKB_CUDA_PROBE_BOUNDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

uint64_t bounded_now(void);                          /* CLOCK_MONOTONIC in nanoseconds */
uint64_t bounded_in(double seconds, uint64_t limit); /* that long from now, at most `limit` */
void bounded_nap(void);                              /* a moment between two polls */

/* Runs work(context) in a thread. False when it had not returned by `deadline` (the thread is abandoned: whatever it can reach must stay
 * allocated until the process ends) or no thread could be started. */
bool bounded_run(void (*work)(void *), void *context, uint64_t deadline);

/* The same with something to do meanwhile: turn() waits until `fd` can be read, or for a moment, and may bring the deadline forward. */
struct bounded_turn {
    void (*turn)(void *context, int fd);
    void *context;
};
bool bounded_run_beside(void (*work)(void *), void *context, _Atomic uint64_t *deadline, const struct bounded_turn *beside);

#endif

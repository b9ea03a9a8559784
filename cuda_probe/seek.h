/* Which rank of a job, or which two of them, make a collective fail: what to ask next, until it is known. */
#ifndef DTKB_CUDA_PROBE_SEEK_H
#define DTKB_CUDA_PROBE_SEEK_H

#include <stdbool.h>
#include <stdint.h>

#define SEEK_RANKS_MAX 1024
#define SEEK_GROUPS_MAX (SEEK_RANKS_MAX / 2)

enum seek_stage { SEEK_HOSTS, SEEK_LEADERS, SEEK_HALVES, SEEK_PAIRS, SEEK_CONFIRM, SEEK_OVER };

/* In a round the ranks form groups that run the collective side by side, each for itself. First the ranks of each host, then one rank a
 * host; then, bit by bit of their places in the list of suspects, those whose bit is 0 and those whose bit is 1: the half that fails tells
 * the culprits' common bit, and where neither does they differ in it. What is left are disjoint pairs, tested in one more round, and a last
 * one tells whether one of the pair fails with others as well: about log2(ranks) + 4 rounds. */
struct seek {
    uint32_t ranks, host[SEEK_RANKS_MAX]; /* hosts by number */
    enum seek_stage stage;
    uint32_t suspects[SEEK_RANKS_MAX], count;
    uint32_t bit, common, differ; /* of the places in the list */
    uint32_t culprits[2];
    unsigned culprit_count;
    bool asked[2], fails[2]; /* confirming: each of the two with another rank */
    unsigned rounds;
    bool several; /* the culprits are one of several such */
    /* the round under way */
    int32_t group[SEEK_RANKS_MAX]; /* of each rank; -1: none */
    uint32_t group_count;
};

void seek_start(struct seek *seek, uint32_t ranks, const uint32_t *hosts);
/* The next round; false when there is nothing more to ask. Every group has two ranks or more. */
bool seek_next(struct seek *seek);
/* Which of its groups failed. */
void seek_tell(struct seek *seek, const bool *failed);

#endif

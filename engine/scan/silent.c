/*
 * Every rank wrote a file of its own, and all but one say that a peer is gone: that one is the peer. A process that is killed, or that leaves by
 * itself, writes nothing of it; what tells is that it alone has no complaint.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scan/scan_private.h"

#define RANKS 64

static uint64_t bit_of(int32_t rank)
{
    return rank >= 0 && rank < RANKS ? UINT64_C(1) << (unsigned)rank : 0;
}

static bool lost_its_peer(const struct evidence *evidence)
{
    return evidence->kind == EV_EXCEPTION && evidence->text &&
           (strstr(evidence->text, "onnection closed by peer") || strstr(evidence->text, "onnection reset by peer"));
}

/* An account of how some process ended that is better than a guess. An exit code alone is none. */
static bool explains(const struct evidence *evidence)
{
    if (evidence->role == ROLE_CASCADE || evidence->role == ROLE_TEARDOWN)
        return false;
    return evidence->kind == EV_EXCEPTION || evidence->kind == EV_DUMP || evidence->kind == EV_SIGNAL ||
           (evidence->kind == EV_EXIT && evidence->number < 0);
}

/* Ranks with files; 0 where a rank is beyond what is counted. */
static uint64_t ranks_of(const struct input_file *files, size_t count)
{
    uint64_t ranks = 0;
    for (size_t i = 0; i < count; i++) {
        if (files[i].rank != RANK_UNKNOWN && !bit_of(files[i].rank))
            return 0;
        ranks |= bit_of(files[i].rank);
    }
    return ranks;
}

/* At the end of the rank's own file. */
static void tell(const struct input_file *files, size_t count, int32_t rank, const char *text, struct collect *collect)
{
    size_t file = 0;
    while (file + 1 < count && files[file].rank != rank)
        file++;
    struct evidence evidence = {.kind = EV_OBSERVED,
                                .role = ROLE_INITIATING,
                                .signature = SIGNATURE_NONE,
                                .file = (uint32_t)file,
                                .line = files[file].lines ? files[file].lines : 1,
                                .sequence = (uint64_t)file << 40,
                                .rank = rank,
                                .time = NAN,
                                .text = text,
                                .observed = true};
    collect_add(collect, &evidence, text_key(text, strlen(text)));
}

void silent_conclude(const struct input_file *files, size_t count, struct collect *collect)
{
    uint64_t ranks = ranks_of(files, count), losers = 0, left = 0;
    int32_t code = 0;
    for (size_t i = 0; i < collect->count; i++) {
        const struct evidence *evidence = &collect->items[i];
        if (explains(evidence))
            return;
        if (lost_its_peer(evidence))
            losers |= bit_of(evidence->rank);
        if (evidence->kind != EV_EXIT || evidence->number <= 0 || evidence->role == ROLE_CASCADE || left)
            continue;
        left = bit_of(evidence->rank);
        code = evidence->number;
    }
    uint64_t silent = ranks & ~losers;
    if (!losers || !silent || (silent & (silent - 1))) /* none of them, or more than one */
        return;
    int32_t rank = 0;
    while (bit_of(rank) != silent)
        rank++;
    char text[96];
    if (left == silent)
        (void)snprintf(text, sizeof text, "ranks: rank %d left with exit code %d and without a word, and others lost it", (int)rank,
                       (int)code);
    else
        (void)snprintf(text, sizeof text, "ranks: rank %d says nothing while the others lost their peer", (int)rank);
    tell(files, count, rank, text, collect);
}

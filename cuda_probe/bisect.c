#include "bisect.h"

void bisect_start(struct bisect *bisect, int devices)
{
    *bisect = (struct bisect){.devices = devices};
    for (int a = 0; a < devices; a++)
        for (int b = a; b < devices; b++)
            bisect->suspects[bisect->count++] = 1u << a | 1u << b;
}

static unsigned suspects_within(const struct bisect *bisect, uint32_t subset)
{
    unsigned count = 0;
    for (unsigned i = 0; i < bisect->count; i++)
        count += (bisect->suspects[i] & ~subset) == 0;
    return count;
}

/* Halves the suspects as evenly as can be. Of equal subsets the smaller one, since it is quicker; but as long as none has failed the larger
 * one, since a suspect that is left by passing alone costs one test more (confirmation()). For 8 devices, 36 suspects, six tests are enough
 * whatever the answers. */
static uint32_t best_split(const struct bisect *bisect)
{
    const uint32_t all = (1u << bisect->devices) - 1;
    uint32_t best = 0;
    unsigned best_distance = ~0u;
    for (uint32_t subset = 1; subset < all; subset++) {
        int size = __builtin_popcount(subset), best_size = __builtin_popcount(best);
        unsigned within = suspects_within(bisect, subset);
        if (size < 2 || within == 0 || within == bisect->count)
            continue;
        unsigned twice = 2 * within, distance = twice > bisect->count ? twice - bisect->count : bisect->count - twice;
        bool better = bisect->failed ? size < best_size : size > best_size;
        if (distance < best_distance || (distance == best_distance && better)) {
            best = subset;
            best_distance = distance;
        }
    }
    return best;
}

/* What must be seen before the last suspect is the culprit: the others work without it, and a subset fails that has it. */
static uint32_t confirmation(const struct bisect *bisect)
{
    const uint32_t all = (1u << bisect->devices) - 1, suspect = bisect->suspects[0], others = all & ~suspect;
    if (!bisect->passed)
        return __builtin_popcount(others) >= 2 ? others : 0;
    if (!bisect->failed)
        return __builtin_popcount(suspect) == 2 ? suspect : suspect | (others & -others);
    return 0;
}

uint32_t bisect_next(const struct bisect *bisect)
{
    return bisect->count > 1 ? best_split(bisect) : bisect->count == 1 ? confirmation(bisect) : 0;
}

void bisect_tell(struct bisect *bisect, uint32_t subset, bool failed)
{
    unsigned kept = 0;
    bisect->tests++;
    bisect->passed = bisect->passed || !failed;
    bisect->failed = bisect->failed || failed;
    for (unsigned i = 0; i < bisect->count; i++)
        if (((bisect->suspects[i] & ~subset) == 0) == failed)
            bisect->suspects[kept++] = bisect->suspects[i];
    bisect->count = kept;
}

uint32_t bisect_culprit(const struct bisect *bisect)
{
    return bisect->count == 1 && bisect->passed && bisect->failed ? bisect->suspects[0] : 0;
}

#include "seek.h"

#include <string.h>

#define NOBODY UINT32_MAX

void seek_start(struct seek *seek, uint32_t ranks, const uint32_t *hosts)
{
    memset(seek, 0, sizeof *seek);
    seek->ranks = ranks < SEEK_RANKS_MAX ? ranks : SEEK_RANKS_MAX;
    memcpy(seek->host, hosts, seek->ranks * sizeof *hosts);
}

/* The first rank of the host of this one. */
static uint32_t leader_of(const struct seek *seek, uint32_t rank)
{
    for (uint32_t r = 0; r < rank; r++)
        if (seek->host[r] == seek->host[rank])
            return r;
    return rank;
}

/* Suspects are those whom `is_one` chooses; then their bits are asked. */
static void suspect(struct seek *seek, bool (*is_one)(const struct seek *, uint32_t rank, uint32_t of), uint32_t of)
{
    seek->count = seek->bit = seek->common = seek->differ = 0;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (is_one(seek, rank, of))
            seek->suspects[seek->count++] = rank;
    seek->stage = SEEK_HALVES;
}

static bool is_anyone(const struct seek *seek, uint32_t rank, uint32_t of)
{
    (void)seek, (void)rank, (void)of;
    return true;
}

static bool is_leader(const struct seek *seek, uint32_t rank, uint32_t of)
{
    (void)of;
    return leader_of(seek, rank) == rank;
}

static bool is_beside(const struct seek *seek, uint32_t rank, uint32_t of)
{
    return seek->host[rank] == seek->host[of];
}

/* ---- rounds ---- */

static void clear_groups(struct seek *seek)
{
    seek->group_count = 0;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        seek->group[rank] = -1;
}

/* Leaves groups of two ranks or more, numbered anew; `number` receives the new number of each old one, -1 where it is none any more. */
static void drop_small_groups(struct seek *seek, int32_t *number)
{
    uint32_t size[SEEK_RANKS_MAX] = {0}, kept = 0;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (seek->group[rank] >= 0)
            size[seek->group[rank]]++;
    for (uint32_t g = 0; g < seek->group_count; g++)
        number[g] = size[g] >= 2 ? (int32_t)kept++ : -1;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (seek->group[rank] >= 0)
            seek->group[rank] = number[seek->group[rank]];
    seek->group_count = kept;
}

static void group_hosts(struct seek *seek)
{
    int32_t number[SEEK_RANKS_MAX];
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        seek->group[rank] = (int32_t)leader_of(seek, rank);
    seek->group_count = seek->ranks;
    drop_small_groups(seek, number);
}

static void group_leaders(struct seek *seek)
{
    uint32_t leaders = 0;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (is_leader(seek, rank, 0)) {
            seek->group[rank] = 0;
            leaders++;
        }
    seek->group_count = leaders >= 2;
}

/* By the bit that is asked; a half of one rank works by itself. */
static void group_halves(struct seek *seek)
{
    int32_t number[2];
    for (uint32_t i = 0; i < seek->count; i++)
        seek->group[seek->suspects[i]] = i >> seek->bit & 1;
    seek->group_count = 2;
    drop_small_groups(seek, number);
}

/* The place that makes a pair with this one; NOBODY where it makes none, or the other one is first. */
static uint32_t partner(const struct seek *seek, uint32_t place)
{
    const uint32_t other = place ^ seek->differ;
    return (place & ~seek->differ) == seek->common && place < other && other < seek->count ? other : NOBODY;
}

static void group_pairs(struct seek *seek)
{
    for (uint32_t place = 0; place < seek->count; place++) {
        const uint32_t other = partner(seek, place);
        if (other == NOBODY)
            continue;
        seek->group[seek->suspects[place]] = seek->group[seek->suspects[other]] = (int32_t)seek->group_count;
        seek->group_count++;
    }
}

/* Somebody else for this culprit who is in no group yet: of a third host if there is one, else of its own. */
static uint32_t other_partner(const struct seek *seek, uint32_t culprit)
{
    uint32_t found = NOBODY;
    int liking = -1;
    for (uint32_t rank = 0; rank < seek->ranks; rank++) {
        const bool third = seek->host[rank] != seek->host[seek->culprits[0]] && seek->host[rank] != seek->host[seek->culprits[1]];
        const int how = third ? 2 : seek->host[rank] == seek->host[culprit] ? 1 : 0;
        if (rank != seek->culprits[0] && rank != seek->culprits[1] && seek->group[rank] < 0 && how > liking) {
            found = rank;
            liking = how;
        }
    }
    return found;
}

/* Each of the pair with another rank: where there are three ranks in all, one after the other. */
static void group_confirm(struct seek *seek)
{
    for (int i = 0; i < 2; i++) {
        const uint32_t other = seek->asked[i] ? NOBODY : other_partner(seek, seek->culprits[i]);
        if (other == NOBODY)
            continue;
        seek->asked[i] = true;
        seek->group[seek->culprits[i]] = seek->group[other] = (int32_t)seek->group_count;
        seek->group_count++;
    }
}

/* ---- answers ---- */

static void tell_hosts(struct seek *seek, const bool *failed)
{
    uint32_t first = NOBODY;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (seek->group[rank] >= 0 && failed[seek->group[rank]]) {
            seek->several = seek->several || (first != NOBODY && seek->host[rank] != seek->host[first]);
            first = first == NOBODY ? rank : first;
        }
    if (first == NOBODY)
        seek->stage = SEEK_LEADERS;
    else
        suspect(seek, is_beside, first);
}

static bool half_failed(const struct seek *seek, const bool *failed, uint32_t half)
{
    for (uint32_t i = 0; i < seek->count; i++)
        if ((i >> seek->bit & 1) == half && seek->group[seek->suspects[i]] >= 0)
            return failed[seek->group[seek->suspects[i]]];
    return false;
}

static void tell_halves(struct seek *seek, const bool *failed)
{
    const bool zero = half_failed(seek, failed, 0), one = half_failed(seek, failed, 1);
    if (zero && one) { /* more than one fault: follow one of them */
        uint32_t kept = 0;
        for (uint32_t i = 0; i < seek->count; i++)
            if (!(i >> seek->bit & 1))
                seek->suspects[kept++] = seek->suspects[i];
        seek->count = kept;
        seek->several = true;
        seek->bit = seek->common = seek->differ = 0;
        return;
    }
    if (one)
        seek->common |= 1u << seek->bit;
    else if (!zero)
        seek->differ |= 1u << seek->bit;
    seek->bit++;
}

static void blame(struct seek *seek, uint32_t first, uint32_t second)
{
    seek->culprits[0] = first;
    seek->culprits[1] = second;
    seek->culprit_count = 1 + (second != NOBODY);
    seek->stage = second != NOBODY && seek->ranks > 2 ? SEEK_CONFIRM : SEEK_OVER;
}

static void tell_pairs(struct seek *seek, const bool *failed)
{
    seek->stage = SEEK_OVER; /* where none fails, it takes more than two of them */
    for (uint32_t place = 0; place < seek->count; place++) {
        const uint32_t other = partner(seek, place);
        if (other == NOBODY || !failed[seek->group[seek->suspects[place]]])
            continue;
        if (seek->culprit_count)
            seek->several = true;
        else
            blame(seek, seek->suspects[place], seek->suspects[other]);
    }
}

static void tell_confirm(struct seek *seek, const bool *failed)
{
    for (int i = 0; i < 2; i++)
        if (seek->group[seek->culprits[i]] >= 0)
            seek->fails[i] = failed[seek->group[seek->culprits[i]]];
    if (!(seek->asked[0] && seek->asked[1]) && seek->group_count)
        return;
    seek->stage = SEEK_OVER;
    seek->several = seek->several || (seek->fails[0] && seek->fails[1]);
    if (seek->fails[0] == seek->fails[1])
        return; /* neither does with others, or both do: the pair it is */
    if (seek->fails[1])
        seek->culprits[0] = seek->culprits[1];
    seek->culprit_count = 1;
}

/* ---- the course ---- */

/* Stages that need no question, or none any more. */
static void settle(struct seek *seek)
{
    if (seek->stage == SEEK_HALVES && 1u << seek->bit >= seek->count) {
        if (!seek->differ && seek->count)
            blame(seek, seek->suspects[seek->common < seek->count ? seek->common : 0], NOBODY);
        else
            seek->stage = SEEK_PAIRS;
    }
}

/* One group of all ranks. */
static bool is_everybody(const struct seek *seek)
{
    if (seek->group_count != 1)
        return false;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (seek->group[rank] != 0)
            return false;
    return true;
}

bool seek_next(struct seek *seek)
{
    static void (*const group[])(struct seek *) = {[SEEK_HOSTS] = group_hosts,
                                                   [SEEK_LEADERS] = group_leaders,
                                                   [SEEK_HALVES] = group_halves,
                                                   [SEEK_PAIRS] = group_pairs,
                                                   [SEEK_CONFIRM] = group_confirm};
    static const bool none[SEEK_GROUPS_MAX];
    while (seek->stage != SEEK_OVER) {
        settle(seek);
        if (seek->stage == SEEK_OVER)
            break;
        clear_groups(seek);
        group[seek->stage](seek);
        if (is_everybody(seek)) { /* all together have failed already */
            suspect(seek, is_anyone, 0);
            continue;
        }
        if (seek->group_count) {
            seek->rounds++;
            return true;
        }
        seek_tell(seek, none);
    }
    return false;
}

void seek_tell(struct seek *seek, const bool *failed)
{
    switch (seek->stage) {
    case SEEK_HOSTS:
        tell_hosts(seek, failed);
        break;
    case SEEK_LEADERS:
        suspect(seek, seek->group_count && failed[0] ? is_leader : is_anyone, 0);
        break;
    case SEEK_HALVES:
        tell_halves(seek, failed);
        break;
    case SEEK_PAIRS:
        tell_pairs(seek, failed);
        break;
    case SEEK_CONFIRM:
        tell_confirm(seek, failed);
        break;
    default:
        break;
    }
}

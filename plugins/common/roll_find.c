/* What is wrong with whom. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/roll_private.h"

void roll_find(struct roll_call *roll, enum trouble trouble, const char *ranks, const char *format, ...)
{
    struct finding *finding = &roll->finding;
    char text[sizeof finding->text];
    va_list args;
    if (roll->over || trouble <= finding->trouble)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* What a lost rank brings about comes later than its own end, and the launcher may end us all any moment. */
    uint64_t decide = roll_now(roll) + (trouble >= TROUBLE_GONE ? SETTLE / 8 : SETTLE);
    if (!finding->trouble || decide < finding->decide)
        finding->decide = decide;
    finding->trouble = trouble;
    memset(finding->ranks, 0, sizeof finding->ranks);
    memset(finding->text, 0, sizeof finding->text);
    roll_text(finding->ranks, sizeof finding->ranks, ranks);
    roll_text(finding->text, sizeof finding->text, text);
}

static const char *where(char *out, size_t size, const struct peer *peer)
{
    int length = snprintf(out, size, "%s", *peer->name ? peer->name : "the roll call");
    if (*peer->host && length > 0 && (size_t)length < size)
        (void)snprintf(out + length, size - (size_t)length, " on %s", peer->host);
    return out;
}

void roll_lost(struct roll_call *roll, struct peer *peer)
{
    char place[128], rank[16];
    roll_hang_up(peer);
    if (peer->done || !peer->arrived)
        return;
    (void)snprintf(rank, sizeof rank, "%u", peer->rank);
    roll_find(roll, TROUBLE_GONE, rank, "rank %u ended in %s", peer->rank, where(place, sizeof place, peer));
}

void roll_find_silence(struct roll_call *roll, struct peer *peer, uint64_t now)
{
    char place[128], rank[16];
    if (peer->fd < 0 || !peer->arrived || now < peer->heard + roll->setup.silence_ns)
        return;
    (void)snprintf(rank, sizeof rank, "%u", peer->rank);
    roll_find(roll, TROUBLE_SILENT, rank, "rank %u gave no sign of life for %.1f s in %s: it is stopped, or its host hangs", peer->rank,
              (double)(now - peer->heard) / 1e9, where(place, sizeof place, peer));
}

/* Appends a rank to "2,3"; far more than fit end in "...". */
static void add_rank(char *list, size_t size, uint32_t rank)
{
    size_t length = strlen(list);
    if (length + 16 < size)
        (void)snprintf(list + length, size - length, "%s%u", length ? "," : "", rank);
    else if (length + 5 < size && list[length - 1] != '.')
        (void)snprintf(list + length, size - length, ",...");
}

void roll_find_missing(struct roll_call *roll)
{
    char ranks[128] = "";
    size_t count = 0;
    for (size_t i = 1; i < roll->peer_count; i++)
        if (!roll->peers[i].arrived) {
            add_rank(ranks, sizeof ranks, (uint32_t)i);
            count++;
        }
    roll_find(roll, TROUBLE_MISSING, ranks, "rank%s %s never arrived: of %u ranks %zu checked in within %.0f s", count == 1 ? "" : "s",
              ranks, roll->setup.size, roll->setup.size - count, (double)roll->setup.arrive_ns / 1e9);
}

bool roll_find_different(struct roll_call *roll)
{
    const struct peer *other = NULL;
    char ranks[128] = "";
    for (size_t i = 1; i < roll->peer_count; i++)
        if (strcmp(roll->peers[i].stamp, roll->stamp) != 0) {
            add_rank(ranks, sizeof ranks, (uint32_t)i);
            other = other ? other : &roll->peers[i];
        }
    if (other)
        roll_find(roll, TROUBLE_DIFFERS, ranks, "not all ranks are alike: rank 0 has %s, rank %u has %s (unlike rank 0: %s)", roll->stamp,
                  other->rank, other->stamp, ranks);
    return other != NULL;
}

void roll_find_laggards(struct roll_call *roll)
{
    char ranks[128] = "", place[128];
    uint32_t furthest = roll->step, least = roll->step;
    const struct peer *last = NULL;
    for (size_t i = 1; i < roll->peer_count; i++) {
        furthest = roll->peers[i].step > furthest ? roll->peers[i].step : furthest;
        least = roll->peers[i].step < least ? roll->peers[i].step : least;
    }
    if (furthest == least)
        return;
    if (roll->step < furthest)
        add_rank(ranks, sizeof ranks, 0);
    for (size_t i = 1; i < roll->peer_count; i++)
        if (roll->peers[i].step < furthest) {
            add_rank(ranks, sizeof ranks, (uint32_t)i);
            last = &roll->peers[i];
        }
    char text[sizeof roll->finding.text];
    (void)snprintf(text, sizeof text, "rank%s %s %s still in %s while the others are further on; %.80s", strchr(ranks, ',') ? "s" : "",
                   ranks, strchr(ranks, ',') ? "are" : "is", last ? where(place, sizeof place, last) : roll->name, roll->finding.text);
    roll_text(roll->finding.ranks, sizeof roll->finding.ranks, ranks);
    roll_text(roll->finding.text, sizeof roll->finding.text, text);
}

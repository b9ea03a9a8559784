/*
 * Ranks that left without a word. Where every exception only says that a peer is gone, torchrun's table tells who went: a rank that exited with
 * a code of its own and printed nothing, or nobody at all: then the peer had come to its end before, as a rank with fewer batches does.
 */
#include <stdlib.h>
#include <string.h>

#include "scan/observe/ranks.h"
#include "scan/words.h"

static bool lost_its_peer(const char *message)
{
    return strstr(message, "onnection closed by peer") || strstr(message, "onnection reset by peer");
}

/* Any other exception is the better account of what happened. The launcher's own says nothing. */
static void read_exception(struct observe_leavers *leavers, const char *text, const struct place *place)
{
    struct span type, message;
    if (!exception_read(text, false, &type, &message) || memmem(type.text, type.length, "ChildFailedError", 16))
        return;
    if (!lost_its_peer(message.text) || place->rank < 0 || place->rank >= LEAVERS_RANKS) {
        leavers->others = true;
        return;
    }
    if (!leavers->losers)
        leavers->at = *place;
    leavers->losers |= UINT64_C(1) << (unsigned)place->rank;
}

/* "  rank      : 1 (local_rank: 1)", "  exitcode  : 3 (pid: 7708)": the number behind the colon */
static bool read_row(const char *text, const char *name, int32_t *value)
{
    text += strspn(text, " ");
    if (strncmp(text, name, strlen(name)) != 0)
        return false;
    text += strlen(name) + strspn(text + strlen(name), " ");
    if (*text != ':')
        return false;
    char *end;
    long number = strtol(text + 1, &end, 10);
    if (end == text + 1 || number < -1000 || number > 1000000)
        return false;
    *value = (int32_t)number;
    return true;
}

static void read_table(struct observe_leavers *leavers, const char *text)
{
    int32_t code;
    text += strspn(text, " ");
    if (!strncmp(text, "<NO_OTHER_FAILURES>", 19))
        leavers->no_others = true;
    else if (!strncmp(text, "Root Cause (first observed failure)", 35))
        leavers->root = true;
    else if (leavers->root && !leavers->code && !read_row(text, "rank", &leavers->rank) && read_row(text, "exitcode", &code))
        leavers->code = code;
}

void leavers_line(struct observe_leavers *leavers, const struct line *line, const struct place *place)
{
    if (!strncmp(line->text, "terminate called", 16) || !strncmp(line->text, "Fatal Python error", 18))
        leavers->others = true;
    read_exception(leavers, line->text, place);
    read_table(leavers, line->text);
}

void leavers_conclude(const struct observe_leavers *leavers, struct collect *collect)
{
    if (!leavers->losers || leavers->others || leavers->code <= 0 || leavers->rank < 0 || leavers->rank >= LEAVERS_RANKS)
        return;
    bool root_lost = leavers->losers & UINT64_C(1) << (unsigned)leavers->rank;
    if (!root_lost)
        observe_tell(collect, &leavers->at, "ranks: rank %d left with exit code %d and without a word, and others lost it",
                     (int)leavers->rank, (int)leavers->code);
    else if (leavers->no_others)
        observe_tell(collect, &leavers->at, "ranks: one lost its peer and no other rank failed, so the peer had ended before");
}

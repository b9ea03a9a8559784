/* Which rank of the job, or which two, make the collective fail: the ranks meet once more, and rank 0 has groups of them try it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "nccl_run.h"
#include "seek.h"

#define MEET_NS 10000000000u
#define SILENCE_NS 8000000000u
#define TURN_NS 50000000u
#define TRY_SECONDS 4.0       /* a group that works takes a fraction of it */
#define ROUND_NS 11000000000u /* what a round may take: an id, a communicator, the collective, an abort */
#define BYTES 65536           /* where no collective was begun */
#define SEARCHED_RANKS_MIN 3  /* of two it is either or both */

enum order { ORDER_MAKE_ID, ORDER_TRY, ORDER_END };

/* What rank 0 hands out. */
struct task {
    uint32_t order, ranks, index, kind, bytes;
    ncclUniqueId id;
};
/* ... and what comes back. */
struct answer {
    uint32_t good;
    ncclUniqueId id;
};
/* ... and to all at the end. */
struct result {
    uint32_t order; /* ORDER_END */
    uint32_t culprit_count, culprits[2], rounds, several, given_up;
    char hosts[2][64];
};
_Static_assert(sizeof(struct task) <= ROLL_GIFT_MAX && sizeof(struct answer) <= ROLL_GIFT_MAX && sizeof(struct result) <= ROLL_GIFT_MAX,
               "all of them travel with the roll call");

struct search {
    struct run *run;
    struct seek *seek; /* of rank 0 */
    uint32_t kind, bytes, number;
    struct result result;
    bool over;
};

static bool may_wait(const struct search *search)
{
    struct run *run = search->run;
    return !search->over && !roll_over(run->roll) && !kit_stop(&run->kit) && bounded_now() + END_NS < run->limit;
}

/* ---- every rank: carries out what it is told ---- */

static bool try_collective(struct run *run, const struct task *task)
{
    struct team *team = &run->state->team;
    if (run->given_up || task->kind >= COLLECTIVES || task->index >= task->ranks || task->ranks > run->job.size ||
        task->bytes > TEAM_BYTES_MAX)
        return false;
    run_gather(run, 1);
    team->id = task->id;
    team->ranks = (int)task->ranks;
    team->members[0].rank = (int)task->index;
    bool good =
        run_team_step(run, team_open, team, TRY_SECONDS) && run_collective(run, (enum collective)task->kind, task->bytes, 0, TRY_SECONDS);
    run_disband(run);
    return good;
}

static void obey(struct search *search)
{
    struct run *run = search->run;
    union {
        struct task task;
        struct result result;
        char bytes[ROLL_GIFT_MAX];
    } work;
    struct answer answer = {0};
    uint32_t number;
    if (!roll_take(run->roll, &number, work.bytes))
        return;
    if (work.task.order == ORDER_END) {
        search->result = work.result;
        search->over = true;
        return;
    }
    if (work.task.order == ORDER_MAKE_ID) {
        answer.good = !run->given_up && run_step(run, make_id, run->state, TRY_SECONDS) && run->state->id_result == ncclSuccess;
        answer.id = run->state->team.id;
    } else {
        answer.good = try_collective(run, &work.task);
    }
    roll_answer(run->roll, number, &answer, sizeof answer);
}

/* ---- rank 0: a round ---- */

/* Until all that `is_asked` have answered to this number. */
static bool await(struct search *search, uint32_t number, bool (*is_asked)(const struct seek *, uint32_t rank))
{
    struct run *run = search->run;
    while (may_wait(search)) {
        uint32_t waiting = 0;
        obey(search);
        for (uint32_t rank = 0; rank < search->seek->ranks; rank++)
            waiting += is_asked(search->seek, rank) && !roll_answered(run->roll, rank, number);
        if (!waiting)
            return true;
        roll_turn(run->roll, NULL, 0, TURN_NS);
    }
    return false;
}

/* The first of its group makes the id. */
static bool is_first(const struct seek *seek, uint32_t rank)
{
    for (uint32_t r = 0; r < rank; r++)
        if (seek->group[r] == seek->group[rank])
            return false;
    return seek->group[rank] >= 0;
}

static bool is_member(const struct seek *seek, uint32_t rank)
{
    return seek->group[rank] >= 0;
}

static uint32_t index_in_group(const struct seek *seek, uint32_t rank, uint32_t *size, uint32_t *first)
{
    uint32_t index = 0;
    *size = 0;
    for (uint32_t r = seek->ranks; r-- > 0;)
        if (seek->group[r] == seek->group[rank]) {
            index += r < rank;
            (*size)++;
            *first = r;
        }
    return index;
}

static void hand_out(struct search *search, uint32_t rank, enum order order)
{
    uint32_t size, first = rank;
    const uint32_t index = index_in_group(search->seek, rank, &size, &first);
    struct task task = {.order = order, .ranks = size, .index = index, .kind = search->kind, .bytes = search->bytes};
    const struct answer *made = order == ORDER_TRY ? roll_answered(search->run->roll, first, search->number - 1) : NULL;
    if (made)
        task.id = made->id;
    roll_hand_out(search->run->roll, rank, search->number, &task, sizeof task);
}

/* False when the search cannot go on. */
static bool play_round(struct search *search)
{
    struct seek *seek = search->seek;
    bool failed[SEEK_GROUPS_MAX] = {false};
    search->number++;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (is_first(seek, rank))
            hand_out(search, rank, ORDER_MAKE_ID);
    if (!await(search, search->number, is_first))
        return false;
    search->number++;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (is_member(seek, rank))
            hand_out(search, rank, ORDER_TRY);
    if (!await(search, search->number, is_member))
        return false;
    for (uint32_t rank = 0; rank < seek->ranks; rank++)
        if (is_member(seek, rank) && !((const struct answer *)roll_answered(search->run->roll, rank, search->number))->good)
            failed[seek->group[rank]] = true;
    seek_tell(seek, failed);
    return true;
}

/* Hosts by number: those of the same name are the same. */
static void number_hosts(const struct run *run, uint32_t *hosts)
{
    for (uint32_t rank = 0; rank < run->job.size; rank++) {
        hosts[rank] = rank;
        for (uint32_t r = 0; r < rank && hosts[rank] == rank; r++)
            if (!strcmp(roll_host(run->roll, r), roll_host(run->roll, rank)))
                hosts[rank] = hosts[r];
    }
}

static void conduct(struct search *search)
{
    struct run *run = search->run;
    struct seek *seek = search->seek;
    uint32_t hosts[SEEK_RANKS_MAX];
    number_hosts(run, hosts);
    seek_start(seek, run->job.size, hosts);
    while (seek_next(seek) && !search->result.given_up)
        search->result.given_up = bounded_now() + ROUND_NS > run->limit || !play_round(search);
    struct result *result = &search->result;
    result->order = ORDER_END;
    result->rounds = seek->rounds;
    result->several = seek->several;
    result->culprit_count = result->given_up ? 0 : seek->culprit_count;
    for (uint32_t i = 0; i < result->culprit_count; i++) {
        result->culprits[i] = seek->culprits[i];
        (void)snprintf(result->hosts[i], sizeof result->hosts[i], "%s", roll_host(run->roll, seek->culprits[i]));
    }
    for (uint32_t rank = 0; rank < run->job.size; rank++)
        roll_hand_out(run->roll, rank, search->number + 1, result, sizeof *result);
}

/* ---- the course ---- */

static void report(struct run *run, const struct result *result)
{
    const uint32_t *who = result->culprits;
    const char *alike = result->several ? "; others fail as well" : "";
    char ranks[32], text[256];
    kit_u64(&run->kit, result->rounds, "rounds", "NCCL", "nccl.search.rounds");
    if (!result->culprit_count || result->culprit_count > 2) {
        kit_log(&run->kit, 1, "%u rounds in smaller groups: %s", result->rounds,
                result->given_up ? "there was no time for more" : "the fault is not one of a single rank or pair");
        return;
    }
    if (result->culprit_count == 1) {
        (void)snprintf(ranks, sizeof ranks, "%u", who[0]);
        (void)snprintf(text, sizeof text, "it fails with rank %u (%.60s) and works without it%s\n", who[0], result->hosts[0], alike);
    } else {
        (void)snprintf(ranks, sizeof ranks, "%u,%u", who[0], who[1]);
        (void)snprintf(text, sizeof text, "it fails where ranks %u (%.60s) and %u (%.60s) are together and works otherwise%s\n", who[0],
                       result->hosts[0], who[1], result->hosts[1], alike);
    }
    run_status(run, ranks, "NCCL", "nccl.bad_ranks");
    run_fault_more(run, "; %.*s", (int)strcspn(text, "\n"), text);
    run->kit.host->evidence(run->kit.call, "nccl", text, strlen(text));
}

static bool meet_again(struct run *run)
{
    struct roll_setup setup = roll_setup(&run->kit, &run->job, "nccl search");
    setup.arrive_ns = MEET_NS;
    setup.silence_ns = SILENCE_NS;
    roll_end(run->roll);
    run->roll = roll_begin(&run->kit, &setup);
    run->called_off = false;
    while (run->roll && !roll_present(run->roll) && !roll_over(run->roll) && bounded_now() + END_NS < run->limit && !kit_stop(&run->kit))
        roll_turn(run->roll, NULL, 0, TURN_NS);
    return run->roll && roll_present(run->roll);
}

void seek_culprit(struct run *run)
{
    const char *wanted = kit_param(&run->kit, "bisect", "1");
    const enum trouble trouble = run->roll ? roll_verdict(run->roll) : TROUBLE_NONE;
    if (*wanted == '0' || (trouble != TROUBLE_FAILED && trouble != TROUBLE_LATE) || run->job.size < SEARCHED_RANKS_MIN ||
        run->job.size > SEEK_RANKS_MAX || !roll_present(run->roll) || !meet_again(run))
        return;
    const struct collective_run *collective = &run->state->collective;
    const struct ending ending = run->state->team.ending;
    struct search search = {.run = run,
                            .seek = run->job.rank ? NULL : kit_memory(&run->kit, sizeof *search.seek),
                            .kind = collective->kind,
                            .bytes = collective->bytes ? (uint32_t)collective->bytes : BYTES};
    if (search.seek)
        conduct(&search);
    while (may_wait(&search)) {
        obey(&search);
        if (!search.over)
            roll_turn(run->roll, NULL, 0, TURN_NS);
    }
    roll_done(run->roll);
    while (search.over && !roll_over(run->roll) && bounded_now() + END_NS < run->limit)
        roll_turn(run->roll, NULL, 0, TURN_NS);
    run->state->team.ending = ending;
    if (search.over)
        report(run, &search.result);
}

/* What launchers leave in the environment, and the roll call of a job whose ranks all live in this process. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/roll_call.h"

/* ---- a host of our own ---- */

static char reason[512];

static const char *no_param(const dtkb_call_v1 *call, const char *name)
{
    (void)call;
    (void)name;
    return NULL;
}

static void take_reason(const dtkb_call_v1 *call, const char *text)
{
    (void)call;
    (void)snprintf(reason, sizeof reason, "%s", text);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *blocks[64];
static size_t block_count;

static void *scratch(const dtkb_call_v1 *call, size_t bytes)
{
    (void)call;
    assert_true(block_count < sizeof blocks / sizeof *blocks);
    return blocks[block_count++] = calloc(1, bytes);
}

static int release(void **state)
{
    (void)state;
    while (block_count)
        free(blocks[--block_count]);
    return 0;
}

static const dtkb_host_v1 host = {
    .struct_size = sizeof host, .param = no_param, .reason = take_reason, .now_ns = now_ns, .scratch = scratch};
static const char *const empty[] = {NULL};
static const dtkb_call_v1 call = {.struct_size = sizeof call, .env = empty};
static struct kit kit = {.host = &host, .call = &call};

/* ---- the job ---- */

static bool find(const char *const *env, enum job_kind kind, struct job *job)
{
    const dtkb_call_v1 with = {.struct_size = sizeof with, .env = env};
    const struct kit its = {.host = &host, .call = &with};
    return job_read(&its, kind, job);
}
#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SLURM(rank, size) "SLURM_STEP_ID=0", "SLURM_PROCID=" rank, "SLURM_STEP_NUM_TASKS=" size

static void launchers_are_recognised(void **state)
{
    (void)state;
    struct job job;
    assert_true(find(ENV("RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1", "MASTER_ADDR=h", "MASTER_PORT=29500"), JOB_ANY, &job));
    assert_true(job.rank == 3 && job.size == 8 && job.local_rank == 1 && !job.one_host);
    assert_string_equal(job.launcher, "torchrun");
    assert_string_equal(job.heads[0], "h");
    assert_false(find(ENV("RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=h"), JOB_MPI, &job));
    assert_true(
        find(ENV("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2"),
             JOB_ANY, &job));
    assert_string_equal(job.launcher, "mpirun");
    assert_true(job.one_host);
    assert_string_equal(job.heads[0], "127.0.0.1");
    assert_true(
        find(ENV("HOROVOD_RANK=1", "HOROVOD_SIZE=4", "HOROVOD_LOCAL_RANK=0", "HOROVOD_GLOO_RENDEZVOUS_ADDR=10.0.0.1"), JOB_ANY, &job));
    assert_string_equal(job.heads[0], "10.0.0.1");
    assert_true(find(ENV(SLURM("5", "6"), "SLURM_LOCALID=1", "SLURM_STEP_NODELIST=g[2-4]", "SLURM_NTASKS=9"), JOB_MPI, &job));
    assert_true(job.rank == 5 && job.size == 6 && job.local_rank == 1);
    assert_string_equal(job.heads[0], "g2");
    /* torchrun, started on every node by srun */
    assert_true(find(ENV(SLURM("0", "2"), "RANK=9", "WORLD_SIZE=16", "MASTER_ADDR=g2"), JOB_ANY, &job));
    assert_int_equal(job.rank, 9);
    assert_true(find(ENV("PMI_RANK=0", "PMI_SIZE=1"), JOB_MPI, &job));
    assert_int_equal(job.local_rank, -1);
}

static void what_is_no_job(void **state)
{
    (void)state;
    struct job job;
    assert_false(find(ENV("SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=6"), JOB_ANY, &job)); /* a batch script */
    assert_null(job.launcher);
    assert_false(find(ENV(SLURM("0", "1"), "SLURM_STEP_NODELIST=g2"), JOB_ANY, &job)); /* a shell in an allocation */
    assert_null(job.launcher);
    assert_false(find(ENV("RANK=1", "WORLD_SIZE=x", "MASTER_ADDR=h"), JOB_ANY, &job));
    assert_string_equal(job.problem, "RANK=1 and WORLD_SIZE=x do not make a job: the rank must be below the number of ranks");
    assert_false(find(ENV("RANK=4", "WORLD_SIZE=4", "MASTER_ADDR=h"), JOB_ANY, &job));
    assert_false(find(ENV("RANK=0"), JOB_ANY, &job));
    assert_non_null(strstr(job.problem, "WORLD_SIZE=(not set)"));
    assert_false(find(ENV("RANK=1", "WORLD_SIZE=2"), JOB_ANY, &job));
    assert_non_null(strstr(job.problem, "set MASTER_ADDR"));
}

static void first_hosts_of_node_lists(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"gpu7", "gpu7"}, {"gpu[03-07,9],cpu1", "gpu03"}, {"a,b", "a"}, {"node[12]", "node12"}, {"n[1,2]", "n1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char list[64];
        struct job job;
        (void)snprintf(list, sizeof list, "SLURM_STEP_NODELIST=%s", cases[i][0]);
        assert_true(find(ENV(SLURM("1", "2"), list), JOB_ANY, &job));
        assert_string_equal(job.heads[0], cases[i][1]);
    }
}

/* ---- the roll call ---- */

#define RANKS_MAX 6

static struct roll_call *ranks[RANKS_MAX];
static size_t count;

static struct roll_setup setup_of(uint32_t rank, uint32_t size)
{
    static uint64_t token;
    if (!rank)
        token = now_ns();
    return (struct roll_setup){.rank = rank,
                               .size = size,
                               .token = token,
                               .heads = {"localhost"},
                               .head_count = 1,
                               .arrive_ns = 1500000000,
                               .silence_ns = 1000000000,
                               .stamp = "library 1"};
}

static struct roll_call *enter(const struct roll_setup *setup)
{
    struct roll_call *roll = roll_begin(&kit, setup);
    assert_non_null(roll);
    return ranks[count++] = roll;
}

static void enter_all(uint32_t size)
{
    for (uint32_t rank = 0; rank < size; rank++) {
        struct roll_setup setup = setup_of(rank, size);
        setup.gift = rank ? NULL : "a gift";
        setup.gift_length = 7;
        (void)enter(&setup);
    }
}

static void turn(void)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i])
            roll_turn(ranks[i], NULL, 0, 1000000);
}

/* Until all that are left say so, at most three seconds. */
static void turn_until(bool (*is_so)(const struct roll_call *))
{
    for (uint64_t end = now_ns() + 3000000000u; now_ns() < end;) {
        size_t not_yet = 0;
        turn();
        for (size_t i = 0; i < count; i++)
            not_yet += ranks[i] && !is_so(ranks[i]);
        if (!not_yet)
            return;
    }
    fail_msg("not all ranks came to it");
}

static void all_say(enum trouble trouble, const char *about, const char *words)
{
    turn_until(roll_over);
    for (size_t i = 0; i < count; i++)
        if (ranks[i] &&
            (roll_verdict(ranks[i]) != trouble || strcmp(roll_ranks(ranks[i]), about) != 0 || !strstr(roll_reason(ranks[i]), words)))
            fail_msg("rank %zu says %d of '%s': %s", i, (int)roll_verdict(ranks[i]), roll_ranks(ranks[i]), roll_reason(ranks[i]));
}

static void leave(size_t rank)
{
    roll_end(ranks[rank]);
    ranks[rank] = NULL;
}

static int leave_all(void **state)
{
    for (size_t i = 0; i < count; i++)
        roll_end(ranks[i]);
    count = 0;
    return release(state);
}

static void all_arrive_and_are_done(void **state)
{
    (void)state;
    enter_all(4);
    turn_until(roll_present);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(roll_gift(ranks[i]), "a gift");
        roll_done(ranks[i]);
    }
    all_say(TROUBLE_NONE, "", "");
    assert_string_not_equal(roll_host(ranks[0], 3), "");
}

static void work_is_handed_out_and_answered(void **state)
{
    (void)state;
    enter_all(3);
    turn_until(roll_present);
    for (uint32_t number = 1; number <= 2; number++) {
        for (uint32_t rank = 0; rank < 3; rank++) {
            uint32_t work = 10 * number + rank;
            roll_hand_out(ranks[0], rank, number, &work, sizeof work);
        }
        size_t answers = 0;
        for (uint64_t end = now_ns() + 2000000000u; now_ns() < end && answers < 3;) {
            turn();
            for (size_t i = 0; i < 3; i++) {
                uint32_t given = 0, bytes[ROLL_GIFT_MAX / sizeof(uint32_t)];
                if (!roll_take(ranks[i], &given, bytes))
                    continue;
                assert_int_equal(given, number);
                assert_int_equal(bytes[0], 10 * number + i);
                bytes[0] *= 2;
                roll_answer(ranks[i], given, bytes, sizeof *bytes);
            }
            answers = 0;
            for (uint32_t rank = 0; rank < 3; rank++) {
                const uint32_t *answer = roll_answered(ranks[0], rank, number);
                answers += answer && *answer == 2 * (10 * number + rank);
            }
        }
        assert_int_equal(answers, 3);
    }
}

static void a_missing_rank(void **state)
{
    (void)state;
    enter_all(3);
    leave(2);
    all_say(TROUBLE_MISSING, "2", "rank 2 never arrived: of 3 ranks 2 checked in");
}

static void a_missing_rank_0(void **state)
{
    (void)state;
    enter_all(2);
    leave(0);
    all_say(TROUBLE_MISSING, "0", "rank 0 never arrived: nobody answered for it at localhost");
}

static void a_rank_that_ends(void **state)
{
    (void)state;
    enter_all(3);
    turn_until(roll_present);
    roll_step(ranks[1], 1, "the first step");
    turn();
    leave(1);
    all_say(TROUBLE_GONE, "1", "rank 1 ended in the first step");
}

static void a_rank_that_falls_silent(void **state)
{
    (void)state;
    enter_all(3);
    turn_until(roll_present);
    struct roll_call *silent = ranks[2];
    ranks[2] = NULL; /* it turns no more */
    all_say(TROUBLE_SILENT, "2", "rank 2 gave no sign of life");
    ranks[2] = silent;
}

static void a_trouble_is_told_to_all(void **state)
{
    (void)state;
    enter_all(3);
    turn_until(roll_present);
    roll_trouble(ranks[2], TROUBLE_FAILED, "a wrong sum");
    all_say(TROUBLE_FAILED, "2", "rank 2: a wrong sum");
}

static void a_rank_that_lags_behind_is_named(void **state)
{
    (void)state;
    enter_all(3);
    turn_until(roll_present);
    roll_step(ranks[0], 2, "the second step");
    roll_step(ranks[1], 1, "the first step");
    roll_step(ranks[2], 2, "the second step");
    for (int i = 0; i < 20; i++)
        turn();
    roll_trouble(ranks[2], TROUBLE_LATE, "it did not end");
    all_say(TROUBLE_LATE, "1", "rank 1 is still in the first step");
}

static void a_rank_of_another_library(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct roll_setup setup = setup_of(rank, 3);
        setup.stamp = rank == 1 ? "library 2" : setup.stamp;
        (void)enter(&setup);
    }
    all_say(TROUBLE_DIFFERS, "1", "rank 0 has library 1, rank 1 has library 2");
    assert_false(roll_present(ranks[0]));
}

static void two_of_one_rank(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 3; rank++) {
        struct roll_setup setup = setup_of(rank, 3);
        setup.rank = rank == 2 ? 1 : rank;
        (void)enter(&setup);
    }
    all_say(TROUBLE_CLASH, "1", "two processes say they are rank 1");
}

static void ranks_that_count_differently(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct roll_setup setup = setup_of(rank, 2 + rank);
        (void)enter(&setup);
    }
    all_say(TROUBLE_CLASH, "1", "rank 1 was told of 3 ranks, rank 0 of 2");
}

static void who_comes_again_is_no_second_one(void **state)
{
    (void)state;
    enter_all(3);
    struct roll_setup again = setup_of(1, 3);
    for (int i = 0; i < 20; i++)
        turn();
    leave(1); /* before all had arrived */
    (void)enter(&again);
    turn_until(roll_over);
    assert_int_equal(roll_verdict(ranks[0]), TROUBLE_GONE);
}

static void strangers_are_turned_away(void **state)
{
    (void)state;
    struct roll_setup first = setup_of(0, 2), other = setup_of(1, 2), stranger = other;
    (void)enter(&first);
    stranger.token++;
    stranger.port = (uint16_t)(20000 + first.token % 12000); /* where rank 0 listens, by roll_call.c */
    (void)enter(&stranger);
    for (int i = 0; i < 50; i++)
        turn();
    assert_false(roll_present(ranks[0]));
    (void)enter(&other);
    for (int i = 0; i < 200 && !roll_present(ranks[2]); i++)
        turn();
    assert_true(roll_present(ranks[0]) && roll_present(ranks[2]) && !roll_present(ranks[1]));
}

#define WITH_RANKS(test) cmocka_unit_test_teardown(test, leave_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launchers_are_recognised),
        cmocka_unit_test(what_is_no_job),
        cmocka_unit_test(first_hosts_of_node_lists),
        WITH_RANKS(all_arrive_and_are_done),
        WITH_RANKS(work_is_handed_out_and_answered),
        WITH_RANKS(a_missing_rank),
        WITH_RANKS(a_missing_rank_0),
        WITH_RANKS(a_rank_that_ends),
        WITH_RANKS(a_rank_that_falls_silent),
        WITH_RANKS(a_trouble_is_told_to_all),
        WITH_RANKS(a_rank_that_lags_behind_is_named),
        WITH_RANKS(a_rank_of_another_library),
        WITH_RANKS(two_of_one_rank),
        WITH_RANKS(ranks_that_count_differently),
        WITH_RANKS(who_comes_again_is_no_second_one),
        WITH_RANKS(strangers_are_turned_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

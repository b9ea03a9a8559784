/* The probe "nccl" on a fake driver and a fake NCCL: each fault is found and named, and costs no more than its deadline. */
#include "gpu_scenario.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WITH(nccl) "LD_LIBRARY_PATH=" FAKES "/driver:" FAKES "/" nccl
#define LIBRARIES WITH("nccl-current")
#define QUICK "init-seconds=1", "step-seconds=1"
#define TEST(function, ...)                                                   \
    static void function(void **state)                                        \
    {                                                                         \
        (void)state;                                                          \
        scenario_run(&(const struct scenario){.probe = "nccl", __VA_ARGS__}); \
    }

TEST(all_collectives_are_verified, .env = {LIBRARIES, "FAKE_GPU_COUNT=3"}, .status = PROBE_OK,
     .facts = {"nccl.world.size=3", "nccl.init.status=ok", "nccl.allreduce.status=ok", "nccl.broadcast.status=ok",
               "nccl.allgather.status=ok", "nccl.reducescatter.status=ok", "nccl.sendrecv.status=ok", "nccl.transport=P2P",
               "nccl.interface=eth0", "nccl.library.version=2.21.5", "nccl.library.path=" FAKES "/nccl-current/libnccl.so.2",
               "nccl.allreduce.4194304.busbw_gbytes_per_s~."},
     .evidence = "NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P", .log = "-> " FAKES "/nccl-current/libnccl.so.2")
TEST(one_gpu_is_enough, .env = {LIBRARIES, "FAKE_GPU_COUNT=1"}, .status = PROBE_OK,
     .facts = {"nccl.world.size=1", "nccl.sendrecv.status=ok", "!nccl.allreduce.8.busbw_gbytes_per_s"})
TEST(an_old_nccl_without_configuration, .env = {WITH("nccl-old"), "FAKE_NCCL_VERSION=21003"}, .status = PROBE_OK,
     .facts = {"nccl.library.version=2.10.3", "nccl.allreduce.status=ok",
               "nccl.library.missing=ncclGetLastError,ncclCommInitRankConfig,ncclCommFinalize"})
TEST(no_driver, .env = {"LD_LIBRARY_PATH=" FAKES "/driver"}, .params = {"libcuda=/nonexistent", "libnccl=" FAKES "/nccl-no-send"},
     .status = PROBE_UNAVAILABLE, .reason = {"NCCL 2.21.5 at " FAKES "/nccl-no-send/libnccl.so.2", "no libcuda.so.1"},
     .facts = {"nccl.library.candidates=1"})
TEST(no_nccl, .env = {LIBRARIES}, .params = {"libnccl=/nonexistent"}, .status = PROBE_UNAVAILABLE,
     .reason = {"no libnccl.so.2 at /nonexistent"}, .facts = {"nccl.library.candidates=0"})
TEST(no_device, .env = {LIBRARIES, "FAKE_GPU_COUNT=0"}, .status = PROBE_FAULT, .reason = {"CUDA_ERROR_NO_DEVICE"})
TEST(busy_device, .env = {LIBRARIES, "FAKE_GPU_BUSY=1"}, .status = PROBE_FAULT,
     .reason = {"communicator of 2 ranks", "CUDA_ERROR_DEVICE_UNAVAILABLE at rank 1"},
     .facts = {"nccl.init.status=CUDA_ERROR_DEVICE_UNAVAILABLE"})
TEST(a_library_without_functions, .env = {LIBRARIES}, .params = {"libnccl=" FAKES "/empty"}, .status = PROBE_FAULT,
     .reason = {"lacks ncclGetVersion", "/empty/libnccl.so.2"})
TEST(a_missing_symbol_costs_its_collective, .env = {WITH("nccl-no-send")}, .status = PROBE_FAULT,
     .reason = {"send/receive", "lacks ncclSend"},
     .facts = {"nccl.sendrecv.status=missing", "nccl.allreduce.status=ok", "nccl.library.missing=ncclSend"})
TEST(failing_pair_of_eight, .env = {LIBRARIES, "FAKE_GPU_COUNT=8", "FAKE_GPU_BAD_PAIR=2,5"}, .status = PROBE_FAULT,
     .reason = {"all-reduce of 8 bytes over 8 ranks", "ncclUnhandledCudaError", "uncorrectable NVLink error", "GPUs 2 and 5"},
     .facts = {"nccl.bad_pair=2,5", "nccl.devices_without_bad_pair=0,1,2,3,4,6,7", "nccl.allreduce.status=ncclUnhandledCudaError",
               "!nccl.bad_gpu"},
     .within = 3)
TEST(hanging_pair_of_four, .env = {LIBRARIES, "FAKE_GPU_COUNT=4", "FAKE_GPU_BAD_PAIR=0,3", "FAKE_NCCL_BAD_PAIR_HANGS=1"}, .params = {QUICK},
     .status = PROBE_FAULT, .reason = {"did not finish in time", "GPUs 0 and 3"},
     .facts = {"nccl.bad_pair=0,3", "nccl.allreduce.status=timed-out"})
TEST(failing_gpu_of_five, .env = {LIBRARIES, "FAKE_GPU_COUNT=5", "FAKE_NCCL_BAD_GPU=4"}, .status = PROBE_FAULT, .reason = {"with GPU 4"},
     .facts = {"nccl.bad_gpu=4", "nccl.devices_without_bad_gpu=0,1,2,3", "!nccl.bad_pair"})
TEST(good_devices_have_the_names_of_the_job, .env = {LIBRARIES, "FAKE_GPU_COUNT=8", "FAKE_NCCL_BAD_GPU=6", "CUDA_VISIBLE_DEVICES=7,6,5,4"},
     .status = PROBE_FAULT, .facts = {"nccl.bad_gpu=1", "nccl.devices_without_bad_gpu=7,5,4"})
TEST(without_the_bad_gpu_it_works, .env = {LIBRARIES, "FAKE_GPU_COUNT=8", "FAKE_NCCL_BAD_GPU=6"},
     .params = {"trial=CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,7"}, .status = PROBE_OK, .facts = {"nccl.world.size=7"})
TEST(bisecting_can_be_left_out, .env = {LIBRARIES, "FAKE_GPU_COUNT=4", "FAKE_GPU_BAD_PAIR=0,3"}, .params = {"bisect=0"},
     .status = PROBE_FAULT, .facts = {"!nccl.bad_pair", "!nccl.bisect.collectives"})
TEST(hang_in_init, .env = {LIBRARIES, "FAKE_NCCL_HANG_INIT=1"}, .params = {QUICK}, .status = PROBE_FAULT,
     .reason = {"communicator of 2 ranks", "did not finish in time", "still waiting"}, .facts = {"nccl.init.status=timed-out"},
     .within = 1.5)
TEST(hang_in_init_of_an_old_nccl, .env = {WITH("nccl-old"), "FAKE_NCCL_HANG_INIT=1"}, .params = {QUICK}, .status = PROBE_FAULT,
     .reason = {"does not come back from communicator"}, .facts = {"nccl.init.status=timed-out"}, .within = 1.7)
TEST(hang_in_the_third_collective, .env = {LIBRARIES, "FAKE_NCCL_HANG_OP=3"}, .params = {QUICK}, .status = PROBE_FAULT,
     .reason = {"all-reduce of 8 bytes", "did not finish in time", "rank 0,1"}, .facts = {"nccl.allreduce.status=timed-out"}, .within = 1.5)
TEST(an_abort_that_hangs, .env = {LIBRARIES, "FAKE_NCCL_HANG_OP=3", "FAKE_NCCL_ABORT_HANGS=1"}, .params = {QUICK}, .status = PROBE_FAULT,
     .reason = {"did not finish in time"}, .within = 2.6)
TEST(the_probes_own_deadline_holds, .env = {LIBRARIES, "FAKE_NCCL_HANG_OP=3"}, .timeout = 1.5, .status = PROBE_FAULT,
     .reason = {"did not finish in time"}, .within = 1.6)
TEST(wrong_sum, .env = {LIBRARIES, "FAKE_GPU_COUNT=2", "FAKE_NCCL_WRONG=1:700000"}, .status = PROBE_FAULT,
     .reason = {"all-reduce of 4194304 bytes", "rank 1", "element 700000: got 293, wanted 292", "1 of 1048576"},
     .facts = {"nccl.allreduce.status=wrong-result", "nccl.init.status=ok"})
TEST(system_error_without_a_setting, .env = {LIBRARIES, "FAKE_NCCL_NEEDS=NCCL_P2P_DISABLE=1"}, .status = PROBE_FAULT,
     .reason = {"ncclSystemError", "could not set up the channel"}, .facts = {"nccl.allreduce.status=ncclSystemError"},
     .evidence = "NCCL WARN transport/p2p.cc:272 could not set up")
TEST(the_setting_helps_as_a_trial, .env = {LIBRARIES, "FAKE_NCCL_NEEDS=NCCL_P2P_DISABLE=1"}, .params = {"trial=NCCL_P2P_DISABLE=1"},
     .status = PROBE_OK, .facts = {"nccl.allreduce.status=ok", "nccl.transport=SHM", "nccl.trial=NCCL_P2P_DISABLE=1"})
TEST(a_trial_of_two_settings, .env = {LIBRARIES}, .params = {"trial=NCCL_P2P_DISABLE=1,NCCL_SHM_DISABLE=1"}, .status = PROBE_OK,
     .facts = {"nccl.transport=NET/Socket"})
TEST(a_name_that_selects_no_interface, .env = {LIBRARIES, "NCCL_SOCKET_IFNAME=ib9"}, .status = PROBE_FAULT,
     .reason = {"ncclInternalError", "no socket interface found"}, .facts = {"nccl.init.status=ncclInternalError"})
TEST(the_wrong_interface_is_named, .env = {LIBRARIES, "FAKE_NCCL_IFACES=docker0:172.17.0.1,eth0:10.0.0.5", "FAKE_NCCL_REACHABLE=eth0"},
     .status = PROBE_FAULT, .reason = {"ncclSystemError", "No route to host", "docker0 (172.17.0.1)"}, .facts = {"nccl.interface=docker0"})
TEST(the_right_interface_helps, .env = {LIBRARIES, "FAKE_NCCL_IFACES=docker0:172.17.0.1,eth0:10.0.0.5", "FAKE_NCCL_REACHABLE=eth0"},
     .params = {"trial=NCCL_SOCKET_IFNAME=^docker,lo"}, .status = PROBE_OK, .facts = {"nccl.interface=eth0"})
TEST(two_ranks_on_one_gpu, .env = {LIBRARIES}, .params = {"devices=1,1"}, .status = PROBE_FAULT,
     .reason = {"ncclInvalidUsage", "two on one GPU", "Duplicate GPU detected"})
TEST(a_device_that_is_not_there, .env = {LIBRARIES}, .params = {"devices=0,2"}, .status = PROBE_UNAVAILABLE, .reason = {"'0,2'", "0 to 1"})
TEST(ranks_that_contradict, .env = {LIBRARIES, "RANK=4", "WORLD_SIZE=4", "MASTER_ADDR=127.0.0.1"}, .status = PROBE_UNAVAILABLE,
     .reason = {"RANK=4 and WORLD_SIZE=4"})
TEST(a_job_without_a_master, .env = {LIBRARIES, "RANK=0", "WORLD_SIZE=2"}, .status = PROBE_UNAVAILABLE, .reason = {"set MASTER_ADDR"})
TEST(local_scope_ignores_the_launcher, .env = {LIBRARIES, "RANK=0", "WORLD_SIZE=2"}, .params = {"scope=local"}, .status = PROBE_OK,
     .facts = {"nccl.world.size=2"})
TEST(more_ranks_than_gpus, .env = {LIBRARIES, "RANK=2", "LOCAL_RANK=2", "WORLD_SIZE=4", "MASTER_ADDR=127.0.0.1"}, .status = PROBE_FAULT,
     .reason = {"rank 2", "shows 2 GPUs"})

#ifdef REAL_NCCL /* NCCL itself, as far as it goes without a GPU */
TEST(the_real_library_without_a_driver, .env = {"LD_LIBRARY_PATH="}, .params = {"libnccl=" REAL_NCCL, "libcuda=/nonexistent"},
     .status = PROBE_UNAVAILABLE, .reason = {"NCCL 2.", "/libnccl.so.2", "no libcuda.so.1"}, .facts = {"nccl.library.version~2."})
TEST(the_real_library_on_a_fake_driver, .env = {"LD_LIBRARY_PATH=" FAKES "/driver", "NCCL_SOCKET_IFNAME=lo"},
     .params = {"libnccl=" REAL_NCCL}, .status = PROBE_FAULT, .reason = {"communicator of 2 ranks: nccl", "NCCL says: Cuda failure"},
     .facts = {"nccl.interface=lo", "nccl.address=127.0.0.1", "nccl.warning~Cuda failure"}, .evidence = "NCCL INFO Bootstrap")
TEST(the_real_library_names_a_bad_interface, .env = {"LD_LIBRARY_PATH=" FAKES "/driver", "NCCL_SOCKET_IFNAME=dtkbnone0"},
     .params = {"libnccl=" REAL_NCCL}, .status = PROBE_FAULT, .reason = {"ncclGetUniqueId: nccl"},
     .facts = {"nccl.warning~socket interface"})
#endif

static void the_pair_costs_six_collectives_at_most(void **state)
{
    (void)state;
    char journal[] = "/tmp/dtkb-journal-XXXXXX", variable[64], line[64];
    int fd = mkstemp(journal);
    assert_true(fd >= 0);
    (void)close(fd);
    (void)snprintf(variable, sizeof variable, "FAKE_NCCL_JOURNAL=%s", journal);
    scenario_run(&(const struct scenario){.probe = "nccl",
                                          .env = {LIBRARIES, "FAKE_GPU_COUNT=8", "FAKE_GPU_BAD_PAIR=3,7", variable},
                                          .status = PROBE_FAULT,
                                          .facts = {"nccl.bad_pair=3,7"}});
    FILE *file = fopen(journal, "r");
    int smaller = 0;
    while (fgets(line, sizeof line, file))
        smaller += !strstr(line, "over 8 ranks");
    (void)fclose(file);
    (void)unlink(journal);
    assert_in_range(smaller, 1, 6);
}

/* ---- ranks as processes ---- */

static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
                getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}

struct texts {
    char rank[4][32], local[4][32], size[32], port[32];
};

/* Fills env and parameters of `count` ranks of a job of `size`; what the scenario has already stays. */
static void make_job(struct scenario *ranks, struct texts *texts, int count, int size)
{
    (void)snprintf(texts->size, sizeof texts->size, "WORLD_SIZE=%d", size);
    (void)snprintf(texts->port, sizeof texts->port, "port=%d", free_port());
    for (int i = 0; i < count; i++) {
        (void)snprintf(texts->rank[i], sizeof texts->rank[i], "RANK=%d", i);
        (void)snprintf(texts->local[i], sizeof texts->local[i], "LOCAL_RANK=%d", i);
        const char *env[] = {LIBRARIES, "MASTER_ADDR=localhost", "FAKE_GPU_COUNT=4", texts->rank[i], texts->local[i], texts->size};
        ranks[i].probe = "nccl";
        for (size_t e = 0; e < sizeof env / sizeof *env; e++)
            ranks[i].env[e] = env[e];
        ranks[i].params[0] = texts->port;
        ranks[i].params[1] = "meet-seconds=3";
        ranks[i].params[2] = "step-seconds=2";
        ranks[i].params[3] = "init-seconds=2";
    }
}
#define EXTRA 6 /* the first free place in env */

static void four_ranks_meet_and_verify(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[4] = {0};
    make_job(ranks, &texts, 4, 4);
    for (int i = 0; i < 4; i++)
        ranks[i].facts[0] = "nccl.allreduce.status=ok", ranks[i].facts[1] = "nccl.sendrecv.status=ok",
        ranks[i].facts[2] = "nccl.world.size=4";
    ranks[3].facts[3] = "nccl.rank=3";
    scenario_run_all(ranks, 4);
}

static void a_missing_rank_is_named_by_all(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[3] = {0};
    make_job(ranks, &texts, 2, 4); /* 2 and 3 never come */
    for (int i = 0; i < 2; i++) {
        ranks[i].status = PROBE_FAULT;
        ranks[i].reason[0] = "ranks 2,3 never arrived";
        ranks[i].reason[1] = "of 4 ranks 2 checked in within 3 s";
        ranks[i].facts[0] = "nccl.missing_ranks=2,3";
        ranks[i].facts[1] = "nccl.init.status=not-met";
        ranks[i].within = 4;
    }
    scenario_run_all(ranks, 2);
}

static void a_missing_rank_0_is_named(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[2] = {0};
    make_job(ranks, &texts, 2, 2);
    ranks[1].status = PROBE_FAULT;
    ranks[1].reason[0] = "rank 0 never arrived: nobody answered for it at localhost";
    ranks[1].reason[1] = "Connection refused";
    ranks[1].facts[0] = "nccl.missing_ranks=0";
    ranks[1].within = 4;
    scenario_run_all(&ranks[1], 1);
}

static void ranks_of_different_versions(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[3] = {0};
    make_job(ranks, &texts, 3, 3);
    ranks[2].env[EXTRA] = "FAKE_NCCL_VERSION=22809";
    for (int i = 0; i < 3; i++) {
        ranks[i].status = PROBE_FAULT;
        ranks[i].reason[0] = "rank 0 has NCCL 2.21.5, rank 2 has NCCL 2.28.9";
        ranks[i].facts[0] = "nccl.version_mismatch=2";
    }
    scenario_run_all(ranks, 3);
}

static void one_of_three_hangs_in_init(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[3] = {0};
    make_job(ranks, &texts, 3, 3);
    ranks[1].env[EXTRA] = "FAKE_NCCL_HANG_INIT=1";
    for (int i = 0; i < 3; i++) {
        ranks[i].status = PROBE_FAULT;
        ranks[i].reason[0] = "communicator of 3 ranks: it did not finish in time";
        ranks[i].params[4] = "bisect=0"; /* the search has tests of its own */
        ranks[i].within = 5;
    }
    scenario_run_all(ranks, 3);
}

static void two_processes_with_one_rank(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[3] = {0};
    make_job(ranks, &texts, 3, 3);
    ranks[2].env[3] = texts.rank[1];
    for (int i = 0; i < 3; i++) {
        ranks[i].status = PROBE_FAULT;
        ranks[i].reason[0] = "two processes say they are rank 1";
    }
    scenario_run_all(ranks, 3);
}

static void rank_0_tells_why_there_is_no_id(void **state)
{
    (void)state;
    struct texts texts;
    struct scenario ranks[2] = {0};
    make_job(ranks, &texts, 2, 2);
    ranks[0].env[EXTRA] = "NCCL_SOCKET_IFNAME=ib9";
    for (int i = 0; i < 2; i++) {
        ranks[i].status = PROBE_FAULT;
        ranks[i].reason[0] = "no socket interface found";
    }
    scenario_run_all(ranks, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_collectives_are_verified),
        cmocka_unit_test(one_gpu_is_enough),
        cmocka_unit_test(an_old_nccl_without_configuration),
        cmocka_unit_test(no_driver),
        cmocka_unit_test(no_nccl),
        cmocka_unit_test(no_device),
        cmocka_unit_test(busy_device),
        cmocka_unit_test(a_library_without_functions),
        cmocka_unit_test(a_missing_symbol_costs_its_collective),
        cmocka_unit_test(failing_pair_of_eight),
        cmocka_unit_test(hanging_pair_of_four),
        cmocka_unit_test(failing_gpu_of_five),
        cmocka_unit_test(good_devices_have_the_names_of_the_job),
        cmocka_unit_test(without_the_bad_gpu_it_works),
        cmocka_unit_test(bisecting_can_be_left_out),
        cmocka_unit_test(the_pair_costs_six_collectives_at_most),
        cmocka_unit_test(hang_in_init),
        cmocka_unit_test(hang_in_init_of_an_old_nccl),
        cmocka_unit_test(hang_in_the_third_collective),
        cmocka_unit_test(an_abort_that_hangs),
        cmocka_unit_test(the_probes_own_deadline_holds),
        cmocka_unit_test(wrong_sum),
        cmocka_unit_test(system_error_without_a_setting),
        cmocka_unit_test(the_setting_helps_as_a_trial),
        cmocka_unit_test(a_trial_of_two_settings),
        cmocka_unit_test(a_name_that_selects_no_interface),
        cmocka_unit_test(the_wrong_interface_is_named),
        cmocka_unit_test(the_right_interface_helps),
        cmocka_unit_test(two_ranks_on_one_gpu),
        cmocka_unit_test(a_device_that_is_not_there),
        cmocka_unit_test(ranks_that_contradict),
        cmocka_unit_test(a_job_without_a_master),
        cmocka_unit_test(local_scope_ignores_the_launcher),
        cmocka_unit_test(more_ranks_than_gpus),
#ifdef REAL_NCCL
        cmocka_unit_test(the_real_library_without_a_driver),
        cmocka_unit_test(the_real_library_on_a_fake_driver),
        cmocka_unit_test(the_real_library_names_a_bad_interface),
#endif
        cmocka_unit_test(four_ranks_meet_and_verify),
        cmocka_unit_test(a_missing_rank_is_named_by_all),
        cmocka_unit_test(a_missing_rank_0_is_named),
        cmocka_unit_test(ranks_of_different_versions),
        cmocka_unit_test(one_of_three_hangs_in_init),
        cmocka_unit_test(two_processes_with_one_rank),
        cmocka_unit_test(rank_0_tells_why_there_is_no_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

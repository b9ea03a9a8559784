/* The parts of the NCCL probe that need no library: bisecting, NCCL's log, library files. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "library.h"
#include "seek.h"
#include "transcript.h"

/* ---- bisecting ---- */

static unsigned tests_for(int devices, uint32_t culprit)
{
    struct bisect bisect;
    uint32_t subset;
    bisect_start(&bisect, devices);
    while ((subset = bisect_next(&bisect)) != 0) {
        assert_true(__builtin_popcount(subset) >= 2 && subset < 1u << devices);
        bisect_tell(&bisect, subset, (culprit & ~subset) == 0);
        assert_in_range(bisect.tests, 1, 12);
    }
    assert_int_equal(bisect_culprit(&bisect), culprit);
    return bisect.tests;
}

static void every_culprit_is_found(void **state)
{
    (void)state;
    for (int devices = 4; devices <= BISECT_DEVICES_MAX; devices++)
        for (int a = 0; a < devices; a++)
            for (int b = a; b < devices; b++) {
                unsigned tests = tests_for(devices, 1u << a | 1u << b);
                assert_in_range(tests, 1, devices <= 8 ? 6 : 8);
            }
}

static void a_fault_of_all_or_none_is_no_culprit(void **state)
{
    (void)state;
    for (int fails = 0; fails <= 1; fails++) {
        struct bisect bisect;
        uint32_t subset;
        bisect_start(&bisect, 8);
        while ((subset = bisect_next(&bisect)) != 0)
            bisect_tell(&bisect, subset, fails);
        assert_int_equal(bisect_culprit(&bisect), 0);
        assert_in_range(bisect.tests, 1, 7);
    }
}

/* ---- searching among ranks ---- */

/* A job with a fault: does a group that has both of the ranks fail? */
struct fault {
    uint32_t first, second; /* the same: this rank fails with any other */
    bool between_hosts;     /* no: any two ranks of different hosts */
};

static bool fails(const struct seek *seek, const struct fault *fault, uint32_t group)
{
    bool first = false, second = false;
    uint32_t members = 0, host = UINT32_MAX;
    bool hosts = false;
    for (uint32_t rank = 0; rank < seek->ranks; rank++) {
        if (seek->group[rank] != (int32_t)group)
            continue;
        members++;
        hosts = hosts || (host != UINT32_MAX && seek->host[rank] != host);
        host = seek->host[rank];
        first = first || rank == fault->first;
        second = second || rank == fault->second;
    }
    assert_true(members >= 2);
    return fault->between_hosts ? hosts : first && second;
}

static void search(struct seek *seek, uint32_t ranks, uint32_t each, const struct fault *fault)
{
    uint32_t hosts[64];
    for (uint32_t rank = 0; rank < ranks; rank++)
        hosts[rank] = rank / each * each;
    seek_start(seek, ranks, hosts);
    while (seek_next(seek)) {
        bool failed[SEEK_GROUPS_MAX] = {false};
        for (uint32_t group = 0; group < seek->group_count; group++)
            failed[group] = fails(seek, fault, group);
        seek_tell(seek, failed);
        assert_in_range(seek->rounds, 1, 12);
    }
}

static void every_rank_and_pair_is_sought_out(void **state)
{
    (void)state;
    static const uint32_t each[] = {1, 2, 3, 4, 8, 64};
    struct seek *seek = malloc(sizeof *seek);
    assert_non_null(seek);
    for (uint32_t ranks = 3; ranks <= 33; ranks++)
        for (size_t e = 0; e < sizeof each / sizeof *each; e++)
            for (uint32_t a = 0; a < ranks; a++)
                for (uint32_t b = a; b < ranks; b++) {
                    const struct fault fault = {a, b, false};
                    uint32_t bits = 0;
                    while (1u << bits < ranks)
                        bits++;
                    search(seek, ranks, each[e], &fault);
                    if (seek->culprit_count != 1u + (a != b) || seek->culprits[0] != a || (a != b && seek->culprits[1] != b) ||
                        seek->several || seek->rounds > bits + 5)
                        fail_msg("%u ranks, %u a host, fault of %u and %u: %u culprits %u %u in %u rounds", ranks, each[e], a, b,
                                 seek->culprit_count, seek->culprits[0], seek->culprits[1], seek->rounds);
                }
    free(seek);
}

static void a_network_that_fails_between_hosts(void **state)
{
    (void)state;
    struct seek *seek = malloc(sizeof *seek);
    const struct fault fault = {.between_hosts = true};
    assert_non_null(seek);
    for (uint32_t ranks = 4; ranks <= 32; ranks += 4) {
        search(seek, ranks, ranks / 2, &fault);
        assert_int_equal(seek->culprit_count, 2);
        assert_true(seek->host[seek->culprits[0]] != seek->host[seek->culprits[1]]);
        assert_in_range(seek->rounds, 1, 5);
        assert_false(seek->several);
    }
    search(seek, 16, 4, &fault); /* four hosts, no two of which can */
    assert_int_equal(seek->culprit_count, 2);
    assert_true(seek->several);
    free(seek);
}

static void a_fault_of_no_rank_or_pair(void **state)
{
    (void)state;
    struct seek *seek = malloc(sizeof *seek);
    const struct fault none = {UINT32_MAX, UINT32_MAX, false};
    assert_non_null(seek);
    for (uint32_t ranks = 3; ranks <= 20; ranks++) {
        search(seek, ranks, 4, &none);
        assert_int_equal(seek->culprit_count, 0);
    }
    free(seek);
}

/* ---- NCCL's log ---- */

static void choices_are_read_from_the_log(void **state)
{
    (void)state;
    struct nccl_choices choices;
    transcript_read("n:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.5<0>\n"
                    "n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB ib0:10.1.0.5<0>\n"
                    "n:1:2 [0] NCCL INFO Using network IB\n"
                    "n:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
                    "n:1:2 [0] NCCL INFO Channel 01/0 : 7[7] -> 8[0] [send] via NET/IB/0/GDRDMA\n"
                    "\nn:1:2 [0] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error\n",
                    &choices);
    assert_string_equal(choices.transports, "NET/IB,P2P");
    assert_string_equal(choices.network, "IB");
    assert_string_equal(choices.interface, "ib0");
    assert_string_equal(choices.address, "10.1.0.5");
    assert_string_equal(choices.devices, "mlx5_0:1/IB,mlx5_1:1/RoCE");
    assert_string_equal(choices.last_warning, "NET/IB : Got async event : port error");
    transcript_read("n:1:1 [0] NCCL INFO NET/Socket : Using [0]eno1:fe80::1%eno1<0> [1]eth1:1.2.3.4<0>\r\n"
                    "n [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\nn [0] NCCL INFO Channel 00 : 1 -> 2 via NET/Socket/0",
                    &choices);
    assert_string_equal(choices.transports, "NET/Socket,SHM");
    assert_string_equal(choices.interface, "eno1");
    assert_string_equal(choices.address, "fe80::1%eno1");
    transcript_read("", &choices);
    assert_string_equal(choices.transports, "");
    transcript_read("NCCL INFO NET/Socket : Using [", &choices); /* cut off */
    assert_string_equal(choices.interface, "");
    transcript_read("NCCL INFO NET/IB : Using [0]", &choices);
    assert_string_equal(choices.devices, "");
}

/* ---- files ---- */

static void versions_come_from_names_and_contents(void **state)
{
    (void)state;
    char version[32];
    library_file_version("/x/libnccl.so.2.21.5", NULL, version, sizeof version);
    assert_string_equal(version, "2.21.5");
    library_file_version("/x/libnccl.so.2", NULL, version, sizeof version);
    assert_string_equal(version, "");
    library_file_version(FAKES "/nccl-current/libnccl.so.2", "NCCL version ", version, sizeof version); /* a format, no version */
    assert_string_equal(version, "");
    library_file_version("/proc/self/exe", "a marker of this test: ", version, sizeof version);
    assert_string_equal(version, "1.2.3");
    library_file_version(FACTS_XML, "NCCL version ", version, sizeof version); /* no library at all */
    assert_string_equal(version, "");
}
extern const char marker[];
const char marker[] = "a marker of this test: 1.2.3";

static void count(void *context, const char *path)
{
    *(int *)context += path[0] == '/';
}

static void the_loader_cache_is_read(void **state)
{
    (void)state;
    int found = 0;
    library_in_loader_cache("/etc/ld.so.cache", "libc.so.6", count, &found);
    assert_true(found > 0);
    found = 0;
    library_in_loader_cache(FACTS_XML, "*", count, &found);
    library_in_loader_cache("/nonexistent", "*", count, &found);
    library_in_loader_cache("/dev/null", "*", count, &found);
    assert_int_equal(found, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_culprit_is_found),
        cmocka_unit_test(a_fault_of_all_or_none_is_no_culprit),
        cmocka_unit_test(every_rank_and_pair_is_sought_out),
        cmocka_unit_test(a_network_that_fails_between_hosts),
        cmocka_unit_test(a_fault_of_no_rank_or_pair),
        cmocka_unit_test(choices_are_read_from_the_log),
        cmocka_unit_test(versions_come_from_names_and_contents),
        cmocka_unit_test(the_loader_cache_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

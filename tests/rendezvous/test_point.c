/* The point where ranks meet: who listens, who answers, who does not. */
#include <setjmp.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "point.h"

static const char *no_param(const dtkb_call_v1 *call, const char *name)
{
    (void)call;
    (void)name;
    return NULL;
}

static enum point_status find(struct point *point, const char *address, unsigned port, uint64_t token)
{
    static char texts[2][300];
    (void)snprintf(texts[0], sizeof texts[0], "MASTER_ADDR=%s", address);
    (void)snprintf(texts[1], sizeof texts[1], "MASTER_PORT=%u", port);
    const char *const env[] = {texts[0], texts[1], NULL};
    const dtkb_host_v1 host = {.struct_size = sizeof host, .param = no_param};
    const dtkb_call_v1 call = {.struct_size = sizeof call, .env = env};
    const struct kit kit = {.host = &host, .call = &call};
    return point_find(point, &kit, "localhost", token);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Knocks until there is an answer; `host` opens meanwhile, unless NULL. */
static enum point_status knock(struct point *guest, const struct point *host)
{
    enum point_status status = POINT_STATUSES;
    while (!point_knock(guest, now_ns(), &status)) {
        if (host)
            point_serve(host);
        (void)usleep(1000);
    }
    return status;
}

/* A port that was free a moment ago. */
static uint16_t free_port(void)
{
    struct sockaddr_in6 address;
    socklen_t size = sizeof address;
    int fd = point_open(0);
    assert_true(fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    (void)close(fd);
    return ntohs(address.sin6_port);
}

static void rank_0_answers(void **state)
{
    (void)state;
    static const char *const addresses[] = {"127.0.0.1", "localhost", "127.0.0.9"};
    struct point host, guest;
    const uint16_t port = free_port();
    assert_int_equal(find(&host, "localhost", port, 7), POINT_OK);
    assert_int_equal(point_listen(&host), POINT_OK);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        assert_int_equal(find(&guest, addresses[i], port, 7), POINT_OK);
        assert_int_equal(knock(&guest, &host), POINT_OK);
        point_close(&guest);
    }
    point_close(&host);
}

static void another_job_answers(void **state)
{
    (void)state;
    struct point host, guest;
    const uint16_t port = free_port();
    (void)find(&host, "127.0.0.1", port, 7);
    assert_int_equal(point_listen(&host), POINT_OK);
    (void)find(&guest, "127.0.0.1", port, 8);
    assert_int_equal(knock(&guest, &host), POINT_WRONG_PEER);
    point_close(&guest);
    (void)find(&guest, "127.0.0.1", port, 7);
    assert_int_equal(knock(&guest, NULL), POINT_WRONG_PEER); /* it lets us in and says nothing */
    point_close(&guest);
    point_close(&host);
}

static void nobody_answers(void **state)
{
    (void)state;
    struct point guest;
    (void)find(&guest, "127.0.0.1", free_port(), 7);
    assert_int_equal(knock(&guest, NULL), POINT_REFUSED);
    point_close(&guest);
}

static void the_port_is_taken(void **state)
{
    (void)state;
    struct point first, second;
    const uint16_t port = free_port();
    (void)find(&first, "127.0.0.1", port, 7);
    (void)find(&second, "127.0.0.1", port, 7);
    assert_int_equal(point_listen(&first), POINT_OK);
    assert_int_equal(point_listen(&second), POINT_IN_USE);
    point_close(&first);
    assert_int_equal(point_listen(&second), POINT_OK);
    point_close(&second);
}

static void what_is_no_place(void **state)
{
    (void)state;
    struct point point;
    assert_int_equal(find(&point, "127.0.0.1", 0, 7), POINT_BAD_PORT);
    assert_int_equal(find(&point, "127.0.0.1", 65536, 7), POINT_BAD_PORT);
    assert_int_equal(find(&point, "no-such-host.invalid", 29500, 7), POINT_UNRESOLVED);
    assert_int_equal(knock(&point, NULL), POINT_UNRESOLVED);
}

static void own_addresses(void **state)
{
    (void)state;
    struct point point;
    (void)find(&point, "127.0.0.1", 29500, 7);
    assert_true(point_is_here(&point));
    (void)find(&point, "198.51.100.7", 29500, 7);
    assert_false(point_is_here(&point));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_0_answers),    cmocka_unit_test(another_job_answers), cmocka_unit_test(nobody_answers),
        cmocka_unit_test(the_port_is_taken), cmocka_unit_test(what_is_no_place),    cmocka_unit_test(own_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

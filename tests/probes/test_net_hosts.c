/* The net probe between two hosts: network namespaces joined by a veth pair. This process is the worker; a child is the host that
 * MASTER_ADDR names, and listens there. Skipped where namespaces are not allowed or `ip` is absent. */
#include "fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MASTER "10.77.0.1"
#define OPEN_PORT "29500"
#define CLOSED_PORT "29501"
#define HERE "etc=/nowhere", "run=/nowhere", "hostname=10.77.0.2"

static pid_t master;
static char why_not[128];

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        (void)close(fd);
    return good;
}

static bool shell(const char *command)
{
    char line[512];
    (void)snprintf(line, sizeof line, "%.400s 2>/dev/null", command);
    return system(line) == 0;
}

static bool on_master(const char *command)
{
    char line[256];
    (void)snprintf(line, sizeof line, "nsenter -n -t %d %s", (int)master, command);
    return shell(line);
}

/* The master: a namespace of its own, and once told that its interface is there, a listener. Lives until this process ends. */
static int be_master(int ready, int go)
{
    char byte = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWNET) || write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1)
        return 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(OPEN_PORT))};
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) || listen(fd, 64) || write(ready, &byte, 1) != 1)
        return 1;
    for (;;)
        (void)pause();
}

static bool start_master(void)
{
    int ready[2], go[2];
    char byte, command[128];
    if (pipe(ready) || pipe(go) || (master = fork()) < 0)
        return false;
    if (!master)
        _exit(be_master(ready[1], go[0]));
    if (read(ready[0], &byte, 1) != 1)
        return false;
    (void)snprintf(command, sizeof command, "ip link add job0 type veth peer name job1 netns %d", (int)master);
    return shell(command) && shell("ip link set lo up") && shell("ip addr add 10.77.0.2/24 dev job0") && shell("ip link set job0 up") &&
           on_master("ip addr add " MASTER "/24 dev job1") && on_master("ip link set job1 up") && on_master("ip link set lo up") &&
           write(go[1], &byte, 1) == 1 && read(ready[0], &byte, 1) == 1;
}

/* A network namespace of our own: root may have one, others through a user namespace in which they are root. */
static bool leave_the_network(void)
{
    if (!unshare(CLONE_NEWNET))
        return true;
    char map[64];
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
        return false;
    (void)write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)user);
    bool mapped = write_file("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)group);
    return mapped && write_file("/proc/self/gid_map", map);
}

static int make_hosts(void **state)
{
    (void)state;
    struct stat folder;
    if (!leave_the_network())
        (void)snprintf(why_not, sizeof why_not, "no network namespace: %s", strerror(errno));
    else if (stat(PLUGINS, &folder) || (folder.st_uid != 0 && folder.st_uid != getuid()))
        (void)snprintf(why_not, sizeof why_not,
                       "the plugins belong to a user whom our namespace does not know: build and test as one user");
    else if (!start_master())
        (void)snprintf(why_not, sizeof why_not, "no veth pair between two namespaces: is iproute2 installed?");
    return 0;
}

static int end_hosts(void **state)
{
    (void)state;
    if (master > 0) {
        (void)kill(master, SIGKILL);
        (void)waitpid(master, NULL, 0);
    }
    return 0;
}

static int set_up(void **state)
{
    if (*why_not)
        return 0;
    (void)shell("ip link set job0 up mtu 1500");
    (void)on_master("ip link set job1 mtu 1500");
    (void)on_master("ip route del blackhole 10.77.0.2/32");
    for (int i = 0; i < 200 && !shell("ip -o link show job0 | grep -q 'state UP'"); i++) /* the kernel takes up to a second to say so */
        (void)usleep(10000);
    return tree_start(state);
}

static int tear_down(void **state)
{
    return *why_not ? 0 : tree_end(state);
}

static void need_hosts(void)
{
    if (*why_not) {
        print_message("skipped: %s\n", why_not);
        skip();
    }
}

/* What the command line makes of the network as it is now: the cause that it names first. */
static void cause_is(const char *variables, const char *cause)
{
    char line[1024];
    (void)snprintf(line, sizeof line, "env DTKB_KB=%s DTKB_PLUGIN_PATH=%s %s %s probe net --set hostname=10.77.0.2 --json 2>/dev/null", KB,
                   PLUGINS, variables, DTKB);
    FILE *pipe = popen(line, "re");
    assert_non_null(pipe);
    json_error_t error;
    json_t *report = json_loadf(pipe, 0, &error);
    (void)pclose(pipe);
    if (!report)
        fail_msg("%s: %s", line, error.text);
    const char *first = json_string_value(json_object_get(json_array_get(json_object_get(report, "causes"), 0), "id"));
    if (!first || strcmp(first, cause) != 0)
        fail_msg("%s names the cause %s first, not %s", line, first ? first : "(none)", cause);
    json_decref(report);
}

static void a_port_that_answers(void **state)
{
    (void)state;
    need_hosts();
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" OPEN_PORT, "$NCCL_SOCKET_IFNAME=job");
    status_is(PROBE_OK, "");
    fact_is_bool("net.master.resolves", true);
    fact_is_bool("net.master.is_local", false);
    fact_is_bool("net.master.port_reachable", true);
    fact_is_bool("net.master.port_refused", false);
    fact_is_string("net.master.port_status", "connected");
    fact_is_string("net.master.route_iface", "job0");
    fact_is_u64("net.master.route_mtu", 1500);
    fact_is_u64("net.master.peer_mtu", 1500);
    fact_is_bool("net.master.mtu_mismatch", false);
    fact_is_bool("net.nccl.ifname_matches", true);
    fact_is_string("net.nccl.pick", "job0");
    fact_is_string("net.gloo.pick", "10.77.0.2");
}

static void a_port_where_nobody_listens(void **state)
{
    (void)state;
    need_hosts();
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" CLOSED_PORT);
    status_is(PROBE_OK, ""); /* rank 0 may not have started */
    fact_is_bool("net.master.port_reachable", false);
    fact_is_bool("net.master.port_refused", true);
    fact_is_string("net.master.port_status", "refused");
}

static void a_blocked_port(void **state)
{
    (void)state;
    need_hosts();
    assert_true(on_master("ip route add blackhole 10.77.0.2/32")); /* its answers are dropped */
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" OPEN_PORT);
    status_is(PROBE_FAULT, "does not answer within 200 ms");
    fact_is_bool("net.master.port_reachable", false);
    fact_is_bool("net.master.port_refused", false);
    fact_is_string("net.master.port_status", "timed-out");
    assert_true(ran.result->seconds < 0.45);
    cause_is("MASTER_ADDR=" MASTER " MASTER_PORT=" OPEN_PORT, "connect-timed-out-firewall");
}

static void a_host_without_a_route(void **state)
{
    (void)state;
    need_hosts();
    RUN("net", HERE, "$MASTER_ADDR=198.51.100.1", "$MASTER_PORT=" OPEN_PORT);
    status_is(PROBE_FAULT, "is unreachable from here");
    fact_is_string("net.master.port_status", "unreachable");
    cause_is("MASTER_ADDR=198.51.100.1 MASTER_PORT=" OPEN_PORT, "peer-unreachable");
}

static void a_name_that_does_not_resolve(void **state)
{
    (void)state;
    need_hosts();
    RUN("net", HERE, "$MASTER_ADDR=rank0.invalid", "$MASTER_PORT=" OPEN_PORT);
    status_is(PROBE_FAULT, "MASTER_ADDR=rank0.invalid does not resolve");
    fact_is_bool("net.master.resolves", false);
    no_fact("net.master.port_reachable");
    cause_is("MASTER_ADDR=rank0.invalid MASTER_PORT=" OPEN_PORT, "host-name-unresolved");
}

static void an_interface_that_is_down(void **state)
{
    (void)state;
    need_hosts();
    assert_true(shell("ip link set job0 down"));
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" OPEN_PORT, "$NCCL_SOCKET_IFNAME=job0", "$GLOO_SOCKET_IFNAME=job0");
    status_is(PROBE_FAULT, "NCCL_SOCKET_IFNAME=job0 selects job0, which is down");
    fact_is_bool("net.iface.job0.up", false);
    fact_is_bool("net.nccl.ifname_matches", false);
    fact_is_bool("net.gloo.ifname_matches", false);
    fact_is_string("net.master.port_status", "unreachable");
    fact_is_u64("net.iface.count_usable", 0);
    cause_is("NCCL_SOCKET_IFNAME=job0", "nccl-interface-unusable");
    cause_is("GLOO_SOCKET_IFNAME=job0", "gloo-interface-unusable");
}

static void an_interface_that_is_not_there(void **state)
{
    (void)state;
    need_hosts();
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" OPEN_PORT, "$NCCL_SOCKET_IFNAME=eth7");
    status_is(PROBE_FAULT, "NCCL_SOCKET_IFNAME=eth7 selects no interface with an address; up with an address here: lo,job0");
    fact_is_bool("net.nccl.ifname_matches", false);
    no_fact("net.nccl.pick");
    cause_is("NCCL_SOCKET_IFNAME=eth7", "nccl-interface-unusable");
}

static void a_small_mtu_of_the_other_host(void **state)
{
    (void)state;
    need_hosts();
    assert_true(on_master("ip link set job1 mtu 900"));
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" OPEN_PORT);
    fact_is_bool("net.master.mtu_mismatch", true);
    fact_is_u64("net.master.peer_mtu", 900);
    fact_is_u64("net.master.route_mtu", 1500);
    status_is(PROBE_FAULT, "takes packets of 900 bytes");
    cause_is("MASTER_ADDR=" MASTER " MASTER_PORT=" OPEN_PORT, "path-mtu-too-small");
}

static void a_small_mtu_of_this_host(void **state)
{
    (void)state;
    need_hosts();
    assert_true(shell("ip link set job0 mtu 600"));
    RUN("net", HERE, "$MASTER_ADDR=" MASTER, "$MASTER_PORT=" OPEN_PORT);
    fact_is_u64("net.iface.job0.mtu", 600);
    fact_is_bool("net.mtu.small", true);
    fact_is_bool("net.master.mtu_mismatch", false);
    status_is(PROBE_FAULT, "job0 has an MTU of 600");
    cause_is("MASTER_ADDR=" MASTER, "path-mtu-too-small");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_port_that_answers),
        TEST(a_port_where_nobody_listens),
        TEST(a_blocked_port),
        TEST(a_host_without_a_route),
        TEST(a_name_that_does_not_resolve),
        TEST(an_interface_that_is_down),
        TEST(an_interface_that_is_not_there),
        TEST(a_small_mtu_of_the_other_host),
        TEST(a_small_mtu_of_this_host),
    };
    return cmocka_run_group_tests(tests, make_hosts, end_hosts);
}

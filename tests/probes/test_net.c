/* The net probe on recorded trees: interfaces and addresses, the choices of NCCL and Gloo, InfiniBand and RoCE. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- trees ---- */

static void iface(const char *name, bool up, const char *mtu, const char *type)
{
    char path[128];
    const char *const files[][2] = {{"flags", up ? "0x1003\n" : "0x1002\n"},
                                    {"carrier", up ? "1\n" : "0\n"},
                                    {"mtu", mtu},
                                    {"type", type},
                                    {"speed", up ? "25000\n" : "-1\n"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "sys/class/net/%s/%s", name, files[i][0]);
        tree_file(path, files[i][1]);
    }
}

static void file_of(const char *format, const char *name, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, format, name);
    tree_file(path, text);
}

/* One local address of the routing trie, as the kernel prints it. */
#define LOCAL(address) "           |-- " address "\n              /32 host LOCAL\n"
#define ROUTES "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

/* A node with two networks, InfiniBand without an address, Docker, and the loopback. */
static void node(void)
{
    iface("lo", true, "65536\n", "772\n");
    iface("eno1", true, "1500\n", "1\n");
    iface("eno2", false, "1500\n", "1\n");
    iface("ens1f0", true, "9000\n", "1\n");
    iface("ib0", true, "2044\n", "32\n");
    iface("docker0", true, "1500\n", "1\n");
    iface("veth12ab", true, "1500\n", "1\n");
    iface("bond0", true, "1500\n", "1\n");
    file_of("sys/class/net/%s/device/vendor", "eno1", "0x8086\n");
    file_of("sys/class/net/%s/bonding/mode", "bond0", "802.3ad 4\n");
    file_of("sys/class/net/%s/bridge/bridge_id", "docker0", "8000.0\n");
    tree_file("proc/net/route", ROUTES "eno1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                                       "eno1\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
                                       "eno2\t0001000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
                                       "ens1f0\t0000A8C0\t00000000\t0001\t0\t0\t101\t00FFFFFF\t0\t0\t0\n"
                                       "docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n");
    tree_file("proc/net/fib_trie", "Main:\n  +-- 0.0.0.0/0 3 0 5\n" LOCAL("10.0.0.7") LOCAL("10.0.1.7") LOCAL("127.0.0.1")
                                       LOCAL("172.17.0.1") LOCAL("192.168.0.7") "Local:\n" LOCAL("10.0.0.7"));
    tree_file("proc/net/if_inet6", "00000000000000000000000000000001 01 80 10 80       lo\n"
                                   "fe800000000000000a0027fffe000001 02 40 20 80     eno1\n"
                                   "fd0000000000000000000000000000a7 04 40 00 80   ens1f0\n");
}

static void port(const char *device, const char *name, const char *text)
{
    char path[160];
    (void)snprintf(path, sizeof path, "sys/class/infiniband/%s/ports/1/%s", device, name);
    tree_file(path, text);
}

static void adapter(const char *device, const char *state, const char *layer, const char *rate)
{
    port(device, "state", state);
    port(device, "phys_state", strstr(state, "ACTIVE") ? "5: LinkUp\n" : "3: Disabled\n");
    port(device, "link_layer", layer);
    port(device, "rate", rate);
    port(device, "counters/link_downed", "3\n");
    port(device, "counters/symbol_error", "7\n");
    port(device, "hw_counters/local_ack_timeout_err", "5\n");
    port(device, "hw_counters/rnr_nak_retry_err", "2\n");
}

#define RECORDED_TREE "@proc", "@sys", "@dev", "etc=/nowhere", "run=/nowhere", "hostname=127.0.1.1"

/* ---- interfaces ---- */

static void interfaces_with_addresses_state_and_sort(void **state)
{
    (void)state;
    node();
    RUN("net", RECORDED_TREE, "$X=1");
    status_is(PROBE_OK, "");
    fact_is_bool("net.iface.eno1.up", true);
    fact_is_bool("net.iface.eno2.up", false);
    fact_is_string("net.iface.eno1.ipv4", "10.0.0.7");
    fact_is_string("net.iface.eno2.ipv4", "10.0.1.7");
    fact_is_string("net.iface.ens1f0.ipv6", "fd00::a7");
    no_fact("net.iface.eno1.ipv6"); /* link-local only */
    fact_is_u64("net.iface.ens1f0.mtu", 9000);
    fact_is_u64("net.iface.eno1.speed_mbps", 25000);
    no_fact("net.iface.eno2.speed_mbps");
    fact_is_string("net.iface.lo.kind", "loopback");
    fact_is_string("net.iface.eno1.kind", "physical");
    fact_is_string("net.iface.ib0.kind", "infiniband");
    fact_is_string("net.iface.docker0.kind", "container");
    fact_is_string("net.iface.veth12ab.kind", "container");
    fact_is_string("net.iface.bond0.kind", "bond");
    fact_is_string("net.iface.ens1f0.kind", "virtual");
    fact_is_u64("net.iface.count_usable", 2);
    fact_is_bool("net.mtu.mismatch", true); /* 1500 and 9000 */
    fact_is_bool("net.mtu.small", false);
    fact_is_bool("net.hostname.is_loopback", true);
    fact_is_bool("net.hostname.resolves", true);
}

static void a_small_mtu(void **state)
{
    (void)state;
    node();
    file_of("sys/class/net/%s/mtu", "ens1f0", "1279\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_bool("net.mtu.small", true);
    status_is(PROBE_FAULT, "ens1f0 has an MTU of 1279");
    file_of("sys/class/net/%s/mtu", "ens1f0", "1280\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_bool("net.mtu.small", false);
    status_is(PROBE_OK, "");
}

static void an_empty_tree_is_said_to_be_one(void **state)
{
    (void)state;
    tree_file("proc/stat", "");
    tree_file("sys/x", "");
    tree_file("dev/x", "");
    RUN("net", RECORDED_TREE, "$X=1");
    status_is(PROBE_UNAVAILABLE, "no interfaces can be read");
    no_fact("net.nccl.pick");
    no_fact("net.firewall.active");
    fact_is_u64("ib.device.count", 0);
    no_fact("ib.uverbs.accessible");
}

/* ---- choices ---- */

struct choice {
    const char *setting, *family, *pick, *candidates;
    bool matches;
};

static void nccl_chooses_by_its_own_rules(void **state)
{
    (void)state;
    static const struct choice choices[] = {
        {"$X=1", "$X=1", "eno1", "eno1,eno2,ens1f0", true}, /* not docker, lo; ib0 has no address; down ones are not left out */
        {"$X=1", "$NCCL_SOCKET_FAMILY=AF_INET6", "eno1", "eno1,ens1f0", true},
        {"$NCCL_SOCKET_IFNAME=ens", "$X=1", "ens1f0", "ens1f0", true},
        {"$NCCL_SOCKET_IFNAME=eno", "$X=1", "eno1", "eno1,eno2", true},
        {"$NCCL_SOCKET_IFNAME==eno", "$X=1", NULL, NULL, false},
        {"$NCCL_SOCKET_IFNAME==ens1f0,eno1", "$X=1", "eno1", "eno1,ens1f0", true},
        {"$NCCL_SOCKET_IFNAME=^eno,docker,lo", "$X=1", "ens1f0", "ens1f0", true},
        {"$NCCL_SOCKET_IFNAME=^=eno1,lo,docker0", "$X=1", "eno2", "eno2,ens1f0", true},
        {"$NCCL_SOCKET_IFNAME=eth0", "$X=1", NULL, NULL, false},
        {"$NCCL_SOCKET_IFNAME=ib0", "$X=1", NULL, NULL, false},      /* no address */
        {"$NCCL_SOCKET_IFNAME=eno2", "$X=1", "eno2", "eno2", false}, /* down */
        {"$NCCL_SOCKET_IFNAME=lo", "$NCCL_SOCKET_FAMILY=AF_INET6", NULL, NULL, false},
    };
    node();
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        RUN("net", RECORDED_TREE, choices[i].setting, choices[i].family);
        if (!choices[i].pick) {
            no_fact("net.nccl.pick");
        } else {
            fact_is_string("net.nccl.pick", choices[i].pick);
            fact_is_string("net.nccl.candidates", choices[i].candidates);
        }
        if (!strncmp(choices[i].setting, "$NCCL", 5)) {
            fact_is_bool("net.nccl.ifname_matches", choices[i].matches);
            fact_is_string("net.nccl.ifname_setting", choices[i].setting + strlen("$NCCL_SOCKET_IFNAME="));
        } else {
            no_fact("net.nccl.ifname_matches");
        }
        status_is(choices[i].matches ? PROBE_OK : PROBE_FAULT, choices[i].matches ? "" : "NCCL_SOCKET_IFNAME=");
    }
}

static void nccl_prefers_infiniband_and_falls_back_to_docker(void **state)
{
    (void)state;
    node();
    tree_file("proc/net/if_inet6", "fd0000000000000000000000000000b0 05 40 00 80      ib0\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_string("net.nccl.pick", "ib0");
    tree_file("proc/net/if_inet6", "");
    tree_file("proc/net/fib_trie", LOCAL("172.17.0.1") LOCAL("127.0.0.1"));
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_string("net.nccl.pick", "docker0");
    tree_file("proc/net/fib_trie", LOCAL("127.0.0.1"));
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_string("net.nccl.pick", "lo");
}

static void gloo_takes_whole_names_or_the_host_name(void **state)
{
    (void)state;
    node();
    RUN("net", RECORDED_TREE, "$X=1"); /* the host name leads to 127.0.1.1 */
    fact_is_string("net.gloo.pick", "127.0.1.1");
    RUN("net", "@proc", "@sys", "@dev", "hostname=10.0.0.7", "$X=1");
    fact_is_string("net.gloo.pick", "10.0.0.7");
    RUN("net", "@proc", "@sys", "@dev", "hostname=10.9.9.9", "$X=1"); /* another host's address */
    fact_is_string("net.gloo.pick", "127.0.0.1");
    RUN("net", RECORDED_TREE, "$GLOO_SOCKET_IFNAME=ens1f0,eno1");
    fact_is_bool("net.gloo.ifname_matches", true);
    fact_is_string("net.gloo.pick", "192.168.0.7");
    status_is(PROBE_OK, "");
    static const char *const wrong[] = {"$GLOO_SOCKET_IFNAME=ens", "$GLOO_SOCKET_IFNAME=eno2", "$GLOO_SOCKET_IFNAME=eno1,eth9",
                                        "$GLOO_SOCKET_IFNAME=ib0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        RUN("net", RECORDED_TREE, wrong[i]);
        fact_is_bool("net.gloo.ifname_matches", false);
        status_is(PROBE_FAULT, "such are: docker0,eno1,ens1f0,lo");
    }
    RUN("net", RECORDED_TREE, "$TP_SOCKET_IFNAME=eth9");
    fact_is_bool("net.tensorpipe.ifname_matches", false);
    status_is(PROBE_FAULT, "TP_SOCKET_IFNAME=eth9");
}

/* ---- settings ---- */

static void signs_of_a_firewall(void **state)
{
    (void)state;
    node();
    tree_file("proc/modules", "nf_tables 303104 0 - Live 0x0\nx_tables 53248 1 - Live 0x0\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_bool("net.firewall.active", false); /* loaded, without a rule */
    tree_file("proc/modules", "nft_compat 20480 4 - Live 0x0\nnf_tables 303104 35 nft_compat, Live 0x0\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_bool("net.firewall.active", true);
    fact_is_string("net.firewall.signs", "nf_tables");
    tree_file("proc/modules", "iptable_filter 16384 1 - Live 0x0\n");
    tree_file("etc/ufw/ufw.conf", "# set to yes to start: ENABLED=no\nENABLED=yes\nLOGLEVEL=low\n");
    tree_file("run/firewalld/x", "");
    char etc[600], run[600];
    (void)snprintf(etc, sizeof etc, "etc=%s", tree_path("etc"));
    (void)snprintf(run, sizeof run, "run=%s", tree_path("run"));
    RUN("net", "@proc", "@sys", "@dev", "hostname=127.0.0.1", etc, run, "$X=1");
    fact_is_string("net.firewall.signs", "iptable_filter, ufw, firewalld");
    tree_file("etc/ufw/ufw.conf", "ENABLED=no\n#ENABLED=yes\n");
    RUN("net", "@proc", "@sys", "@dev", "hostname=127.0.0.1", etc, "run=/nowhere", "$X=1");
    fact_is_string("net.firewall.signs", "iptable_filter");
}

static void kernel_settings(void **state)
{
    (void)state;
    node();
    tree_file("proc/sys/net/ipv6/conf/all/disable_ipv6", "1\n");
    tree_file("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    tree_file("proc/sys/net/core/somaxconn", "128\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_bool("net.ipv6.enabled", false);
    fact_is_u64("net.ports.ephemeral_first", 32768);
    fact_is_u64("net.ports.ephemeral_last", 60999);
    fact_is_u64("net.somaxconn", 128);
}

/* A socket table with a listener on 29500, and a mere connection from 40000. */
#define TCP_TABLE                                                                                                     \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"              \
    "   0: 00000000:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0\n" \
    "   1: 0700000A:9C40 0800000A:1F90 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1\n"

static void a_port_that_is_taken(void **state)
{
    (void)state;
    node();
    tree_file("proc/net/tcp", TCP_TABLE);
    RUN("net", RECORDED_TREE, "$MASTER_ADDR=10.0.0.7", "$MASTER_PORT=29500");
    fact_is_bool("net.master.is_local", true);
    fact_is_bool("net.master.port_in_use", true);
    fact_is_bool("net.master.is_loopback", false);
    no_fact("net.master.port_reachable");
    status_is(PROBE_OK, "");
    RUN("net", RECORDED_TREE, "$MASTER_ADDR=127.0.0.1", "$MASTER_PORT=40000");
    fact_is_bool("net.master.port_in_use", false);
    fact_is_bool("net.master.is_loopback", true);
    tree_file("proc/net/tcp", "");
    tree_file("proc/net/tcp6", "  0: 00000000000000000000000000000000:733C 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 1\n");
    RUN("net", RECORDED_TREE, "$MASTER_ADDR=10.0.0.7", "$MASTER_PORT=29500");
    fact_is_bool("net.master.port_in_use", true);
}

/* ---- InfiniBand, RoCE, EFA ---- */

static void ports_counters_and_totals(void **state)
{
    (void)state;
    node();
    adapter("mlx5_0", "4: ACTIVE\n", "InfiniBand\n", "400 Gb/sec (4X NDR)\n");
    adapter("mlx5_1", "4: ACTIVE\n", "InfiniBand\n", "200 Gb/sec (4X HDR)\n");
    adapter("mlx5_2", "1: DOWN\n", "InfiniBand\n", "10 Gb/sec (4X SDR)\n");
    tree_file("dev/infiniband/uverbs0", "");
    tree_file("dev/infiniband/rdma_cm", "");
    tree_file("proc/modules", "nvidia_peermem 16384 0 - Live 0x0\n");
    RUN("net", RECORDED_TREE, "$X=1");
    status_is(PROBE_OK, "");
    fact_is_u64("ib.device.count", 3);
    fact_is_u64("ib.ports.active", 2);
    fact_is_u64("ib.ports.down", 1);
    fact_is_bool("ib.ports.rate_mismatch", true); /* the port that is down does not count */
    fact_is_string("ib.port.mlx5_0.1.state", "ACTIVE");
    fact_is_string("ib.port.mlx5_2.1.phys_state", "Disabled");
    fact_is_string("ib.port.mlx5_0.1.link_layer", "InfiniBand");
    fact_is_f64("ib.port.mlx5_0.1.rate_gbps", 400);
    fact_is_u64("ib.port.mlx5_0.1.link_downed", 3);
    fact_is_u64("ib.port.mlx5_0.1.symbol_errors", 7);
    fact_is_u64("ib.port.mlx5_0.1.retry_errors", 7);
    fact_is_bool("ib.uverbs.accessible", true);
    fact_is_bool("ib.peermem.loaded", true);
    fact_is_u64("efa.device.count", 0);
    tree_file("proc/modules", "nvidia 16384 0 - Live 0x0\n");
    RUN("net", "@proc", "@sys", "hostname=127.0.0.1", "$X=1");
    fact_is_bool("ib.peermem.loaded", false);
}

static void adapters_that_nccl_shall_use(void **state)
{
    (void)state;
    node();
    adapter("mlx5_0", "4: ACTIVE\n", "InfiniBand\n", "400 Gb/sec (4X NDR)\n");
    adapter("mlx5_2", "1: DOWN\n", "InfiniBand\n", "10 Gb/sec (4X SDR)\n");
    RUN("net", RECORDED_TREE, "$NCCL_IB_HCA==mlx5_2:1");
    fact_is_bool("ib.nccl.hca_matches", true);
    status_is(PROBE_FAULT, "port 1 of mlx5_2");
    RUN("net", RECORDED_TREE, "$NCCL_IB_HCA==mlx5_2:1", "$NCCL_IB_DISABLE=1");
    status_is(PROBE_OK, "");
    RUN("net", RECORDED_TREE, "$NCCL_IB_HCA=mlx5"); /* a prefix means those that are up */
    status_is(PROBE_OK, "");
    RUN("net", RECORDED_TREE, "$NCCL_IB_HCA==mlx5_0:2");
    fact_is_bool("ib.nccl.hca_matches", false);
    status_is(PROBE_FAULT, "selects no RDMA port");
    RUN("net", RECORDED_TREE, "$NCCL_IB_HCA=bnxt");
    status_is(PROBE_FAULT, "falls back to TCP");
    RUN("net", RECORDED_TREE, "$NCCL_IB_HCA=^mlx5_2");
    fact_is_bool("ib.nccl.hca_matches", true);
    status_is(PROBE_OK, "");
}

static void gids_of_roce_ports(void **state)
{
    (void)state;
    node();
    adapter("mlx5_0", "4: ACTIVE\n", "Ethernet\n", "100 Gb/sec (4X EDR)\n");
    port("mlx5_0", "gids/0", "fe80:0000:0000:0000:0a00:27ff:fe00:0001\n");
    port("mlx5_0", "gids/1", "fe80:0000:0000:0000:0a00:27ff:fe00:0001\n");
    port("mlx5_0", "gids/2", "0000:0000:0000:0000:0000:ffff:0a00:0007\n");
    port("mlx5_0", "gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0007\n");
    port("mlx5_0", "gids/4", "0000:0000:0000:0000:0000:0000:0000:0000\n");
    port("mlx5_0", "gid_attrs/types/2", "IB/RoCE v1\n");
    port("mlx5_0", "gid_attrs/types/3", "RoCE v2\n");
    RUN("net", RECORDED_TREE, "$NCCL_IB_GID_INDEX=3");
    fact_is_u64("ib.gid.mlx5_0.1.rocev2_ipv4_index", 3);
    fact_is_bool("ib.gid.mlx5_0.1.setting_valid", true);
    status_is(PROBE_OK, "");
    RUN("net", RECORDED_TREE, "$NCCL_IB_GID_INDEX=4");
    fact_is_bool("ib.gid.mlx5_0.1.setting_valid", false);
    status_is(PROBE_FAULT, "NCCL_IB_GID_INDEX=4");
    RUN("net", RECORDED_TREE, "$NCCL_IB_GID_INDEX=9", "$NCCL_IB_HCA=^mlx5_0", "$NCCL_IB_DISABLE=1");
    no_fact("ib.gid.mlx5_0.1.setting_valid"); /* NCCL does not use this one */
}

static void efa_by_its_driver_and_memory_by_dma_buf(void **state)
{
    (void)state;
    node();
    adapter("rdmap0s31", "4: ACTIVE\n", "Unspecified\n", "100 Gb/sec (4X EDR)\n");
    tree_file("sys/bus/pci/drivers/efa/x", "");
    tree_link("sys/class/infiniband/rdmap0s31/device/driver", "../../../../bus/pci/drivers/efa");
    tree_file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06\n");
    tree_file("proc/sys/kernel/osrelease", "5.15.0-100-generic\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_u64("efa.device.count", 1);
    fact_is_bool("ib.dmabuf.available", true);
    tree_file("proc/sys/kernel/osrelease", "5.4.0-100-generic\n");
    RUN("net", RECORDED_TREE, "$X=1");
    fact_is_bool("ib.dmabuf.available", false);
}

static void nonsense_in_the_tree_is_passed_over(void **state)
{
    (void)state;
    node();
    adapter("mlx5_0", "\xff\xfe: \x1b[31m\n", "\n", "many Gb/sec\n");
    port("mlx5_0", "counters/link_downed", "-1\n");
    tree_file("proc/net/route", "a\nb\tc\td\n\xff\n");
    tree_file("proc/net/fib_trie", "|-- 999.1.1.1\n/32 host LOCAL\n |-- \n");
    tree_file("proc/net/if_inet6", "xyz 1 2 3 4 eno1\n00000000000000000000000000000001\n");
    tree_file("proc/net/tcp", ":::\n 0: x\n");
    tree_file("proc/modules", "nf_tables");
    tree_file("proc/sys/net/ipv4/ip_local_port_range", "one two\n");
    RUN("net", RECORDED_TREE, "$MASTER_ADDR=10.0.0.7", "$MASTER_PORT=0x", "$NCCL_SOCKET_IFNAME=^=,,:", "$NCCL_IB_HCA=,:,",
        "$NCCL_IB_GID_INDEX=x");
    assert_int_not_equal(ran.result->status, PROBE_CRASHED);
    assert_int_not_equal(ran.result->status, PROBE_BAD_OUTPUT);
    no_fact("ib.port.mlx5_0.1.rate_gbps");
    no_fact("ib.port.mlx5_0.1.link_downed");
    no_fact("net.ports.ephemeral_first");
}

static void this_machine_is_read_quickly(void **state)
{
    (void)state;
    RUN("net", "$X=1");
    fact_is_bool("net.iface.lo.up", true);
    fact_is_string("net.iface.lo.ipv4", "127.0.0.1");
    assert_true(ran.result->seconds < 0.45);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_start, tree_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(interfaces_with_addresses_state_and_sort),
        TEST(a_small_mtu),
        TEST(an_empty_tree_is_said_to_be_one),
        TEST(nccl_chooses_by_its_own_rules),
        TEST(nccl_prefers_infiniband_and_falls_back_to_docker),
        TEST(gloo_takes_whole_names_or_the_host_name),
        TEST(signs_of_a_firewall),
        TEST(kernel_settings),
        TEST(a_port_that_is_taken),
        TEST(ports_counters_and_totals),
        TEST(adapters_that_nccl_shall_use),
        TEST(gids_of_roce_ports),
        TEST(efa_by_its_driver_and_memory_by_dma_buf),
        TEST(nonsense_in_the_tree_is_passed_over),
        TEST(this_machine_is_read_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

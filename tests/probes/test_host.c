/* The probe `host`: recorded trees, and this machine with something changed. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define TREE "@proc", "@sys", "@dev"
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* ---- a recorded node: two sockets, control groups of version 2, a container ---- */

static void record_process(void)
{
    tree_file("proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n"
                                  "Max cpu time              unlimited            unlimited            seconds   \n"
                                  "Max stack size            8388608              unlimited            bytes     \n"
                                  "Max core file size        0                    unlimited            bytes     \n"
                                  "Max processes             4096                 8192                 processes \n"
                                  "Max open files            1024                 524288               files     \n"
                                  "Max locked memory         65536                65536                bytes     \n"
                                  "Max address space         unlimited            unlimited            bytes     \n");
    tree_file("proc/self/status", "Name:\tpython\nSeccomp:\t2\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3,64\nMems_allowed_list:\t0\n");
    tree_file("proc/meminfo",
              "MemTotal:       2113447604 kB\nMemFree:        100 kB\nMemAvailable:   1048576 kB\nSwapTotal:      0 kB\nSwapFree: 0 kB\n");
    tree_file("proc/vmstat", "nr_free_pages 5\noom_kill 7\n");
    tree_file("proc/sys/kernel/hostname", "node07\n");
    tree_file("proc/sys/kernel/osrelease", "5.15.0-112-generic\n");
    tree_file("proc/sys/kernel/yama/ptrace_scope", "2\n");
    tree_file("proc/sys/kernel/numa_balancing", "1\n");
    tree_link("proc/self/ns/ipc", "ipc:[4026532801]");
    tree_link("proc/self/ns/pid", "pid:[4026532803]");
    tree_link("proc/self/ns/user", "user:[4026531837]");
    tree_file("sys/devices/system/cpu/online", "0-127\n");
    tree_file("sys/devices/system/node/online", "0-1\n");
    tree_file("sys/devices/system/node/node0/cpulist", "0-63\n");
    tree_file("sys/devices/system/node/node1/cpulist", "64-127\n");
}

#define JOB "sys/fs/cgroup/kubepods.slice/pod1/job"
static void record_cgroup_v2(void)
{
    tree_file("proc/self/cgroup", "0::/kubepods.slice/pod1/job\n");
    tree_file("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
    tree_file(JOB "/memory.max", "max\n");
    tree_file(JOB "/memory.current", "1048576\n");
    tree_file(JOB "/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n");
    tree_file("sys/fs/cgroup/kubepods.slice/pod1/memory.max", "17179869184\n");
    tree_file("sys/fs/cgroup/kubepods.slice/pod1/memory.events", "oom_kill 5\n");
    tree_file("sys/fs/cgroup/kubepods.slice/memory.max", "34359738368\n");
    tree_file(JOB "/pids.max", "512\n");
    tree_file(JOB "/pids.current", "17\n");
    tree_file("sys/fs/cgroup/kubepods.slice/pod1/pids.max", "4096\n");
    tree_file(JOB "/cpu.max", "max 100000\n");
    tree_file(JOB "/cpu.stat", "usage_usec 9\nnr_throttled 4\nthrottled_usec 2500000\n");
    tree_file("sys/fs/cgroup/kubepods.slice/pod1/cpu.max", "250000 100000\n");
}

static void limits_memory_and_processors_of_a_recorded_node(void **state)
{
    (void)state;
    record_process();
    record_cgroup_v2();
    RUN("host", TREE);
    fact_is_u64("host.limit.memlock_bytes", 65536);
    fact_is_u64("host.limit.memlock_hard_bytes", 65536);
    fact_is_u64("host.limit.nofile", 1024);
    fact_is_u64("host.limit.nofile_hard", 524288);
    fact_is_u64("host.limit.nproc", 4096);
    fact_is_u64("host.limit.stack_bytes", 8388608);
    fact_is_u64("host.limit.core_bytes", 0);
    fact_is_u64("host.limit.address_space_bytes", UINT64_MAX);
    fact_is_u64("host.memory.total_bytes", 2113447604ull * 1024);
    fact_is_u64("host.memory.available_bytes", GIB);
    fact_is_u64("host.memory.oom_kills", 7);
    fact_is_u64("host.swap.total_bytes", 0);
    fact_is_u64("host.swap.free_bytes", 0);
    fact_is_u64("host.cpu.online", 128);
    fact_is_u64("host.cpu.allowed", 5);
    fact_is_f64("host.cpu.usable", 2.5);
    fact_is_u64("host.numa.nodes", 2);
    fact_is_u64("host.numa.allowed_nodes", 2);
    fact_is_bool("host.numa.balancing", true);
    fact_is_string("host.name", "node07");
    fact_is_string("host.kernel.release", "5.15.0-112-generic");
    fact_is_u64("host.yama.ptrace_scope", 2);
    fact_is_u64("host.seccomp.mode", 2);
    fact_is_string("host.container.kind", "kubernetes");
    fact_is_string("host.namespaces.private", "ipc,pid");
}

static void control_groups_of_version_2_are_read_up_the_tree(void **state)
{
    (void)state;
    record_process();
    record_cgroup_v2();
    RUN("host", TREE);
    fact_is_u64("host.cgroup.version", 2);
    fact_is_u64("host.cgroup.memory_limit_bytes", 16 * GIB);
    fact_is_u64("host.cgroup.memory_used_bytes", MIB);
    fact_is_u64("host.cgroup.oom_kills", 2);
    fact_is_u64("host.cgroup.oom_kills_elsewhere", 3);
    fact_is_u64("host.cgroup.pids_limit", 512);
    fact_is_u64("host.cgroup.pids_used", 17);
    fact_is_f64("host.cgroup.cpu_quota", 2.5);
    fact_is_f64("host.cgroup.cpu_throttled_seconds", 2.5);
    status_is(PROBE_FAULT, "the kernel killed 2 processes of this control group");
    accused_are("host.cgroup.oom_kills");
}

/* Docker without a namespace for groups: the mounts show the container's own folder as their root. */
static void control_groups_of_version_1_within_docker(void **state)
{
    (void)state;
    tree_file("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n3:pids:/docker/abc\n1:name=systemd:/docker/abc\n");
    tree_file("proc/self/mountinfo", "40 30 0:30 /docker/abc /sys/fs/cgroup/memory ro,relatime master:15 - cgroup cgroup rw,memory\n"
                                     "41 30 0:31 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
                                     "garbage\n"
                                     "42 30 0:32 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n");
    tree_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    tree_file("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
    tree_file("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    tree_file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n");
    tree_file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    tree_file("sys/fs/cgroup/pids/pids.max", "max\n");
    RUN("host", TREE);
    fact_is_u64("host.cgroup.version", 1);
    fact_is_u64("host.cgroup.memory_limit_bytes", UINT64_MAX);
    fact_is_u64("host.cgroup.memory_used_bytes", 4096);
    fact_is_u64("host.cgroup.oom_kills", 0);
    fact_is_f64("host.cgroup.cpu_quota", 1.5);
    fact_is_u64("host.cgroup.pids_limit", UINT64_MAX);
    fact_is_string("host.container.kind", "docker");
    status_is(PROBE_OK, "");
}

static void no_quota_is_no_fact(void **state)
{
    (void)state;
    record_cgroup_v2();
    tree_file("sys/fs/cgroup/kubepods.slice/pod1/cpu.max", "max 100000\n");
    RUN("host", TREE);
    no_fact("host.cgroup.cpu_quota");
}

static void container_kinds_and_what_only_looks_like_one(void **state)
{
    (void)state;
    RUN("host", TREE, "$APPTAINER_CONTAINER=/images/torch.sif");
    fact_is_string("host.container.kind", "apptainer");
    RUN("host", TREE, "$KUBERNETES_SERVICE_HOST=10.0.0.1");
    fact_is_string("host.container.kind", "kubernetes");
    tree_file("proc/self/cgroup", "0::/system.slice/docker-0123abc.scope\n");
    RUN("host", TREE, "$A=b");
    fact_is_string("host.container.kind", "docker");
    tree_file("proc/self/cgroup", "0::/\n");
    tree_file("proc/self/root/.dockerenv", "");
    tree_link("proc/self/ns/pid", "pid:[4026531836]");
    RUN("host", TREE, "$A=b"); /* a virtual machine made of an image */
    fact_is_string("host.container.kind", "none");
    fact_is_string("host.namespaces.private", "none");
    tree_link("proc/self/ns/uts", "uts:[4026532000]");
    RUN("host", TREE, "$A=b");
    fact_is_string("host.container.kind", "docker");
}

/* ---- PCIe ---- */

static void record_bridge(const char *path, unsigned control)
{
    unsigned char config[4096] = {0};
    config[0x100] = 0x01; /* AER first, ACS behind it */
    config[0x103] = 0x14;
    config[0x102] = 0x01;
    config[0x140] = 0x0d;
    config[0x142] = 0x01;
    config[0x146] = (unsigned char)control;
    tree_bytes(path, config, sizeof config);
}

static void access_control_is_read_from_the_bridges(void **state)
{
    (void)state;
    tree_file("sys/bus/pci/devices/0000:00:01.0/class", "0x060400\n");
    record_bridge("sys/bus/pci/devices/0000:00:01.0/config", 0x1d);
    tree_file("sys/class/iommu/dmar0/intel-iommu/version", "1:0\n");
    tree_file("sys/kernel/iommu_groups/0/type", "identity\n");
    tree_file("sys/kernel/iommu_groups/1/type", "DMA-FQ\n");
    RUN("host", TREE);
    fact_is_bool("host.acs.enabled", true);
    fact_is_bool("host.iommu.enabled", true);
    record_bridge("sys/bus/pci/devices/0000:00:01.0/config", 0);
    tree_file("sys/kernel/iommu_groups/1/type", "identity\n");
    RUN("host", TREE);
    fact_is_bool("host.acs.enabled", false);
    fact_is_bool("host.iommu.enabled", false);
}

static void what_only_root_may_read_is_not_guessed(void **state)
{
    (void)state;
    tree_file("sys/bus/pci/devices/0000:00:01.0/class", "0x060400\n");
    tree_file("sys/bus/pci/devices/0000:00:01.0/config", "the first 64 bytes");
    RUN("host", TREE);
    no_fact("host.acs.enabled");
    log_has("only root can read the bridges' registers");
}

/* ---- nothing, and nonsense ---- */

static void an_empty_tree_gives_no_facts_and_says_so(void **state)
{
    (void)state;
    RUN("host", TREE, "$A=b");
    status_is(PROBE_OK, "");
    assert_in_range(ran.facts.count, 0, 1); /* the container's kind: nothing speaks for one */
    log_has("self/limits cannot be read");
    log_has("meminfo cannot be read");
    log_has("self/cgroup cannot be read");
    log_has("no shared memory area");
    no_fact("host.libc.version"); /* of this machine, not of the tree */
}

static void nonsense_in_the_tree_is_passed_over(void **state)
{
    (void)state;
    char noise[5000];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 2654435761u >> 7);
    static const char *const files[] = {"proc/self/limits",
                                        "proc/self/status",
                                        "proc/self/cgroup",
                                        "proc/self/mountinfo",
                                        "proc/meminfo",
                                        "proc/sys/kernel/yama/ptrace_scope",
                                        "sys/devices/system/cpu/online",
                                        "sys/devices/system/node/online",
                                        "sys/bus/pci/devices/a/class",
                                        "sys/bus/pci/devices/a/config",
                                        "sys/kernel/iommu_groups/0/type"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        tree_bytes(files[i], noise, sizeof noise);
    RUN("host", TREE);
    status_is(PROBE_OK, "");
    tree_file("proc/self/cgroup", "0::/../../etc\n0:\n::\n");
    tree_file("proc/self/mountinfo", "1 2 3:4 / /sys/fs/cgroup rw - cgroup2\n5 6 0:1 / /sys/fs/cgroup rw - cgroup2 x rw");
    tree_file("sys/devices/system/cpu/online", "0-99999999\n");
    tree_file("proc/self/limits", "Max open files            -1\nMax locked memory         many few bytes\n");
    RUN("host", TREE);
    status_is(PROBE_OK, "");
    no_fact("host.cpu.online");
    no_fact("host.limit.nofile");
    no_fact("host.limit.memlock_bytes");
}

/* ---- this machine, changed ---- */

static void with_small_limits(void)
{
    assert_true(setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){65536, 65536}) == 0);
    assert_true(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}) == 0);
    RUN("host", "cwd=/");
    fact_is_u64("host.limit.memlock_bytes", 65536);
    fact_is_u64("host.limit.memlock_hard_bytes", 65536);
    fact_is_u64("host.limit.nofile", 64);
}

static void with_small_shared_memory(void)
{
    if (mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") != 0)
        _exit(CANNOT);
    RUN("host", "cwd=/");
    fact_is_u64("host.shm.size_bytes", 64 * MIB);
    fact_is_u64("host.shm.free_bytes", 64 * MIB);
    int fd = open("/dev/shm/dead-job", O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0 && posix_fallocate(fd, 0, (off_t)(64 * MIB)) == 0);
    RUN("host", "cwd=/");
    fact_is_u64("host.shm.free_bytes", 0);
    status_is(PROBE_FAULT, "/dev/shm is full");
    accused_are("host.shm.free_bytes");
}

static void with_a_full_work_folder(void)
{
    if (mount("tmpfs", tree, "tmpfs", 0, "size=2m,nr_inodes=4") != 0)
        _exit(CANNOT);
    char setting[128];
    (void)snprintf(setting, sizeof setting, "cwd=%s", tree);
    for (int i = 0; i < 3; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%d", tree, i);
        assert_true(creat(path, 0600) >= 0);
    }
    RUN("host", setting);
    fact_is_u64("host.disk.cwd.free_inodes", 0);
    status_is(PROBE_FAULT, "no inode left");
    accused_are("host.disk.cwd.free_inodes");
    char big[128];
    (void)snprintf(big, sizeof big, "%s/0", tree);
    assert_true(posix_fallocate(open(big, O_WRONLY), 0, (off_t)(2 * MIB)) == 0);
    RUN("host", setting);
    fact_is_u64("host.disk.cwd.free_bytes", 0);
    status_is(PROBE_FAULT, "is full");
    fact_is_string("host.disk.cwd.type", "tmpfs");
}

static void with_a_read_only_work_folder(void)
{
    if (mount("tmpfs", tree, "tmpfs", MS_RDONLY, NULL) != 0)
        _exit(CANNOT);
    char setting[128];
    (void)snprintf(setting, sizeof setting, "cwd=%s", tree);
    RUN("host", setting);
    fact_is_bool("host.disk.cwd.readonly", true);
    fact_is_bool("host.disk.tmp.readonly", false);
    status_is(PROBE_FAULT, "mounted read-only");
    accused_are("host.disk.cwd.readonly");
}

/* A FUSE file system whose server never answers stands for a dead file server. */
static void with_a_file_system_that_hangs(void)
{
    char options[128], setting[128];
    int fd = open("/dev/fuse", O_RDWR);
    (void)snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
    if (fd < 0 || mount("server:/export", tree, "fuse", 0, options) != 0)
        _exit(CANNOT);
    (void)snprintf(setting, sizeof setting, "home=%s", tree);
    uint64_t before = clock_ns();
    RUN("host", setting, "cwd=/");
    double seconds = (double)(clock_ns() - before) / 1e9;
    fact_is_bool("host.disk.home.responding", false);
    fact_is_bool("host.disk.cwd.responding", true);
    status_is(PROBE_FAULT, "does not answer");
    fact_is_string("host.disk.home.type", "fuse");
    assert_non_null(fact_set_find(&ran.facts, "host.limit.nofile"));
    assert_true(seconds < 2.5);
}

#define IN_PROCESS(body, namespaces)      \
    static void body##_(void **state)     \
    {                                     \
        (void)state;                      \
        in_own_process(body, namespaces); \
    }
IN_PROCESS(with_small_limits, 0)
IN_PROCESS(with_small_shared_memory, CLONE_NEWNS)
IN_PROCESS(with_a_full_work_folder, CLONE_NEWNS)
IN_PROCESS(with_a_read_only_work_folder, CLONE_NEWNS)
IN_PROCESS(with_a_file_system_that_hangs, CLONE_NEWNS)

static void this_machine_is_read_quickly(void **state)
{
    (void)state;
    RUN("host", "cwd=/");
    assert_true(fact_set_find(&ran.facts, "host.memory.total_bytes")->value.u64 > 64 * MIB);
    assert_non_null(fact_set_find(&ran.facts, "host.libc.version"));
    assert_non_null(fact_set_find(&ran.facts, "host.disk.cwd.free_bytes"));
    assert_true(ran.result->seconds < 0.3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_start, tree_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(limits_memory_and_processors_of_a_recorded_node),
        TEST(control_groups_of_version_2_are_read_up_the_tree),
        TEST(control_groups_of_version_1_within_docker),
        TEST(no_quota_is_no_fact),
        TEST(container_kinds_and_what_only_looks_like_one),
        TEST(access_control_is_read_from_the_bridges),
        TEST(what_only_root_may_read_is_not_guessed),
        TEST(an_empty_tree_gives_no_facts_and_says_so),
        TEST(nonsense_in_the_tree_is_passed_over),
        TEST(with_small_limits_),
        TEST(with_small_shared_memory_),
        TEST(with_a_full_work_folder_),
        TEST(with_a_read_only_work_folder_),
        TEST(with_a_file_system_that_hangs_),
        TEST(this_machine_is_read_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

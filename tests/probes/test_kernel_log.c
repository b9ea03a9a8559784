/* The probe `kernel_log` on small recordings in every form a kernel log comes in, and on damaged ones. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the log, and reads it through the parameter `file`. */
static void read_log(const char *text)
{
    char setting[600];
    tree_file("log", text);
    (void)snprintf(setting, sizeof setting, "file=%s", tree_path("log"));
    RUN("kernel_log", setting, "@proc");
    fact_is_bool("kernel.log.readable", true);
}

/* ---- NVIDIA ---- */

static void faults_of_the_job_are_counted_and_are_no_fault_of_the_machine(void **state)
{
    (void)state;
    read_log(
        "kern  :warn  : 2025-03-02T10:00:00,100000+00:00 NVRM: Xid (PCI:0000:1a:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp "
        "Exception\n"
        "kern  :warn  : 2025-03-02T10:00:00,200000+00:00 NVRM: Xid (PCI:0000:1b:00): 13, pid=77, name=python, Graphics Exception: ESR\n"
        "kern  :warn  : 2025-03-02T10:00:00,300000+00:00 NVRM: Xid (PCI:0000:1a:00): 43, pid=77, name=python3, Ch 00000008\n");
    fact_is_u64("kernel.xid.13.count", 2);
    fact_is_string("kernel.xid.13.gpus", "0000:1a:00,0000:1b:00");
    fact_is_u64("kernel.xid.43.count", 1);
    fact_is_u64("kernel.xid.count", 0);
    fact_is_bool("kernel.gpu_reset_required", false);
    log_has("Xid 13 (application), 2 times, last of python: exception in a compute");
    status_is(PROBE_OK, "");
}

static void hardware_comes_before_the_driver_and_names_the_gpu(void **state)
{
    (void)state;
    read_log("[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=20, name=nvidia-smi, Timeout after 6s of waiting for RPC "
             "response from GPU4 GSP!\n"
             "[Sun Feb 23 16:24:19 2025] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
             "[Sun Feb 23 16:24:19 2025] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\n"
             "[Sun Feb 23 16:24:36 2025] NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00 (printing 1 of every 30).  The "
             "GPU likely needs to be reset.\n");
    fact_is_u64("kernel.xid.79.count", 1);
    fact_is_u64("kernel.xid.119.count", 1);
    fact_is_u64("kernel.xid.count", 2);
    fact_is_bool("kernel.gpu_reset_required", true);
    status_is(PROBE_FAULT, "Xid 79 on GPU 0000:3b:00: the GPU has fallen off the bus; reboot the node");
}

static void old_and_new_forms_of_an_xid(void **state)
{
    (void)state;
    read_log("[ 1234.567890] NVRM: Xid (0000:03:00): 31, Ch 00000010, engmask 00000101, intr 10000000\n"
             "<4>[ 1234.6] NVRM: Xid (PCI:0000:03:00): 62, 0c7e(2f78) 00000000 00000000\n"
             "[ 1235.0] NVRM: Xid (PCI:0000:04:00 GPU-I:05): 94, pid=9, name=python, Contained: SM (0x1)\n"
             "[ 1236.0] NVRM: Xid (PCI:0000:04:00): 999999, pid=9, a code that is none\n"
             "[ 1236.0] NVRM: Xid (PCI:0000:04:00): , cut off\n"
             "[ 1236.1] NVRM: Xid (PCI:0000:04\n");
    fact_is_string("kernel.xid.31.gpus", "0000:03:00");
    fact_is_u64("kernel.xid.62.count", 1);
    fact_is_string("kernel.xid.94.gpus", "0000:04:00");
    fact_is_u64("kernel.xid.count", 2);
    status_is(PROBE_FAULT, "Xid 62 on GPU 0000:03:00: the internal micro-controller halted; reset the GPU");
    accused_are("kernel.xid.62.count kernel.xid.94.count kernel.xid.count");
}

static void the_recovery_a_gpu_asks_for_may_be_taken_back(void **state)
{
    (void)state;
    static const char asked[] =
        "[ 5.0] NVRM: Xid (PCI:0000:38:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\n";
    char both[512];
    read_log(asked);
    fact_is_bool("kernel.gpu_reset_required", true);
    fact_is_u64("kernel.xid.count", 0);
    status_is(PROBE_FAULT, "a GPU waits for a reset");
    (void)snprintf(both, sizeof both,
                   "%s[ 9.0] NVRM: Xid (PCI:0000:38:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)\n",
                   asked);
    read_log(both);
    fact_is_bool("kernel.gpu_reset_required", false);
    status_is(PROBE_OK, "");
}

static void switches_links_and_peer_memory(void **state)
{
    (void)state;
    read_log("6,1,100,-;nvidia-nvswitch3: open (major=510)\n"
             "4,2,200,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)\n"
             "4,3,201,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Severity 0 Engine instance 32 Sub-engine instance 00\n"
             "4,4,300,-;nvidia-nvswitch0: SXid (PCI:0000:c0:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
             "4,5,301,-;NVRM: Xid (PCI:0000:1a:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 6(0x0, 0x0)\n"
             "4,6,302,-;nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing\n");
    fact_is_u64("kernel.sxid.count", 2);
    fact_is_u64("kernel.sxid.fatal_count", 1);
    fact_is_u64("kernel.nvlink_errors.count", 1);
    fact_is_u64("kernel.peermem_errors.count", 1);
    status_is(PROBE_FAULT, "Xid 74 on GPU 0000:1a:00: NVLink error");
}

static void a_driver_that_does_not_start_or_fit(void **state)
{
    (void)state;
    read_log("[ 10.0] NVRM: API mismatch: the client has the version 550.54.15, but\n"
             "[ 11.0] NVRM: API mismatch: the client has the version 550.54.15, but this kernel module has the version 535.161.08.  Please "
             "make sure\n"
             "[ 12.0] NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0xffff:1220)\n");
    fact_is_string("kernel.nvrm_mismatch.client_version", "550.54.15");
    fact_is_string("kernel.nvrm_mismatch.module_version", "535.161.08");
    fact_is_u64("kernel.nvrm_init_failures.count", 1);
    status_is(PROBE_FAULT, "the NVIDIA libraries (550.54.15) and the loaded kernel module (535.161.08) are of different versions");
}

/* ---- processes ---- */

#define GROUP "/kubepods.slice/pod1/job"
#define MEMCG                                                                                                                       \
    "[ 50.1] "                                                                                                                      \
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg=/kubepods.slice/pod1,task_memcg=" GROUP \
    ",task=pt_data_worker,pid=345,uid=0\n"                                                                                          \
    "[ 50.2] Memory cgroup out of memory: Killed process 345 (pt_data_worker) total-vm:1kB, anon-rss:1kB\n"                         \
    "[ 50.3] oom_reaper: reaped process 345 (pt_data_worker), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB\n"

static void one_kill_is_counted_once_whatever_number_of_lines_it_leaves(void **state)
{
    (void)state;
    read_log(MEMCG "[ 60.0] oom_reaper: reaped process 346 (python), now anon-rss:0kB\n"
                   "[ 70.0] Memory cgroup out of memory: Kill process 347 (tar) score 50 or sacrifice child\n"
                   "[ 70.1] Killed process 347 (tar) total-vm:5kB\n"
                   "[ 80.0] Memory cgroup out of memory: Killed process 347 (tar) total-vm:5kB\n");
    fact_is_u64("kernel.oom_kill.count", 4);
    fact_is_string("kernel.oom_kill.victim", "tar");
    no_fact("kernel.oom_kill.cgroup");
    status_is(PROBE_OK, "");
}

static void a_kill_in_the_own_group_is_a_fault_one_elsewhere_is_not(void **state)
{
    (void)state;
    tree_file("proc/self/cgroup", "0::/kubepods.slice/pod2/job\n");
    read_log(MEMCG);
    fact_is_u64("kernel.oom_kill.count", 1);
    fact_is_string("kernel.oom_kill.victim", "pt_data_worker");
    fact_is_string("kernel.oom_kill.cgroup", GROUP);
    status_is(PROBE_OK, "");
    tree_file("proc/self/cgroup", "0::" GROUP "\n");
    read_log(MEMCG);
    status_is(PROBE_FAULT, "the kernel killed pt_data_worker, which had reached the limit of " GROUP);
    accused_are("kernel.oom_kill.count");
    tree_file("proc/self/cgroup", "0::" GROUP "2\n");
    read_log(MEMCG);
    status_is(PROBE_OK, "");
}

static void a_machine_without_memory_is_a_fault(void **state)
{
    (void)state;
    read_log("Jan  5 04:41:44 node07 kernel: [206.7] "
             "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/user.slice,task=python,pid=9,uid=0\n"
             "Jan  5 04:41:44 node07 kernel: [206.8] Out of memory: Killed process 9 (python) total-vm:9kB\n"
             "Jan  5 04:41:45 node07 kernel: [207.8] Out of memory: Killed process 10 (python) total-vm:9kB\n");
    fact_is_u64("kernel.oom_kill.count", 2);
    status_is(PROBE_FAULT, "the whole machine had none left and the kernel killed 2 processes");
}

static void segmentation_faults_name_the_library(void **state)
{
    (void)state;
    read_log("2025-01-21T04:41:44+0100 node07 kernel: python[253]: segfault at 7f79 ip 00007f7c sp 00007f7c error 4 in "
             "libnccl.so.2[7f7c7ac00000+d3d3000] likely on CPU 3 (core 1, socket 0)\n");
    fact_is_u64("kernel.segfault.count", 1);
    fact_is_string("kernel.segfault.library", "libnccl.so.2");
    fact_is_string("kernel.segfault.process", "python");
    read_log("[ 1.0] traps: train[99] trap invalid opcode ip:7f0 sp:7ff error:0 in libtorch_cpu.so[7f0000000000+1000]\n"
             "[ 2.0] python[253]: segfault at 0 ip 0000000000000000 sp 00007ffc error 14\n");
    fact_is_u64("kernel.segfault.count", 2);
    no_fact("kernel.segfault.library"); /* the last one jumped to nowhere */
    status_is(PROBE_OK, "");
}

static void tasks_that_hang(void **state)
{
    (void)state;
    read_log("[ 500.0] INFO: task ptxas:rank 0:4711 blocked for more than 120 seconds.\n"
             "[ 600.0] watchdog: BUG: soft lockup - CPU#17 stuck for 22s! [python:4711]\n");
    fact_is_u64("kernel.hung_task.count", 1);
    fact_is_string("kernel.hung_task.name", "ptxas:rank 0");
    fact_is_u64("kernel.lockup.count", 1);
}

/* ---- bus, links, disks ---- */

static void bus_errors_are_counted_once_an_event(void **state)
{
    (void)state;
    read_log("[ 1.0] pcieport 0000:16:02.0: AER: enabled with IRQ 40\n"
             "[ 2.0] pcieport 0000:16:02.0: AER: Corrected error received: 0000:17:00.0\n"
             "[ 2.1] pcieport 0000:16:02.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)\n"
             "[ 3.0] pcieport 0000:16:02.0: AER: Uncorrected (Fatal) error received: 0000:17:00.0\n"
             "[ 3.1] nvidia 0000:17:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)\n");
    fact_is_u64("kernel.pcie_aer.count", 2);
    fact_is_u64("kernel.pcie_aer.fatal_count", 1);
    status_is(PROBE_FAULT, "fatal PCIe error");
    accused_are("kernel.pcie_aer.count kernel.pcie_aer.fatal_count");
}

static void links_and_adapters(void **state)
{
    (void)state;
    read_log("[ 1.0] ata3: SATA link down (SStatus 0 SControl 300)\n"
             "[ 2.0] mlx5_core 0000:ca:00.0 ens1f0np0: Link down\n"
             "[ 3.0] mlx5_core 0000:ca:00.0 ens1f0np0: Link up\n"
             "[ 4.0] igb 0000:01:00.0 eno1: igb: eno1 NIC Link is Down\n"
             "[ 5.0] IPv6: ADDRCONF(NETDEV_CHANGE): cali9: link becomes ready\n");
    fact_is_u64("kernel.link_flap.count", 2);
    fact_is_u64("kernel.adapter_errors.count", 0);
    status_is(PROBE_OK, "");
    read_log("[ 4.0] mlx5_core 0000:ca:00.0: poll_health:1000:(pid 0): Fatal error 1 detected\n");
    fact_is_u64("kernel.adapter_errors.count", 1);
    status_is(PROBE_FAULT, "a network adapter reported an error of its own");
}

static void disks_and_file_servers(void **state)
{
    (void)state;
    read_log("[ 1.0] blk_update_request: I/O error, dev fd0, sector 0 op 0x0:(READ)\n"
             "[ 2.0] nfs: server filer01 not responding, still trying\n"
             "[ 2.5] nfs: server filer01 OK\n"
             "[ 3.0] I/O error, dev nvme1n1, sector 123 op 0x1:(WRITE) flags 0x0\n");
    fact_is_u64("kernel.fs_errors.count", 1);
    fact_is_u64("kernel.nfs_not_responding.count", 1);
    status_is(PROBE_OK, "");
    read_log("[ 4.0] EXT4-fs (nvme1n1): Remounting filesystem read-only\n");
    fact_is_u64("kernel.fs_errors.count", 1);
    status_is(PROBE_FAULT, "damaged file system: EXT4-fs (nvme1n1): Remounting filesystem read-only");
}

/* ---- where lines come from ---- */

static void words_of_other_programs_do_not_count(void **state)
{
    (void)state;
    read_log("Jan 21 04:41:44 node07 python[77]: NVRM: Xid (PCI:0000:3b:00): 79, quoted by a monitor\n"
             "2025-01-21T04:41:44+0000 node07 gpud[9]: NVRM: Xid (PCI:0000:3b:00): 79, quoted by a monitor\n"
             "user  :notice: 2025-03-02T10:00:00,100000+00:00 NVRM: Xid (PCI:0000:3b:00): 79, written to /dev/kmsg\n"
             "12,4,100,-;NVRM: Xid (PCI:0000:3b:00): 79, written to /dev/kmsg\n"
             " SUBSYSTEM=NVRM: Xid (PCI:0000:3b:00): 79, a record's property\n"
             "Jan 21 04:41:44 node07 kernel: [206.7] NVRM: Xid (PCI:0000:1a:00): 48, pid=1, name=x, DBE (double bit error)\n");
    no_fact("kernel.xid.79.count");
    fact_is_u64("kernel.xid.48.count", 1);
    fact_is_u64("kernel.xid.count", 1);
    read_log("2025-01-21T04:41:44+00:00 NVRM: Xid (PCI:0000:1a:00): 48, a form without host\n"
             "2025-01-21T04:41:44,283302+00:00 pcieport 0000:16:02.0: AER: Corrected error received: 0000:17:00.0\n");
    fact_is_u64("kernel.xid.48.count", 1);
    fact_is_u64("kernel.pcie_aer.count", 1);
}

static void a_recorded_dev_is_read_and_an_empty_log_is_one(void **state)
{
    (void)state;
    tree_file("dev/kmsg", "5,0,0,-;Linux version 6.1.0\n4,1,5,-;NVRM: Xid (PCI:0000:3b:00): 64, pid=1, name=x, Row Remapper: Error\n");
    RUN("kernel_log", "@dev");
    fact_is_u64("kernel.xid.64.count", 1);
    status_is(PROBE_FAULT, "Xid 64");
    tree_file("dev/kmsg", "");
    RUN("kernel_log", "@dev");
    fact_is_bool("kernel.log.readable", true);
    fact_is_u64("kernel.xid.count", 0);
    fact_is_u64("kernel.oom_kill.count", 0);
    status_is(PROBE_OK, "");
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    RUN("kernel_log", "@dev");
    fact_is_bool("kernel.log.readable", false);
    no_fact("kernel.xid.count");
    status_is(PROBE_UNAVAILABLE, "/dev/kmsg: No such file or directory");
    char setting[600];
    (void)snprintf(setting, sizeof setting, "file=%s", tree);
    RUN("kernel_log", setting);
    status_is(PROBE_UNAVAILABLE, "Invalid argument");
    RUN("kernel_log", "file=/nonexistent/log");
    status_is(PROBE_UNAVAILABLE, "/nonexistent/log: No such file or directory");
}

/* Where /dev/kmsg cannot be read, journalctl of the job's PATH is asked; here one of the test's own. A pipe in the place of /dev/kmsg keeps
 * root from reading it. */
static void without_kmsg(void)
{
    char path[600];
    (void)snprintf(path, sizeof path, "$PATH=%s:/usr/bin:/bin", tree);
    if (mkfifo(tree_path("pipe"), 0600) != 0 || mount(tree_path("pipe"), "/dev/kmsg", NULL, MS_BIND, NULL) != 0)
        _exit(CANNOT);
    tree_program("journalctl", "#!/bin/sh\necho '2025-01-21T04:41:44+0000 node07 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x'\n");
    RUN("kernel_log", path);
    fact_is_u64("kernel.xid.79.count", 1);
    fact_is_string("kernel.xid.79.gpus", "0000:3b:00");
    tree_program("journalctl", "#!/bin/sh\nexec sleep 60\n");
    RUN("kernel_log", path);
    status_is(PROBE_UNAVAILABLE, "journalctl: gave no answer in time");
    tree_program("journalctl", "#!/bin/sh\nexit 0\n");
    RUN("kernel_log", path);
    status_is(PROBE_UNAVAILABLE, "journalctl: shows this user no kernel messages");
    fact_is_bool("kernel.log.readable", false);
}

static void the_journal_is_asked_within_bounds(void **state)
{
    (void)state;
    in_own_process(without_kmsg, CLONE_NEWNS);
}

/* ---- damage and size ---- */

static void noise_harms_nothing(void **state)
{
    (void)state;
    static char noise[1 << 20];
    static const char words[] =
        "\nNVRM: Xid (PCI:\0\n[[[<4>,,,;oom-kill:constraint=,pid=,task=,task_memcg=\nKilled process \n segfault at  in \n";
    uint32_t seed = 12345;
    for (size_t i = 0; i < sizeof noise; i++) {
        seed = seed * 1664525u + 1013904223u;
        noise[i] = (char)(seed >> 24);
        if (seed >> 16 % 97 == 0)
            noise[i] = words[seed % sizeof words];
    }
    for (size_t i = 0; i + sizeof words < sizeof noise; i += 4099)
        memcpy(noise + i, words, sizeof words);
    tree_bytes("dev/kmsg", noise, sizeof noise);
    RUN("kernel_log", "@dev");
    fact_is_bool("kernel.log.readable", true);
    status_is(PROBE_OK, "");
}

static void a_huge_log_is_read_from_its_end(void **state)
{
    (void)state;
    static const char line[] =
        "Jan 21 04:41:44 node07 kernel: [206.7] usb 1-1: new high-speed USB device number 3 using xhci_hcd and more words\n";
    FILE *file = fopen(tree_path("log"), "w");
    assert_non_null(file);
    (void)fputs("[ 1.0] NVRM: Xid (PCI:0000:01:00): 48, pid=1, too long ago\n", file);
    for (size_t size = 0; size < (size_t)100 << 20; size += sizeof line - 1)
        (void)fwrite(line, 1, sizeof line - 1, file);
    for (int i = 0; i < 1000000; i++) /* a line without end */
        (void)fputs("xxxxxxxxxx", file);
    (void)fputs("\n[ 9.0] NVRM: Xid (PCI:0000:02:00): 48, pid=1, DBE", file);
    assert_int_equal(fclose(file), 0);
    char setting[600];
    (void)snprintf(setting, sizeof setting, "file=%s", tree_path("log"));
    RUN("kernel_log", setting);
    fact_is_u64("kernel.xid.48.count", 1);
    fact_is_string("kernel.xid.48.gpus", "0000:02:00");
    log_has("only its last 16 MiB were read");
    assert_true(ran.result->seconds < 5); /* loose: machines differ, sanitizers slow down */
}

static void more_codes_than_there_is_room_for(void **state)
{
    (void)state;
    char *text = calloc(1, 100000);
    size_t used = 0;
    assert_non_null(text);
    for (int code = 1; code < 500; code++)
        used += (size_t)snprintf(text + used, 100000 - used, "[ 1.0] NVRM: Xid (PCI:0000:%02x:00): %d, pid=1\n", code % 256, code);
    read_log(text);
    free(text);
    fact_is_u64("kernel.xid.1.count", 1);
    fact_is_u64("kernel.xid.64.count", 1);
    no_fact("kernel.xid.65.count");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_start, tree_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(faults_of_the_job_are_counted_and_are_no_fault_of_the_machine),
        TEST(hardware_comes_before_the_driver_and_names_the_gpu),
        TEST(old_and_new_forms_of_an_xid),
        TEST(the_recovery_a_gpu_asks_for_may_be_taken_back),
        TEST(switches_links_and_peer_memory),
        TEST(a_driver_that_does_not_start_or_fit),
        TEST(one_kill_is_counted_once_whatever_number_of_lines_it_leaves),
        TEST(a_kill_in_the_own_group_is_a_fault_one_elsewhere_is_not),
        TEST(a_machine_without_memory_is_a_fault),
        TEST(segmentation_faults_name_the_library),
        TEST(tasks_that_hang),
        TEST(bus_errors_are_counted_once_an_event),
        TEST(links_and_adapters),
        TEST(disks_and_file_servers),
        TEST(words_of_other_programs_do_not_count),
        TEST(a_recorded_dev_is_read_and_an_empty_log_is_one),
        TEST(what_cannot_be_read_is_named),
        TEST(the_journal_is_asked_within_bounds),
        TEST(noise_harms_nothing),
        TEST(a_huge_log_is_read_from_its_end),
        TEST(more_codes_than_there_is_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

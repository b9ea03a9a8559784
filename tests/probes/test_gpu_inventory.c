/* The probe `gpu_inventory` on output of several drivers, on an nvidia-smi of the test's own, and where there is none. */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define MIB ((uint64_t)1 << 20)

static void read_sample(const char *name)
{
    char setting[600];
    (void)snprintf(setting, sizeof setting, "file=%s/%s", RECORDED, name);
    RUN("gpu_inventory", setting);
}

/* A recorded sample with the first `from` replaced by `to`. */
static char *changed(const char *name, const char *from, const char *to)
{
    static char text[1 << 16], out[1 << 16];
    char path[600];
    (void)snprintf(path, sizeof path, "%s/%s", RECORDED, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    char *at = strstr(text, from);
    assert_non_null(at);
    *at = '\0';
    (void)snprintf(out, sizeof out, "%s%s%s", text, to, at + strlen(from));
    return out;
}

static void read_text(const char *text)
{
    char setting[600];
    tree_file("smi.xml", text);
    (void)snprintf(setting, sizeof setting, "file=%s", tree_path("smi.xml"));
    RUN("gpu_inventory", setting);
}

/* ---- what drivers tell ---- */

static void a_v100_of_an_old_driver(void **state)
{
    (void)state;
    read_sample("v100-driver390.xml");
    fact_is_bool("gpu.driver.present", true);
    fact_is_u64("gpu.count", 2);
    fact_is_string("gpu.driver.version", "390.46");
    no_fact("gpu.cuda.version");
    fact_is_string("gpu.0.name", "Tesla V100-SXM2-16GB");
    fact_is_string("gpu.1.bus_id", "00000000:07:00.0");
    fact_is_u64("gpu.0.memory_total_bytes", 16160 * MIB);
    fact_is_u64("gpu.0.memory_used_bytes", 15100 * MIB);
    fact_is_u64("gpu.0.memory_free_bytes", 1060 * MIB);
    fact_is_string("gpu.1.compute_mode", "Exclusive_Process");
    fact_is_bool("gpu.0.persistence", false);
    fact_is_bool("gpu.0.ecc_enabled", true);
    fact_is_u64("gpu.0.ecc_uncorrected", 0);
    fact_is_u64("gpu.1.ecc_uncorrected", 2);
    fact_is_u64("gpu.1.ecc_uncorrected_lifetime", 3);
    fact_is_bool("gpu.1.row_remap_pending", true);
    no_fact("gpu.1.row_remap_failed");
    fact_is_u64("gpu.0.pcie_width", 16);
    fact_is_u64("gpu.1.pcie_width", 8);
    fact_is_u64("gpu.1.pcie_width_max", 16);
    fact_is_u64("gpu.0.pcie_generation", 3);
    fact_is_u64("gpu.0.pcie_generation_max", 3);
    fact_is_f64("gpu.1.temperature_c", 36);
    fact_is_u64("gpu.0.sm_clock_mhz", 1290);
    fact_is_u64("gpu.0.sm_clock_max_mhz", 1530);
    fact_is_string("gpu.0.throttled", "none");
    fact_is_u64("gpu.0.processes", 1);
    fact_is_u64("gpu.1.processes", 0);
    no_fact("gpu.0.mig_mode");
    no_fact("gpu.0.fabric_state");
    fact_is_bool("gpu.any_exclusive", true);
    fact_is_bool("gpu.any_ecc_uncorrected", true);
    fact_is_bool("gpu.any_remap_pending", true);
    fact_is_bool("gpu.memory_low", true);
    fact_is_bool("gpu.pcie_degraded", true);
    no_fact("gpu.any_mig");
    no_fact("gpu.fabric_not_ready");
    no_fact("gpu.any_remap_failed");
    status_is(PROBE_FAULT, "GPU 1 (00000000:07:00.0) has 2 uncorrected ECC errors");
    accused_are("gpu.1.ecc_uncorrected gpu.any_ecc_uncorrected");
}

static void an_a100_divided_by_mig_and_a_hot_one(void **state)
{
    (void)state;
    read_sample("a100-mig-driver515.xml");
    fact_is_string("gpu.cuda.version", "11.7");
    fact_is_string("gpu.0.mig_mode", "Enabled");
    fact_is_u64("gpu.0.mig_devices", 2);
    fact_is_u64("gpu.1.mig_devices", 0);
    fact_is_string("gpu.1.throttled", "hw_slowdown,hw_thermal_slowdown");
    fact_is_u64("gpu.1.ecc_uncorrected", 3);
    fact_is_u64("gpu.1.ecc_uncorrected_lifetime", 6);
    fact_is_bool("gpu.1.row_remap_pending", true);
    fact_is_bool("gpu.1.row_remap_failed", false);
    fact_is_u64("gpu.1.processes", 2);
    fact_is_bool("gpu.any_mig", true);
    fact_is_bool("gpu.any_exclusive", false);
    fact_is_bool("gpu.any_throttled", true);
    fact_is_bool("gpu.memory_low", true);
    fact_is_bool("gpu.pcie_degraded", false);
    fact_is_bool("gpu.0.persistence", true);
}

static void an_h100_on_a_fabric_is_well(void **state)
{
    (void)state;
    read_sample("h100-fabric-driver570.xml");
    status_is(PROBE_OK, "");
    fact_is_u64("gpu.0.ecc_uncorrected", 0);
    fact_is_u64("gpu.0.ecc_uncorrected_lifetime", 7);
    fact_is_string("gpu.0.fabric_state", "Completed");
    fact_is_string("gpu.0.fabric_status", "Success");
    fact_is_string("gpu.0.recovery_action", "None");
    fact_is_string("gpu.0.throttled", "none");
    fact_is_bool("gpu.fabric_not_ready", false);
    fact_is_bool("gpu.any_recovery_needed", false);
    fact_is_bool("gpu.any_ecc_uncorrected", false);
    fact_is_bool("gpu.any_remap_pending", false);
    fact_is_bool("gpu.any_remap_failed", false);
    fact_is_bool("gpu.any_mig", false);
    fact_is_bool("gpu.memory_low", false);
    no_fact("gpu.0.nvlinks_active");
}

static void a_geforce_tells_less_and_nothing_is_guessed(void **state)
{
    (void)state;
    read_sample("geforce-driver535.xml");
    status_is(PROBE_OK, "");
    fact_is_string("gpu.0.mig_mode", "N/A");
    fact_is_u64("gpu.0.pcie_generation", 1);
    fact_is_bool("gpu.any_mig", false);
    fact_is_bool("gpu.pcie_degraded", false);
    no_fact("gpu.0.ecc_enabled");
    no_fact("gpu.0.ecc_uncorrected");
    no_fact("gpu.any_ecc_uncorrected");
    no_fact("gpu.0.row_remap_pending");
    no_fact("gpu.0.fabric_state");
    no_fact("gpu.fabric_not_ready");
}

static void what_is_sick_is_a_fault(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *reason;
    } cases[] = {
        {"<remapped_row_failure>No", "<remapped_row_failure>Yes", "could not remap a bad memory row: have the board replaced"},
        {"<sram_uncorrectable_secded>0", "<sram_uncorrectable_secded>1", "has 1 uncorrected ECC errors"},
        {"<gpu_recovery_action>None", "<gpu_recovery_action>Drain and Reset",
         "asks for a recovery of GPU 0 (00000000:1B:00.0): Drain and Reset"},
        {"<state>Completed", "<state>In Progress", "fabric of GPU 0 is not ready (In Progress"},
        {"<status>Success", "<status>NV_ERR_TIMEOUT", "fabric of GPU 0 is not ready (Completed, NV_ERR_TIMEOUT)"},
        {"<gpu_temp>30 C", "<gpu_temp>GPU is lost", "GPU 0 (00000000:1B:00.0) does not answer: the driver says 'GPU is lost'"},
        {"<used>0 MiB", "<used>[Unknown Error]", "the driver says 'Unknown Error'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_text(changed("h100-fabric-driver570.xml", cases[i].from, cases[i].to));
        status_is(PROBE_FAULT, cases[i].reason);
    }
    fact_is_u64("gpu.count", 2);
}

static void links_are_counted(void **state)
{
    (void)state;
    char xml[600], links[600];
    tree_file("links", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-0000-0000-000000000000)\n"
                       "\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n\t Link 2: <inactive>\n"
                       "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
                       "\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n\t Link 2: 26.562 GB/s\n"
                       "GPU 7: one that the inventory does not know\n\t Link 0: 26.562 GB/s\n");
    (void)snprintf(xml, sizeof xml, "file=%s/h100-fabric-driver570.xml", RECORDED);
    (void)snprintf(links, sizeof links, "nvlink_file=%s", tree_path("links"));
    RUN("gpu_inventory", xml, links);
    fact_is_u64("gpu.0.nvlinks_active", 2);
    fact_is_u64("gpu.0.nvlinks_inactive", 1);
    fact_is_u64("gpu.1.nvlinks_active", 3);
    fact_is_bool("gpu.nvlinks_differ", true);
    tree_file("links", "GPU 0: NVIDIA H100\n\t NVML: Unable to retrieve NVLink information as all links are inActive\n");
    RUN("gpu_inventory", xml, links);
    fact_is_u64("gpu.0.nvlinks_active", 0);
    no_fact("gpu.1.nvlinks_active");
    no_fact("gpu.nvlinks_differ");
}

/* ---- damage ---- */

static void truncated_at_any_place_it_is_no_inventory(void **state)
{
    (void)state;
    char *text = changed("a100-mig-driver515.xml", "Ampere", "Ampere");
    size_t length = strlen(text);
    for (size_t cut = 10; cut < length - 20; cut += length / 40) {
        char kept = text[cut];
        text[cut] = '\0';
        read_text(text);
        status_is(PROBE_UNAVAILABLE, "is no complete inventory: line");
        assert_int_equal(ran.facts.count, 0);
        text[cut] = kept;
    }
}

static void hostile_xml_fetches_and_expands_nothing(void **state)
{
    (void)state;
    tree_file("secret", "NVIDIA Secret 9000");
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "<?xml version=\"1.0\"?>\n<!DOCTYPE nvidia_smi_log [<!ENTITY s SYSTEM \"%s\">]>\n"
                   "<nvidia_smi_log><driver_version>&s;</driver_version><gpu><product_name>&s;</product_name></gpu></nvidia_smi_log>",
                   tree_path("secret"));
    read_text(text);
    status_is(PROBE_OK, "");
    no_fact("gpu.driver.version");
    no_fact("gpu.0.name");
    read_text("<!DOCTYPE nvidia_smi_log [<!ENTITY a \"aaaaaaaaaaaaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">"
              "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;\">]>"
              "<nvidia_smi_log><driver_version>&d;&d;&d;&d;</driver_version></nvidia_smi_log>");
    no_fact("gpu.driver.version");
    char *deep = calloc(1, 200000);
    assert_non_null(deep);
    for (size_t i = 0; i < 20000; i++)
        memcpy(deep + i * 3, "<a>", 3);
    read_text(deep);
    free(deep);
    status_is(PROBE_UNAVAILABLE, "is no complete inventory");
    read_text("<html><body>proxy error</body></html>");
    status_is(PROBE_UNAVAILABLE, "the root element is html, not nvidia_smi_log");
    read_text("");
    status_is(PROBE_UNAVAILABLE, "is no complete inventory");
    read_text("<nvidia_smi_log><gpu><product_name>x\x1b[31m</product_name></gpu></nvidia_smi_log>");
    status_is(PROBE_UNAVAILABLE, "is no complete inventory");
}

static void odd_values_are_not_told(void **state)
{
    (void)state;
    read_text("<nvidia_smi_log><gpu><fb_memory_usage><total>-5 MiB</total><used>99999999999999999999 MiB</used><free>18446744073709551615 "
              "MiB</free>"
              "</fb_memory_usage><temperature><gpu_temp>warm</gpu_temp></temperature><processes>N/A</processes></gpu></nvidia_smi_log>");
    fact_is_u64("gpu.count", 1);
    no_fact("gpu.0.memory_total_bytes");
    no_fact("gpu.0.memory_used_bytes");
    no_fact("gpu.0.memory_free_bytes");
    no_fact("gpu.0.temperature_c");
    no_fact("gpu.0.processes");
    no_fact("gpu.memory_low");
    status_is(PROBE_OK, "");
}

static void more_gpus_than_a_machine_has(void **state)
{
    (void)state;
    char *text = calloc(1, 100000);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "<nvidia_smi_log>");
    for (int i = 0; i < 500; i++)
        used += (size_t)sprintf(text + used, "<gpu><product_name>G%d</product_name></gpu>", i);
    (void)sprintf(text + used, "</nvidia_smi_log>");
    read_text(text);
    free(text);
    fact_is_u64("gpu.count", 64);
    fact_is_string("gpu.63.name", "G63");
}

/* ---- an nvidia-smi that answers, and such as do not ---- */

static void run_program(const char *text)
{
    char setting[600];
    tree_program("nvidia-smi", text);
    (void)snprintf(setting, sizeof setting, "command=%s", tree_path("nvidia-smi"));
    RUN("gpu_inventory", setting, "@proc", "@sys", "@dev", "$PATH=/usr/bin:/bin");
}

static void the_command_is_run_and_its_links_asked(void **state)
{
    (void)state;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\ncase \"$1\" in\n-q) echo a warning >&2; cat %s/h100-fabric-driver570.xml; exit 14;;\n"
                   "nvlink) printf 'GPU 0: H100\\n\\t Link 0: 26.562 GB/s\\n';;\nesac\n",
                   RECORDED);
    run_program(text);
    status_is(PROBE_OK, "");
    fact_is_u64("gpu.count", 2);
    fact_is_u64("gpu.0.nvlinks_active", 1);
    assert_string_equal(fact_set_find(&ran.facts, "gpu.count")->origin, "nvidia-smi -q -x");
}

static void the_command_is_found_in_the_jobs_path(void **state)
{
    (void)state;
    char text[1024], path[600];
    (void)snprintf(text, sizeof text, "#!/bin/sh\n[ \"$1\" = -q ] && cat %s/geforce-driver535.xml\n", RECORDED);
    tree_program("bin/nvidia-smi", text);
    (void)snprintf(path, sizeof path, "$PATH=/nonexistent:%s:/usr/bin:/bin", tree_path("bin"));
    RUN("gpu_inventory", path);
    fact_is_string("gpu.0.name", "NVIDIA GeForce RTX 4090");
}

static void a_driver_that_hangs_is_a_fault_in_bounded_time(void **state)
{
    (void)state;
    uint64_t before = clock_ns();
    run_program("#!/bin/sh\necho $$ > \"$(dirname \"$0\")/pid\"\ntrap '' TERM\nsleep 30 &\nwait\nsleep 30\n");
    double seconds = (double)(clock_ns() - before) / 1e9;
    status_is(PROBE_FAULT, "nvidia-smi gave no answer within 8 s: the driver or a GPU hangs");
    fact_is_bool("gpu.driver.present", false);
    assert_true(seconds > 7 && seconds < 10);
    FILE *file = fopen(tree_path("pid"), "r");
    int pid = 0;
    assert_true(file && fscanf(file, "%d", &pid) == 1 && pid > 0);
    (void)fclose(file);
    assert_int_equal(kill(pid, 0), -1); /* nothing of it is left */
}

static void a_flood_is_cut(void **state)
{
    (void)state;
    run_program("#!/bin/sh\nexec cat /dev/zero\n");
    status_is(PROBE_UNAVAILABLE, "wrote more than 16 MiB");
}

#define MODULE "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 24 22:53:14 UTC 2024\n"

static void what_nvidia_smi_says_instead(void **state)
{
    (void)state;
    run_program("#!/bin/sh\necho \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that it is "
                "loaded.\"\nexit 9\n");
    status_is(PROBE_UNAVAILABLE, "the nvidia kernel module is not loaded: nvidia-smi (status 9) says 'NVIDIA-SMI has failed");
    fact_is_bool("gpu.driver.present", false);
    no_fact("gpu.count");
    assert_non_null(strstr(ran.result->evidence, "couldn't communicate"));

    tree_file("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
    tree_file("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
    run_program("#!/bin/sh\necho \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"\nexit 9\n");
    status_is(PROBE_FAULT, "the nvidia kernel module is not loaded although the PCI bus has NVIDIA GPUs");

    tree_file("proc/driver/nvidia/version", MODULE "GCC version:  gcc 11\n");
    run_program(
        "#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'\necho 'NVML library version: 550.54'\nexit 18\n");
    status_is(PROBE_FAULT, "the NVIDIA libraries (550.54) do not fit the loaded kernel module (535.161.08): reboot");
    fact_is_string("gpu.driver.version", "535.161.08");

    run_program("#!/bin/sh\necho 'Failed to initialize NVML: Unknown Error' >&2\nexit 255\n");
    status_is(PROBE_FAULT, "often by systemctl daemon-reload");

    run_program("#!/bin/sh\necho 'Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover "
                "this GPU'\nexit 15\n");
    status_is(PROBE_FAULT, "a GPU is lost: nvidia-smi says 'Unable to determine the device handle for GPU 0000:3B:00.0");

    run_program("#!/bin/sh\necho 'No devices were found'\nexit 6\n");
    status_is(PROBE_UNAVAILABLE, "this container was given no GPU");
    fact_is_u64("gpu.count", 0);
    fact_is_bool("gpu.driver.present", true);
    tree_file("dev/nvidia0", "");
    run_program("#!/bin/sh\necho 'No devices were found'\nexit 6\n");
    status_is(PROBE_FAULT, "finds no GPU although the PCI bus has some");

    run_program("#!/bin/sh\necho 'something new'\nexit 3\n");
    status_is(PROBE_FAULT, "kernel module 535.161.08 is loaded, but nvidia-smi (status 3) says 'something new'");
    run_program("#!/bin/sh\nkill -SEGV $$\n");
    status_is(PROBE_FAULT, "nvidia-smi (status 139) says 'nothing'");
}

/* ---- no nvidia-smi ---- */

#define BARE "@proc", "@sys", "@dev", "command=/nonexistent/nvidia-smi"

static void what_is_missing_is_said(void **state)
{
    (void)state;
    RUN("gpu_inventory", BARE);
    status_is(PROBE_SKIPPED,
              "no NVIDIA GPU here: none on the PCI bus, no nvidia kernel module, and /nonexistent/nvidia-smi is no executable file");
    fact_is_u64("gpu.count", 0);
    fact_is_bool("gpu.driver.present", false);

    tree_file("sys/bus/pci/devices/0000:3b:00.0/vendor", "0x10de\n");
    tree_file("sys/bus/pci/devices/0000:3b:00.0/class", "0x030200\n");
    tree_file("sys/bus/pci/devices/0000:3b:00.1/vendor", "0x10de\n");
    tree_file("sys/bus/pci/devices/0000:3b:00.1/class", "0x040300\n"); /* its audio part */
    RUN("gpu_inventory", BARE);
    status_is(PROBE_FAULT, "1 NVIDIA GPU is on the PCI bus, but the nvidia kernel module is not loaded");

    tree_link("sys/bus/pci/devices/0000:3b:00.0/driver", "../../../bus/pci/drivers/vfio-pci");
    RUN("gpu_inventory", BARE);
    status_is(PROBE_UNAVAILABLE, "belong to the kernel driver vfio-pci");

    tree_file("proc/driver/nvidia/version", MODULE);
    tree_file("proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: NVIDIA H100\n");
    RUN("gpu_inventory", BARE);
    status_is(PROBE_UNAVAILABLE, "module 535.161.08 is loaded, but this container was given no GPU");
    fact_is_u64("gpu.count", 1);
    fact_is_string("gpu.driver.version", "535.161.08");
    no_fact("gpu.driver.present");

    tree_file("dev/nvidia3", "");
    RUN("gpu_inventory", BARE);
    status_is(PROBE_UNAVAILABLE, "module 535.161.08 is loaded, but /nonexistent/nvidia-smi is no executable file");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_start, tree_end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_v100_of_an_old_driver),
        TEST(an_a100_divided_by_mig_and_a_hot_one),
        TEST(an_h100_on_a_fabric_is_well),
        TEST(a_geforce_tells_less_and_nothing_is_guessed),
        TEST(what_is_sick_is_a_fault),
        TEST(links_are_counted),
        TEST(truncated_at_any_place_it_is_no_inventory),
        TEST(hostile_xml_fetches_and_expands_nothing),
        TEST(odd_values_are_not_told),
        TEST(more_gpus_than_a_machine_has),
        TEST(the_command_is_run_and_its_links_asked),
        TEST(the_command_is_found_in_the_jobs_path),
        TEST(a_driver_that_hangs_is_a_fault_in_bounded_time),
        TEST(a_flood_is_cut),
        TEST(what_nvidia_smi_says_instead),
        TEST(what_is_missing_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

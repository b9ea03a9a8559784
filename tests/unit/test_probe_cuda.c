/* The probe "cuda" on a fake driver: each fault is found and named, and costs no more than its deadline. */
#include "gpu_scenario.h"

#define DRIVER "LD_LIBRARY_PATH=" FAKES "/driver"
#define TEST(function, ...)                                                   \
    static void function(void **state)                                        \
    {                                                                         \
        (void)state;                                                          \
        scenario_run(&(const struct scenario){.probe = "cuda", __VA_ARGS__}); \
    }

TEST(healthy_devices_are_ok, .env = {DRIVER, "FAKE_GPU_COUNT=3"}, .status = PROBE_OK,
     .facts = {"cuda.device.count=3", "cuda.device.2.status=ok", "cuda.device.1.wrong_bytes=0", "cuda.peer.2.0=true", "cuda.peer.bad=none",
               "cuda.device.0.kernel=toolkit", "cuda.nvml.status=ok", "cuda.device.0.processes=0",
               "cuda.library.path=" FAKES "/driver/libcuda.so.1", "cuda.init.status=CUDA_SUCCESS"},
     .log = "-> " FAKES "/driver/libcuda.so.1 (LD_LIBRARY_PATH)")
TEST(no_driver_is_unavailable, .env = {"LD_LIBRARY_PATH="}, .params = {"libcuda=/nonexistent"}, .status = PROBE_UNAVAILABLE,
     .reason = {"no libcuda.so.1 at /nonexistent", "not installed here"}, .facts = {"cuda.init.status=no-library", "!cuda.device.count"})
TEST(a_library_that_does_not_load_is_named, .env = {DRIVER}, .params = {"libcuda=" FACTS_XML}, .status = PROBE_UNAVAILABLE,
     .reason = {"libcuda.so.1 cannot be loaded", "facts.xml"})
TEST(no_device, .env = {DRIVER, "FAKE_GPU_COUNT=0"}, .status = PROBE_FAULT, .reason = {"CUDA_ERROR_NO_DEVICE", "sees no GPU"},
     .facts = {"cuda.init.status=CUDA_ERROR_NO_DEVICE"})
TEST(hidden_devices_name_the_variable, .env = {DRIVER, "CUDA_VISIBLE_DEVICES=-1"}, .status = PROBE_FAULT,
     .reason = {"CUDA_ERROR_NO_DEVICE", "CUDA_VISIBLE_DEVICES=-1"})
TEST(driver_and_module_differ, .env = {DRIVER, "FAKE_GPU_INIT=803"}, .status = PROBE_FAULT,
     .reason = {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "reboot"})
TEST(fabric_manager_down, .env = {DRIVER, "FAKE_GPU_INIT=802"}, .status = PROBE_FAULT,
     .reason = {"CUDA_ERROR_SYSTEM_NOT_READY", "fabric manager"})
TEST(an_older_driver_takes_the_older_kernel, .env = {DRIVER, "FAKE_GPU_DRIVER=11080"}, .params = {"libcudart=/nonexistent"},
     .status = PROBE_OK, .facts = {"cuda.driver.version=11.8", "cuda.device.0.kernel=sm_60", "cuda.device.0.status=ok"})
TEST(an_older_gpu_takes_the_older_kernel, .env = {DRIVER, "FAKE_GPU_CAPABILITY=60"}, .status = PROBE_OK,
     .facts = {"cuda.device.0.capability=6.0", "cuda.device.0.kernel=sm_60"})
TEST(driver_too_old_for_the_runtime, .env = {DRIVER, "FAKE_GPU_DRIVER=11080"}, .params = {"libcudart=" FAKES "/runtime"},
     .status = PROBE_FAULT, .reason = {"supports CUDA 11.8", "is 13.0", "CUDA_ERROR_INSUFFICIENT_DRIVER"},
     .facts = {"cuda.runtime.too_new=true"})
TEST(busy_device, .env = {DRIVER, "FAKE_GPU_BUSY=1"}, .status = PROBE_FAULT,
     .reason = {"device 1", "context", "CUDA_ERROR_DEVICE_UNAVAILABLE", "4711"},
     .facts = {"cuda.device.0.status=ok", "cuda.device.1.status=CUDA_ERROR_DEVICE_UNAVAILABLE",
               "cuda.device.1.compute_mode=Exclusive_Process", "cuda.device.1.processes=1"})
TEST(ecc_error, .env = {DRIVER, "FAKE_GPU_ECC=0"}, .status = PROBE_FAULT, .reason = {"device 0", "uncorrected ECC"},
     .facts = {"cuda.device.0.status=CUDA_ERROR_ECC_UNCORRECTABLE", "cuda.device.0.ecc_uncorrected=2", "cuda.device.1.status=ok"})
TEST(memory_that_changes, .env = {DRIVER, "FAKE_GPU_BITFLIP=1"}, .status = PROBE_FAULT,
     .reason = {"device 1", "1 bytes came back different", "offset 16777216"},
     .facts = {"cuda.device.1.status=wrong-result", "cuda.device.1.wrong_bytes=1", "cuda.device.0.wrong_bytes=0"})
TEST(failing_peer_pair, .env = {DRIVER, "FAKE_GPU_COUNT=4", "FAKE_GPU_BAD_PAIR=1,3"}, .status = PROBE_FAULT,
     .reason = {"1>3 wrong data", "3>1 wrong data", "NCCL_P2P_DISABLE=1"}, .facts = {"cuda.peer.bad=1>3 wrong data, 3>1 wrong data"})
TEST(no_peer_access_is_no_fault, .env = {DRIVER, "FAKE_GPU_NO_PEERS=1"}, .status = PROBE_OK, .facts = {"cuda.peer.0.1=false"})
TEST(an_allocation_beyond_memory, .env = {DRIVER}, .params = {"bytes=2000000000"}, .status = PROBE_FAULT,
     .reason = {"allocation", "CUDA_ERROR_OUT_OF_MEMORY"}, .facts = {"cuda.device.0.status=CUDA_ERROR_OUT_OF_MEMORY"})
TEST(little_free_memory_is_enough, .env = {DRIVER, "FAKE_GPU_TAKEN_MIB=1020"}, .status = PROBE_OK,
     .facts = {"cuda.device.0.memory_free_bytes=4194304"})
TEST(a_kernel_that_never_ends, .env = {DRIVER, "FAKE_GPU_HANG=1"}, .timeout = 4, .status = PROBE_FAULT,
     .reason = {"device 1", "kernel did not finish in time"}, .facts = {"cuda.device.0.status=ok", "cuda.device.1.status=timed-out"},
     .within = 4.2)
TEST(a_driver_that_never_answers, .env = {DRIVER, "FAKE_GPU_HANG_INIT=1"}, .timeout = 1.5, .status = PROBE_FAULT,
     .reason = {"cuInit did not return in time"}, .facts = {"cuda.init.status=timed-out"}, .within = 1.7)
TEST(nvml_of_another_version, .env = {DRIVER, "FAKE_GPU_NVML_MISMATCH=1"}, .status = PROBE_OK,
     .facts = {"cuda.nvml.status=Driver/library version mismatch", "!cuda.device.0.processes"})
TEST(a_number_that_is_none, .env = {DRIVER}, .params = {"bytes=many"}, .status = PROBE_UNAVAILABLE, .reason = {"'many', not a number"})
TEST(a_driver_library_without_functions, .env = {DRIVER}, .params = {"libcuda=" FAKES "/empty"}, .status = PROBE_UNAVAILABLE,
     .reason = {"lacks cuInit"})

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_devices_are_ok),
        cmocka_unit_test(no_driver_is_unavailable),
        cmocka_unit_test(a_library_that_does_not_load_is_named),
        cmocka_unit_test(a_driver_library_without_functions),
        cmocka_unit_test(no_device),
        cmocka_unit_test(hidden_devices_name_the_variable),
        cmocka_unit_test(driver_and_module_differ),
        cmocka_unit_test(fabric_manager_down),
        cmocka_unit_test(an_older_driver_takes_the_older_kernel),
        cmocka_unit_test(an_older_gpu_takes_the_older_kernel),
        cmocka_unit_test(driver_too_old_for_the_runtime),
        cmocka_unit_test(busy_device),
        cmocka_unit_test(ecc_error),
        cmocka_unit_test(memory_that_changes),
        cmocka_unit_test(failing_peer_pair),
        cmocka_unit_test(no_peer_access_is_no_fault),
        cmocka_unit_test(an_allocation_beyond_memory),
        cmocka_unit_test(little_free_memory_is_enough),
        cmocka_unit_test(a_kernel_that_never_ends),
        cmocka_unit_test(a_driver_that_never_answers),
        cmocka_unit_test(nvml_of_another_version),
        cmocka_unit_test(a_number_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

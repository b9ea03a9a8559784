/* Every result of the driver API that a probe can meet: its name, and what it means on a machine that trains. */
#include "cuda_api.h"

#define RESULT(code, meaning) \
    {                         \
        code, #code, meaning  \
    }
static const struct {
    unsigned code;
    const char *name, *meaning;
} results[] = {
    RESULT(CUDA_SUCCESS, ""),
    RESULT(CUDA_ERROR_INVALID_VALUE, "the driver refuses an argument: it is older than this call needs"),
    RESULT(CUDA_ERROR_OUT_OF_MEMORY, "the device has not that much free memory: another process holds it, or a dead one still does"),
    RESULT(CUDA_ERROR_NOT_INITIALIZED, "cuInit did not succeed before"),
    RESULT(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"),
    RESULT(CUDA_ERROR_PROFILER_DISABLED, ""),
    RESULT(CUDA_ERROR_STUB_LIBRARY,
           "the toolkit's stub stands in for the driver: take .../stubs out of LD_LIBRARY_PATH or pass the driver in"),
    RESULT(CUDA_ERROR_DEVICE_UNAVAILABLE,
           "another process holds the device and its compute mode lets in one only (nvidia-smi -c 0), or it waits for a reset"),
    RESULT(CUDA_ERROR_NO_DEVICE,
           "the driver sees no GPU: none is fitted or passed in, CUDA_VISIBLE_DEVICES hides all, or they fell off the bus"),
    RESULT(CUDA_ERROR_INVALID_DEVICE, "no such device: CUDA_VISIBLE_DEVICES names fewer than the job uses"),
    RESULT(CUDA_ERROR_DEVICE_NOT_LICENSED, "a virtual GPU without a licence"),
    RESULT(CUDA_ERROR_INVALID_IMAGE, "the driver cannot read the kernel's code"),
    RESULT(CUDA_ERROR_INVALID_CONTEXT, "the context is gone: an earlier error destroyed it"),
    RESULT(CUDA_ERROR_MAP_FAILED, "the driver could not map memory"),
    RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, "the code holds nothing for this generation of GPU"),
    RESULT(CUDA_ERROR_ALREADY_ACQUIRED, ""),
    RESULT(CUDA_ERROR_ECC_UNCORRECTABLE,
           "the GPU's memory lost data beyond repair: drain the node, reset the GPU, look for Xid 48, 63, 94, 95"),
    RESULT(CUDA_ERROR_UNSUPPORTED_LIMIT, ""),
    RESULT(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, ""),
    RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the two GPUs cannot reach each other's memory: copies go through the host"),
    RESULT(CUDA_ERROR_INVALID_PTX, "the driver's compiler rejects the kernel"),
    RESULT(CUDA_ERROR_NVLINK_UNCORRECTABLE, "an NVLink lost data beyond repair: look for Xid 74 and at nvidia-smi nvlink -e"),
    RESULT(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "libnvidia-ptxjitcompiler.so.1 of the driver is missing (in a container: not passed in)"),
    RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the code was built by a toolkit newer than the driver: upgrade the driver"),
    RESULT(CUDA_ERROR_JIT_COMPILATION_DISABLED, "CUDA_DISABLE_PTX_JIT forbids compiling"),
    RESULT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, ""),
    RESULT(CUDA_ERROR_INVALID_SOURCE, ""),
    RESULT(CUDA_ERROR_FILE_NOT_FOUND, ""),
    RESULT(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a part of the driver is missing or of another version"),
    RESULT(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a part of the driver is missing or of another version"),
    RESULT(CUDA_ERROR_OPERATING_SYSTEM,
           "the kernel refused the driver: permissions of /dev/nvidia*, a cgroup's device rules, locked memory"),
    RESULT(CUDA_ERROR_INVALID_HANDLE, ""),
    RESULT(CUDA_ERROR_ILLEGAL_STATE, ""),
    RESULT(CUDA_ERROR_NOT_FOUND, "the module lacks the kernel"),
    RESULT(CUDA_ERROR_NOT_READY, "it had not finished in time"),
    RESULT(CUDA_ERROR_ILLEGAL_ADDRESS,
           "a kernel touched memory that is not its own; with code known to be right: failing hardware (Xid 31)"),
    RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, ""),
    RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, "the display's watchdog ended the kernel"),
    RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, ""),
    RESULT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, ""),
    RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, ""),
    RESULT(CUDA_ERROR_ASSERT, "a device-side assertion failed"),
    RESULT(CUDA_ERROR_TOO_MANY_PEERS, "a GPU can have no more than eight peers at a time"),
    RESULT(CUDA_ERROR_HARDWARE_STACK_ERROR, "failing hardware or a corrupt stack"),
    RESULT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "failing hardware or broken code"),
    RESULT(CUDA_ERROR_MISALIGNED_ADDRESS, ""),
    RESULT(CUDA_ERROR_INVALID_PC, "failing hardware or broken code"),
    RESULT(CUDA_ERROR_LAUNCH_FAILED, "the kernel died on the device: look for an Xid in the kernel's log"),
    RESULT(CUDA_ERROR_NOT_PERMITTED, "a container, MPS or a profiler setting forbids it"),
    RESULT(CUDA_ERROR_NOT_SUPPORTED, "this GPU or driver cannot do it"),
    RESULT(CUDA_ERROR_SYSTEM_NOT_READY,
           "the fabric manager is not running or has not set up the NVSwitches (systemctl status nvidia-fabricmanager)"),
    RESULT(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
           "libcuda and the loaded kernel module differ in version: reboot or reload it after the upgrade"),
    RESULT(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
           "cuda-compat's libcuda works on data-centre GPUs only: take it out of LD_LIBRARY_PATH"),
    RESULT(CUDA_ERROR_MPS_CONNECTION_FAILED, "the MPS control daemon does not answer"),
    RESULT(CUDA_ERROR_MPS_RPC_FAILURE, "the MPS server failed"),
    RESULT(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is restarting, or another user's job holds it"),
    RESULT(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "MPS has no room for another process"),
    RESULT(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "MPS has no room for another connection"),
    RESULT(CUDA_ERROR_UNKNOWN, "the driver is in a bad state: permissions of /dev/nvidia*, a missing nvidia-uvm module, or reboot"),
};

static size_t row(CUresult result)
{
    size_t i = 0;
    while (i < sizeof results / sizeof *results && results[i].code != (unsigned)result)
        i++;
    return i;
}

const char *cuda_error_name(const struct cuda_api *api, CUresult result)
{
    size_t i = row(result);
    if (i < sizeof results / sizeof *results)
        return results[i].name;
    const char *name = NULL;
    if (api && api->cuGetErrorName && api->cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
        return name;
    return "CUDA_ERROR_UNKNOWN";
}

const char *cuda_error_meaning(CUresult result)
{
    size_t i = row(result);
    return i < sizeof results / sizeof *results ? results[i].meaning : "";
}

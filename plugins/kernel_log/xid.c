#include "xid.h"

#include <stdlib.h>

#define APP XID_APPLICATION, XID_CHECK_JOB
#define AFTER XID_AFTERMATH, XID_NOTHING
#define NOTE XID_NOTE, XID_NOTHING
#define DRIVER XID_DRIVER, XID_RESET_GPU
#define RESET XID_HARDWARE, XID_RESET_GPU
#define SERVICE XID_HARDWARE, XID_SERVICE

/* In ascending order. From 126 on as NVIDIA's "Analyzing Xid Errors with the Xid Catalog" has them. */
static const struct xid table[] = {
    {8, XID_DRIVER, XID_RESTART_JOB, "the GPU stopped processing a channel"},
    {11, APP, "invalid commands in the push buffer"},
    {13, APP, "exception in a compute or graphics kernel, such as an address out of range or an illegal instruction"},
    {16, XID_DRIVER, XID_RESTART_JOB, "the display engine hung"},
    {24, XID_DRIVER, XID_RESTART_JOB, "a semaphore of the GPU timed out"},
    {25, APP, "the push buffer holds an illegal stream"},
    {26, DRIVER, "access to GPU memory timed out"},
    {31, APP, "page fault: a kernel touched GPU memory that is not mapped"},
    {32, XID_DRIVER, XID_RESTART_JOB, "the push buffer arrived corrupted, often by a poor PCIe connection"},
    {37, XID_DRIVER, XID_RESTART_JOB, "error in the driver's firmware"},
    {38, XID_DRIVER, XID_RESTART_JOB, "error in the driver's firmware"},
    {39, APP, "fault in a copy engine"},
    {40, APP, "fault in a copy engine"},
    {41, APP, "fault in a copy engine"},
    {43, APP, "a channel was stopped after a fault of the job; the GPU itself is well"},
    {44, XID_DRIVER, XID_RESTART_JOB, "fault while the GPU switched contexts"},
    {45, AFTER, "channels were torn down because the job ended or failed before"},
    {46, DRIVER, "the GPU stopped processing"},
    {48, RESET, "uncorrectable (double-bit) ECC error"},
    {54, SERVICE, "auxiliary power is not connected to the board"},
    {56, XID_DRIVER, XID_RESTART_JOB, "error in the display engine"},
    {57, SERVICE, "the memory interface could not be programmed"},
    {58, SERVICE, "the memory interface is unstable"},
    {59, DRIVER, "error in the internal micro-controller"},
    {60, XID_DRIVER, XID_RESTART_JOB, "fault in a video processor"},
    {61, DRIVER, "warning or breakpoint of the internal micro-controller"},
    {62, RESET, "the internal micro-controller halted"},
    {63, NOTE, "a bad memory row was marked for remapping (a page for retirement); it takes effect with the next reset"},
    {64, SERVICE, "a bad memory row could not be remapped (a page not retired)"},
    {65, XID_DRIVER, XID_RESTART_JOB, "fault in a video processor"},
    {66, XID_DRIVER, XID_RESTART_JOB, "illegal access by the driver"},
    {67, XID_DRIVER, XID_RESTART_JOB, "illegal access by the driver"},
    {68, APP, "fault in a video decoder"},
    {69, APP, "a kernel's launch used a class or value the engine does not know"},
    {70, APP, "fault in a copy engine"},
    {71, APP, "fault in a copy engine"},
    {72, APP, "fault in a copy engine"},
    {73, APP, "fault in a video encoder"},
    {74, RESET, "NVLink error between GPUs, or GPU and switch"},
    {75, APP, "fault in a copy engine"},
    {76, APP, "fault in a copy engine"},
    {77, APP, "fault in a copy engine"},
    {78, XID_DRIVER, XID_NOTHING, "a virtual GPU could not be started"},
    {79, XID_HARDWARE, XID_REBOOT_NODE, "the GPU has fallen off the bus"},
    {80, SERVICE, "data sent to the GPU arrived corrupted"},
    {81, XID_HARDWARE, XID_SERVICE, "error in the VGA subsystem"},
    {82, APP, "fault in the JPEG engine"},
    {83, APP, "fault in a video decoder"},
    {84, APP, "fault in a video decoder"},
    {85, APP, "fault in a copy engine"},
    {86, APP, "fault in the optical flow engine"},
    {88, APP, "fault in a video decoder"},
    {89, APP, "fault in a video decoder"},
    {92, NOTE, "many correctable ECC errors"},
    {93, NOTE, "the board's InfoROM was written more often than it is made for"},
    {94, XID_HARDWARE, XID_RESTART_JOB, "uncorrectable memory error, contained: only the job that used it was ended"},
    {95, RESET, "uncorrectable memory error, not contained: every job on the GPU is affected"},
    {96, APP, "fault in a video decoder"},
    {97, APP, "fault in a video decoder"},
    {98, APP, "fault in a video decoder"},
    {109, DRIVER, "switching contexts timed out"},
    {110, RESET, "security fault"},
    {119, DRIVER, "the GPU's system processor (GSP) did not answer a call in time"},
    {120, DRIVER, "error in the GPU's system processor (GSP)"},
    {121, XID_NOTE, XID_SERVICE, "corrected error on the chip-to-chip link"},
    {122, XID_NOTE, XID_SERVICE, "the board's flash could not be read"},
    {123, XID_NOTE, XID_SERVICE, "the board's flash could not be written"},
    {124, XID_NOTE, XID_SERVICE, "the board's flash could not be erased"},
    {125, XID_NOTE, XID_SERVICE, "error in the board's InfoROM"},
    {126, APP, "fault in a copy engine"},
    {127, APP, "fault in a copy engine"},
    {128, APP, "fault in a copy engine"},
    {129, APP, "fault in a copy engine"},
    {130, APP, "fault in a copy engine"},
    {131, APP, "fault in a copy engine"},
    {132, APP, "fault in a copy engine"},
    {133, APP, "fault in a copy engine"},
    {134, APP, "fault in a copy engine"},
    {135, APP, "fault in a copy engine"},
    {136, RESET, "an NVLink could not be trained"},
    {137, XID_APPLICATION, XID_CHECK_JOB, "fault at the far end of an NVLink: a peer's memory was accessed that is not mapped there"},
    {139, APP, "fault in the optical flow engine"},
    {140, RESET, "uncorrectable ECC error that was not recovered"},
    {141, NOTE, "error on CUDA's fast path"},
    {142, APP, "fault in a video encoder"},
    {143, RESET, "the GPU could not be initialized"},
    {144, RESET, "NVLink error in the unit SAW"},
    {145, RESET, "NVLink error in the unit RLW"},
    {146, RESET, "NVLink error in the unit TLW"},
    {147, RESET, "NVLink error in the unit TREX"},
    {148, RESET, "NVLink error in the unit NVLPW_CTRL"},
    {149, RESET, "NVLink error in the unit NETIR"},
    {150, RESET, "NVLink error in the unit MSE"},
    {151, DRIVER, "error while rotating keys"},
    {154, AFTER, "the recovery that the GPU asks for has changed"},
    {155, RESET, "NVLink error that the driver detected"},
    {156, XID_NOTE, XID_RESET_GPU, "a failing part of the GPU is taken out of use; it takes effect with the next reset"},
    {157, XID_NOTE, XID_SERVICE, "a failing part of the GPU could not be taken out of use"},
    {158, RESET, "fatal time-out inside the GPU"},
    {159, RESET, "error on the coherent link to the processor"},
    {160, NOTE, "a failing memory channel was taken out of use"},
    {161, XID_NOTE, XID_SERVICE, "a failing memory channel could not be taken out of use"},
    {162, NOTE, "power smoothing is available again"},
    {163, NOTE, "power smoothing is no longer available"},
    {164, NOTE, "power smoothing nears the end of its life"},
    {165, NOTE, "power smoothing is past the end of its life"},
    {166, DRIVER, "traffic was seen before the link was set up for encryption"},
    {167, XID_HARDWARE, XID_REBOOT_NODE, "a PCIe transaction timed out for good"},
    {168, RESET, "errors in the write-protected memory region"},
    {169, RESET, "an internal micro-controller halted"},
    {170, DRIVER, "interrupt in a confidential-computing mode that must not see it"},
    {171, RESET, "uncorrectable ECC error in memory (detail of Xid 48)"},
    {172, RESET, "uncorrectable ECC error in a cache or register file (detail of Xid 48)"},
};

static int by_code(const void *key, const void *entry)
{
    unsigned code = *(const unsigned *)key, other = ((const struct xid *)entry)->code;
    return (code > other) - (code < other);
}

const struct xid *xid_find(unsigned code)
{
    static const struct xid unknown = {0, XID_NOTE, XID_NOTHING, "a code that is not in the catalogue known here"};
    const struct xid *found = bsearch(&code, table, sizeof table / sizeof *table, sizeof *table, by_code);
    return found ? found : &unknown;
}

const char *xid_kind_name(enum xid_kind kind)
{
    static const char *const names[] = {"application", "aftermath", "note", "driver", "hardware"};
    return names[kind];
}

const char *xid_action_text(enum xid_action action)
{
    static const char *const texts[] = {
        [XID_CHECK_JOB] = "look for the fault in the job (compute-sanitizer, CUDA_LAUNCH_BLOCKING=1)",
        [XID_NOTHING] = "nothing to do for it alone",
        [XID_RESTART_JOB] = "start the job again; when it comes back, reset the GPU",
        [XID_RESET_GPU] = "reset the GPU (nvidia-smi --gpu-reset) or reboot the node; when it comes back, have the board checked",
        [XID_REBOOT_NODE] = "reboot the node, with power off; when it comes back, reseat or replace the board",
        [XID_SERVICE] = "take the node out of service and have the board checked",
    };
    return texts[action];
}

bool xid_is_serious(const struct xid *xid)
{
    return xid->kind == XID_DRIVER || xid->kind == XID_HARDWARE;
}

bool xid_is_nvlink(unsigned code)
{
    return code == 74 || code == 136 || (code >= 144 && code <= 150) || code == 155;
}

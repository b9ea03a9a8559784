/* No inventory: what the machine itself shows of GPUs and driver, and what therefore is missing. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inventory.h"

struct machine {
    unsigned on_bus;  /* NVIDIA GPUs on the PCI bus */
    unsigned unbound; /* of these, without any driver */
    char driver[32];  /* the kernel driver of one that has another than nvidia */
    char module[64];  /* version of the loaded nvidia module, "" when it is not loaded */
    bool device_node; /* a GPU's own: what a container that was given none lacks */
};

static void look_at_device(struct kit *kit, const char *device, struct machine *machine)
{
    uint64_t vendor, kind;
    char path[PATH_MAX], link[PATH_MAX];
    if (!kit_read_u64(kit, &vendor, kit->call->sys_root, "bus/pci/devices/%s/vendor", device) || vendor != 0x10de ||
        !kit_read_u64(kit, &kind, kit->call->sys_root, "bus/pci/devices/%s/class", device) || kind >> 16 != 0x03)
        return;
    machine->on_bus++;
    int fits = snprintf(path, sizeof path, "%s/bus/pci/devices/%s/driver", kit->call->sys_root, device);
    ssize_t length = fits > 0 && (size_t)fits < sizeof path ? readlink(path, link, sizeof link - 1) : -1;
    if (length < 0) {
        machine->unbound++;
        return;
    }
    link[length] = '\0';
    const char *name = strrchr(link, '/') ? strrchr(link, '/') + 1 : link;
    if (strcmp(name, "nvidia") != 0)
        (void)snprintf(machine->driver, sizeof machine->driver, "%.31s", name);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb ...": the first word that begins with a digit and has a dot. */
static void read_module(struct kit *kit, struct machine *machine)
{
    char line[256], *save;
    if (!kit_read_line(kit, line, sizeof line, kit->call->proc_root, "driver/nvidia/version")) {
        (void)kit_read_line(kit, machine->module, sizeof machine->module, kit->call->sys_root, "module/nvidia/version");
        return;
    }
    (void)snprintf(machine->module, sizeof machine->module, "of unknown version");
    for (char *word = strtok_r(line, " \t", &save); word; word = strtok_r(NULL, " \t", &save))
        if (*word >= '0' && *word <= '9' && strchr(word, '.')) {
            (void)snprintf(machine->module, sizeof machine->module, "%.63s", word);
            return;
        }
}

static struct machine look(struct kit *kit)
{
    struct machine machine = {.on_bus = 0};
    size_t count = 0;
    const char **devices = kit_list(kit, &count, kit->call->sys_root, "bus/pci/devices");
    for (size_t i = 0; devices && i < count; i++)
        look_at_device(kit, devices[i], &machine);
    read_module(kit, &machine);
    for (unsigned i = 0; i < 16 && !machine.device_node; i++)
        machine.device_node = kit_exists(kit, kit->call->dev_root, "nvidia%u", i);
    return machine;
}

/* The module lists what it drives even where nvidia-smi is missing. */
static void emit_listed(struct kit *kit, const struct machine *machine)
{
    size_t count = 0;
    if (kit_list(kit, &count, kit->call->proc_root, "driver/nvidia/gpus"))
        kit_u64(kit, count, "devices", "driver/nvidia/gpus", "gpu.count");
    kit_string(kit, machine->module, "driver/nvidia/version", "gpu.driver.version");
}

static void report_unloaded(struct kit *kit, const struct machine *machine, const char *message)
{
    kit_wrong(kit, machine->on_bus && machine->unbound);
    kit_bool(kit, false, "driver/nvidia/version", "gpu.driver.present");
    kit_u64(kit, 0, "devices", "driver/nvidia/version", "gpu.count");
    if (!machine->on_bus)
        kit_skip(kit, "no NVIDIA GPU here: none on the PCI bus, no nvidia kernel module, and %s", message);
    else if (machine->unbound)
        kit_fault(kit, "%u NVIDIA GPU%s on the PCI bus, but the nvidia kernel module is not loaded: modprobe nvidia, or install the driver",
                  machine->on_bus, machine->on_bus == 1 ? " is" : "s are");
    else
        kit_unavailable(kit, "the NVIDIA GPUs here belong to the kernel driver %s; the nvidia kernel module is not loaded",
                        machine->driver);
}

void report_missing(struct kit *kit, const char *message)
{
    const struct machine machine = look(kit);
    if (!*machine.module) {
        report_unloaded(kit, &machine, message);
        return;
    }
    emit_listed(kit, &machine);
    if (machine.device_node)
        kit_unavailable(kit, "the nvidia kernel module %s is loaded, but %s", machine.module, message);
    else
        kit_unavailable(kit, "the nvidia kernel module %s is loaded, but this container was given no GPU (no %s/nvidia0), and %s",
                        machine.module, kit->call->dev_root, message);
}

void report_silence(struct kit *kit, double seconds)
{
    kit_wrong(kit, true);
    kit_bool(kit, false, "nvidia-smi", "gpu.driver.present");
    kit_fault(kit, "nvidia-smi gave no answer within %.0f s: the driver or a GPU hangs; look for Xid messages in the kernel's log",
              seconds);
}

/* ---- nvidia-smi's own words ---- */

static bool says(const char *message, const char *words)
{
    return strstr(message, words) != NULL;
}

static void report_mismatch(struct kit *kit, const struct machine *machine, const char *message)
{
    const char *library = strstr(message, "NVML library version: ");
    char version[32] = "another version";
    if (library)
        (void)snprintf(version, sizeof version, "%.*s", (int)strspn(library + 22, "0123456789."), library + 22);
    kit_fault(kit, "the NVIDIA libraries (%s) do not fit the loaded kernel module (%s): reboot, or unload and load the module again",
              version, *machine->module ? machine->module : "of unknown version");
}

static void report_no_devices(struct kit *kit, const struct machine *machine)
{
    kit_wrong(kit, machine->device_node);
    kit_u64(kit, 0, "devices", "nvidia-smi", "gpu.count");
    if (!machine->device_node)
        kit_unavailable(kit, "the driver is loaded, but this container was given no GPU (no %s/nvidia0)", kit->call->dev_root);
    else
        kit_fault(kit, "the driver is loaded and finds no GPU%s: look for NVRM messages in the kernel's log",
                  machine->on_bus ? " although the PCI bus has some" : "");
}

void report_refusal(struct kit *kit, const char *message, int status)
{
    const struct machine machine = look(kit);
    const char *line = message + strspn(message, " \t\r\n");
    if (!*line)
        line = "nothing";
    int length = (int)strcspn(line, "\r\n");
    kit->host->evidence(kit->call, "nvidia-smi", message, strlen(message));
    const bool found_none = says(message, "No devices were found"), mismatch = says(message, "version mismatch"),
               lost = says(message, "Unable to determine the device handle") || says(message, "GPU is lost"),
               denied = says(message, "Failed to initialize NVML: Unknown Error");
    kit_wrong(kit, !found_none && (mismatch || lost || denied || *machine.module || machine.unbound));
    kit_bool(kit, found_none, "nvidia-smi", "gpu.driver.present");
    if (*machine.module)
        kit_string(kit, machine.module, "driver/nvidia/version", "gpu.driver.version");
    if (found_none)
        report_no_devices(kit, &machine);
    else if (mismatch)
        report_mismatch(kit, &machine, message);
    else if (lost)
        kit_fault(kit, "a GPU is lost: nvidia-smi says '%.*s'; reboot the node", length, line);
    else if (denied)
        kit_fault(
            kit,
            "nvidia-smi says '%.*s': in a container its access to the devices was taken away, often by systemctl daemon-reload; start it "
            "again",
            length, line);
    else if (*machine.module)
        kit_fault(kit, "the nvidia kernel module %s is loaded, but nvidia-smi (status %d) says '%.*s'", machine.module, status, length,
                  line);
    else if (machine.unbound)
        kit_fault(kit, "the nvidia kernel module is not loaded although the PCI bus has NVIDIA GPUs: nvidia-smi says '%.*s'", length, line);
    else
        kit_unavailable(kit, "the nvidia kernel module is not loaded: nvidia-smi (status %d) says '%.*s'", status, length, line);
}

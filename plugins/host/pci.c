/* IOMMU and PCIe access control (ACS): both send traffic between devices the long way round. */
#include <stdio.h>
#include <string.h>

#include "parts.h"

/* True when some group's devices are translated, false when none; -1 when the groups do not tell. */
static int groups_translate(struct kit *kit)
{
    size_t count = 0;
    const char **groups = kit_list(kit, &count, kit->call->sys_root, "kernel/iommu_groups");
    int answer = -1;
    for (size_t i = 0; groups && i < count && answer < 1; i++) {
        char type[32];
        if (kit_read_line(kit, type, sizeof type, kit->call->sys_root, "kernel/iommu_groups/%s/type", groups[i]))
            answer = strcmp(type, "identity") != 0;
    }
    return answer;
}

static bool passes_through(struct kit *kit)
{
    const char *line = kit_read(kit, 8192, NULL, kit->call->proc_root, "cmdline");
    return line && (strstr(line, "iommu=pt") || strstr(line, "iommu.passthrough=1"));
}

static void emit_iommu(struct kit *kit)
{
    size_t units = 0;
    if (!kit_list(kit, &units, kit->call->sys_root, "class/iommu")) {
        kit_log(kit, 1, "%s/class/iommu cannot be read: whether an IOMMU is on is not known", kit->call->sys_root);
        return;
    }
    int translate = units ? groups_translate(kit) : 0;
    kit_bool(kit, translate < 0 ? !passes_through(kit) : translate, translate < 0 ? "cmdline" : "kernel/iommu_groups",
             "host.iommu.enabled");
}

enum {
    CONFIG_SIZE = 4096,
    EXTENDED = 0x100,
    ACS_ID = 0x000d,
    ACS_CONTROL = 6,
    ACS_REDIRECTS = 0x0c /* requests, completions */
};

static unsigned word(const unsigned char *config, unsigned at)
{
    return config[at] | (unsigned)config[at + 1] << 8;
}

/* The ACS control register of an extended configuration space; 0 when the device has none. */
static unsigned acs_control(const unsigned char *config)
{
    unsigned at = EXTENDED;
    for (int steps = 0; at >= EXTENDED && at + ACS_CONTROL + 2 <= CONFIG_SIZE && steps < 256; steps++) {
        if (word(config, at) == ACS_ID)
            return word(config, at + ACS_CONTROL);
        at = word(config, at + 2) >> 4 & ~3u; /* the next capability; 0 ends the list */
    }
    return 0;
}

static void emit_acs(struct kit *kit)
{
    size_t count = 0, bridges = 0, seen = 0;
    bool redirects = false;
    const char **devices = kit_list(kit, &count, kit->call->sys_root, "bus/pci/devices");
    for (size_t i = 0; devices && i < count && !redirects; i++) {
        uint64_t kind;
        size_t length = 0;
        if (!kit_read_u64(kit, &kind, kit->call->sys_root, "bus/pci/devices/%s/class", devices[i]) || kind >> 8 != 0x0604)
            continue;
        bridges++;
        const char *config = kit_read(kit, CONFIG_SIZE, &length, kit->call->sys_root, "bus/pci/devices/%s/config", devices[i]);
        if (!config || length < CONFIG_SIZE)
            continue; /* the kernel shows the extended space to the administrator only */
        seen++;
        redirects = (acs_control((const unsigned char *)config) & ACS_REDIRECTS) != 0;
    }
    if (seen)
        kit_bool(kit, redirects, "bus/pci/devices", "host.acs.enabled");
    else
        kit_log(kit, 1,
                bridges ? "PCIe access control is not known: only root can read the bridges' registers" : "there is no PCIe bridge");
}

void host_pci(struct kit *kit)
{
    emit_iommu(kit);
    emit_acs(kit);
}

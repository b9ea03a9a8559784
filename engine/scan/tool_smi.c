/* `nvidia-smi -q -x`: what the driver tells of each GPU, judged as the gpu_inventory probe judges a live one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include "scan/tool.h"

#define WORD_MAX 96
#define GPUS_MAX 256

struct gpu {
    const xmlNode *node;
    char name[2 * WORD_MAX]; /* "GPU 0 (00000000:07:00.0)" */
};

static const xmlNode *child(const xmlNode *node, const char *name, size_t length)
{
    for (const xmlNode *at = node->children; at; at = at->next)
        if (at->type == XML_ELEMENT_NODE && !strncmp((const char *)at->name, name, length) && !at->name[length])
            return at;
    return NULL;
}

static const xmlNode *descend(const xmlNode *node, const char *path)
{
    while (node && *path) {
        size_t length = strcspn(path, "/");
        node = child(node, path, length);
        path += length + (path[length] == '/');
    }
    return node;
}

/* The trimmed text at `path`; "" where it is missing or not available. */
static const char *word(const xmlNode *node, const char *path, char out[WORD_MAX])
{
    const xmlNode *at = descend(node, path);
    const char *text = at && at->children && at->children->type == XML_TEXT_NODE ? (const char *)at->children->content : "";
    text += strspn(text, " \t\r\n");
    (void)snprintf(out, WORD_MAX, "%s", text);
    for (size_t length = strlen(out); length && strchr(" \t\r\n", out[length - 1]);)
        out[--length] = '\0';
    if (!strcmp(out, "N/A") || !strcmp(out, "[N/A]"))
        *out = '\0';
    return out;
}

static bool is(const xmlNode *node, const char *path, const char *value)
{
    char text[WORD_MAX];
    return !strcmp(word(node, path, text), value);
}

static unsigned long long number(const xmlNode *node, const char *path)
{
    char text[WORD_MAX];
    return *word(node, path, text) >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

static void tell(struct tool_report *report, const struct gpu *gpu, const char *fact, const char *value, const char *words)
{
    struct tool_finding finding = {.role = ROLE_INITIATING, .rank = RANK_UNKNOWN};
    tool_field(&finding, "finding", fact);
    tool_field(&finding, "gpu", gpu->name);
    tool_field(&finding, "value", value);
    tool_tell(report, &finding, "nvidia-smi: %s %s", gpu->name, words);
    /* Fewer lanes may be how the machine was built; the rest stops or slows any job. */
    report->collect->training_log = report->collect->training_log || strcmp(fact, "pcie_width") != 0;
}

/* A machine may well be set up so; it explains what jobs that don't know of it run into. */
static void tell_setting(struct tool_report *report, const struct gpu *gpu, const char *fact, const char *value, const char *words)
{
    struct tool_finding finding = {.role = ROLE_UNKNOWN, .setting = true, .rank = RANK_UNKNOWN};
    tool_field(&finding, "finding", fact);
    tool_field(&finding, "gpu", gpu->name);
    tool_field(&finding, "value", value);
    tool_tell(report, &finding, "nvidia-smi: %s %s", gpu->name, words);
}

/* Three schemas: one figure for double-bit errors; SRAM and DRAM; SRAM split into parity and SECDED. Only what came since the last reset
 * counts: a card may have been mended long ago. */
static void tell_ecc(struct tool_report *report, const struct gpu *gpu)
{
    static const char *const parts[] = {"double_bit/total", "sram_uncorrectable", "sram_uncorrectable_parity", "sram_uncorrectable_secded",
                                        "dram_uncorrectable"};
    const xmlNode *errors = descend(gpu->node, "ecc_errors/volatile");
    unsigned long long sum = 0;
    for (size_t i = 0; errors && i < sizeof parts / sizeof *parts; i++)
        sum += number(errors, parts[i]);
    if (!sum)
        return;
    char value[24], words[WORD_MAX];
    (void)snprintf(value, sizeof value, "%llu", sum);
    (void)snprintf(words, sizeof words, "has %llu uncorrected ECC error%s since its last reset", sum, sum == 1 ? "" : "s");
    tell(report, gpu, "ecc_uncorrected", value, words);
}

static void tell_rows(struct tool_report *report, const struct gpu *gpu)
{
    if (is(gpu->node, "remapped_rows/remapped_row_failure", "Yes"))
        tell(report, gpu, "row_remap_failed", "Yes", "could not remap a bad memory row");
    if (is(gpu->node, "remapped_rows/remapped_row_pending", "Yes"))
        tell(report, gpu, "row_remap_pending", "Yes", "has a row remap that waits for a GPU reset");
    if (is(gpu->node, "retired_pages/pending_retirement", "Yes") || is(gpu->node, "retired_pages/pending_blacklist", "Yes"))
        tell(report, gpu, "page_retirement_pending", "Yes", "has a page retirement that waits for a GPU reset");
}

static void tell_throttling(struct tool_report *report, const struct gpu *gpu)
{
    static const char *const harmful[] = {"hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"};
    static const char *const forms[] = {"clocks_event_reasons/clocks_event_reason_", /* until driver 535 */
                                        "clocks_throttle_reasons/clocks_throttle_reason_"};
    char active[4 * WORD_MAX] = "", path[2 * WORD_MAX], words[5 * WORD_MAX];
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++)
        for (size_t k = 0; k < 2; k++) {
            (void)snprintf(path, sizeof path, "%s%s", forms[k], harmful[i]);
            size_t used = strlen(active);
            if (is(gpu->node, path, "Active"))
                (void)snprintf(active + used, sizeof active - used, "%s%s", used ? "," : "", harmful[i]);
        }
    if (!*active)
        return;
    (void)snprintf(words, sizeof words, "is slowed down by heat or power: %s", active);
    tell(report, gpu, "throttled", active, words);
}

/* Only boards on an NVSwitch fabric have a state. */
static void tell_fabric(struct tool_report *report, const struct gpu *gpu)
{
    char state[WORD_MAX], status[WORD_MAX], words[3 * WORD_MAX];
    (void)word(gpu->node, "fabric/state", state);
    (void)word(gpu->node, "fabric/status", status);
    bool well = !strcmp(state, "Completed") && (!*status || !strcmp(status, "Success"));
    if (!*state || !strcmp(state, "Not Supported") || well)
        return;
    (void)snprintf(words, sizeof words, "has not joined the NVSwitch fabric: state %s%s%s", state, *status ? ", " : "", status);
    tell(report, gpu, "fabric_state", state, words);
}

static void tell_modes(struct tool_report *report, const struct gpu *gpu)
{
    char action[WORD_MAX], value[2 * WORD_MAX], words[2 * WORD_MAX];
    if (*word(gpu->node, "gpu_recovery_action", action) && strcmp(action, "None") != 0) {
        (void)snprintf(words, sizeof words, "needs a recovery that the driver asks for: %s", action);
        tell(report, gpu, "recovery_action", action, words);
    }
    if (is(gpu->node, "compute_mode", "Prohibited"))
        tell(report, gpu, "compute_mode", "Prohibited", "is in compute mode Prohibited: no program can use it");
    if (is(gpu->node, "compute_mode", "Exclusive_Process"))
        tell_setting(report, gpu, "compute_mode", "Exclusive_Process", "is in compute mode Exclusive_Process: one process at a time");
    if (is(gpu->node, "mig_mode/current_mig", "Enabled"))
        tell_setting(report, gpu, "mig_mode", "Enabled", "is in MIG mode: a process can use one instance of it");
    /* The width, not the generation: an idle link slows down by itself. */
    unsigned long long width = number(gpu->node, "pci/pci_gpu_link_info/link_widths/current_link_width"),
                       maximum = number(gpu->node, "pci/pci_gpu_link_info/link_widths/max_link_width");
    if (width && width < maximum) {
        (void)snprintf(value, sizeof value, "%llu of %llu", width, maximum);
        (void)snprintf(words, sizeof words, "runs on %llu of %llu PCIe lanes", width, maximum);
        tell(report, gpu, "pcie_width", value, words);
    }
}

/* A GPU that does not answer has a complaint where its values stand. What processes are called is not the GPU's word. */
static const char *find_complaint(const xmlNode *node, int depth)
{
    static const char *const complaints[] = {"GPU is lost", "Unknown Error", "GPU requires reset", "Reset required"};
    const char *found = NULL;
    for (const xmlNode *at = node->children; at && !found; at = at->next) {
        for (size_t i = 0; at->type == XML_TEXT_NODE && at->content && i < sizeof complaints / sizeof *complaints && !found; i++)
            found = strstr((const char *)at->content, complaints[i]) ? complaints[i] : NULL;
        if (!found && at->type == XML_ELEMENT_NODE && depth < 8 && strcmp((const char *)at->name, "processes") != 0)
            found = find_complaint(at, depth + 1);
    }
    return found;
}

static void tell_gpu(struct tool_report *report, const xmlNode *node, unsigned index)
{
    struct gpu gpu = {.node = node};
    char bus[WORD_MAX], words[2 * WORD_MAX];
    (void)word(node, "pci/pci_bus_id", bus);
    (void)snprintf(gpu.name, sizeof gpu.name, "GPU %u%s%s%s", index, *bus ? " (" : "", bus, *bus ? ")" : "");
    const char *complaint = find_complaint(node, 0);
    if (complaint) {
        (void)snprintf(words, sizeof words, "does not answer: %s", complaint);
        tell(report, &gpu, "lost", complaint, words);
    }
    tell_rows(report, &gpu);
    tell_ecc(report, &gpu);
    tell_modes(report, &gpu);
    tell_fabric(report, &gpu);
    tell_throttling(report, &gpu);
}

static void tell_versions(struct tool_report *report, const xmlNode *root)
{
    static const char *const versions[][2] = {{"driver", "driver_version"}, {"cuda", "cuda_version"}};
    char text[WORD_MAX];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        size_t length = strspn(word(root, versions[i][1], text), "0123456789.");
        if (length)
            collect_version(report->collect, versions[i][0], text, length, report->file, 0);
    }
}

bool smi_tell(struct tool_report *report, const char *text, size_t length)
{
    /* Nothing is fetched or replaced: no document type, no entities, no network. */
    int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_RECOVER;
    xmlDoc *doc = length < INT_MAX ? xmlReadMemory(text, (int)length, "nvidia-smi", NULL, options) : NULL;
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    bool good = root && !strcmp((const char *)root->name, "nvidia_smi_log");
    unsigned index = 0;
    if (good)
        tell_versions(report, root);
    for (const xmlNode *at = good ? root->children : NULL; at && index < GPUS_MAX; at = at->next)
        if (at->type == XML_ELEMENT_NODE && !strcmp((const char *)at->name, "gpu"))
            tell_gpu(report, at, index++);
    xmlFreeDoc(doc);
    return good;
}

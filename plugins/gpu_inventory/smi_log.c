#include "smi_log.h"

#include <ctype.h>
#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

static const xmlNode *child(const xmlNode *node, const char *name, size_t length)
{
    for (const xmlNode *at = node ? node->children : NULL; at; at = at->next)
        if (at->type == XML_ELEMENT_NODE && !strncmp((const char *)at->name, name, length) && !at->name[length])
            return at;
    return NULL;
}

/* "pci/link_widths/current_link_width", NULL when there is no such element. */
static const xmlNode *descend(const xmlNode *node, const char *path)
{
    while (node && *path) {
        size_t length = strcspn(path, "/");
        node = child(node, path, length);
        path += length + (path[length] == '/');
    }
    return node;
}

static const char *content(const xmlNode *node)
{
    const xmlNode *text = node ? node->children : NULL;
    return text && text->type == XML_TEXT_NODE && text->content ? (const char *)text->content : "";
}

/* The text of an element without the blanks around it; "" when there is none or it says that there is nothing to say. */
static const char *word(const xmlNode *node, const char *path, char *out, size_t size)
{
    const char *text = content(descend(node, path));
    text += strspn(text, " \t\r\n");
    (void)snprintf(out, size, "%s", text);
    size_t length = strlen(out);
    while (length && isspace((unsigned char)out[length - 1]))
        out[--length] = '\0';
    if (!strcmp(out, "N/A") || !strcmp(out, "[N/A]"))
        *out = '\0';
    return out;
}

/* A number before its unit, times `scale`: "81559 MiB", "16x", "41 C". */
static struct number number(const xmlNode *node, const char *path, uint64_t scale)
{
    char text[WORD_MAX], *end;
    (void)word(node, path, text, sizeof text);
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno || value > UINT64_MAX / scale)
        return (struct number){.told = false};
    return (struct number){.told = true, .value = value * scale};
}

static enum truth truth(const xmlNode *node, const char *path, const char *yes, const char *no)
{
    char text[WORD_MAX];
    (void)word(node, path, text, sizeof text);
    return !strcmp(text, yes) ? YES : !strcmp(text, no) ? NO : UNTOLD;
}

/* ---- one GPU ---- */

static void add_count(struct number *sum, struct number part)
{
    if (!part.told)
        return;
    sum->told = true;
    sum->value += part.value;
}

/* Three schemas: one figure for double-bit errors; SRAM and DRAM; SRAM split into parity and SECDED. */
static struct number uncorrected(const xmlNode *gpu, const char *since)
{
    static const char *const parts[] = {"double_bit/total", "sram_uncorrectable", "sram_uncorrectable_parity", "sram_uncorrectable_secded",
                                        "dram_uncorrectable"};
    const xmlNode *errors = descend(gpu, since);
    struct number sum = {.told = false};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add_count(&sum, number(errors, parts[i], 1));
    return sum;
}

static void read_throttling(const xmlNode *node, struct gpu *gpu)
{
    static const char *const harmful[] = {"hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown"};
    const xmlNode *reasons = descend(node, "clocks_event_reasons");
    const char *prefix = "clocks_event_reason_";
    if (!reasons) { /* until driver 535 */
        reasons = descend(node, "clocks_throttle_reasons");
        prefix = "clocks_throttle_reason_";
    }
    bool told = false;
    for (size_t i = 0; reasons && i < sizeof harmful / sizeof *harmful; i++) {
        char name[WORD_MAX];
        (void)snprintf(name, sizeof name, "%s%s", prefix, harmful[i]);
        enum truth active = truth(reasons, name, "Active", "Not Active");
        told = told || active != UNTOLD;
        size_t used = strlen(gpu->throttled);
        if (active == YES)
            (void)snprintf(gpu->throttled + used, sizeof gpu->throttled - used, "%s%s", used ? "," : "", harmful[i]);
    }
    if (told && !*gpu->throttled)
        (void)snprintf(gpu->throttled, sizeof gpu->throttled, "none");
}

/* Compute processes: of type C or C+G. Within a container the driver shows none. */
static struct number count_processes(const xmlNode *node)
{
    const xmlNode *list = descend(node, "processes");
    struct number sum = {.told = list != NULL && strncmp(content(list), "N/A", 3) != 0};
    for (const xmlNode *at = list ? list->children : NULL; at; at = at->next) {
        char type[WORD_MAX];
        if (at->type == XML_ELEMENT_NODE && !strcmp((const char *)at->name, "process_info"))
            sum.value += strchr(word(at, "type", type, sizeof type), 'C') != NULL;
    }
    return sum;
}

static struct number count_mig_devices(const xmlNode *node)
{
    const xmlNode *list = descend(node, "mig_devices");
    struct number sum = {.told = list != NULL};
    for (const xmlNode *at = list ? list->children : NULL; at; at = at->next)
        sum.value += at->type == XML_ELEMENT_NODE && !strcmp((const char *)at->name, "mig_device");
    return sum;
}

/* A GPU that does not answer has a complaint where its values stand. */
static bool find_complaint(const xmlNode *node, char *out, size_t size, int depth)
{
    static const char *const complaints[] = {"GPU is lost", "Unknown Error", "ERR!", "GPU requires reset", "Reset required"};
    for (const xmlNode *at = node->children; at; at = at->next) {
        if (at->type == XML_TEXT_NODE && at->content)
            for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
                if (strstr((const char *)at->content, complaints[i])) {
                    (void)snprintf(out, size, "%s", complaints[i]);
                    return true;
                }
        /* What processes are called is not the GPU's word. */
        if (at->type == XML_ELEMENT_NODE && depth < 8 && strcmp((const char *)at->name, "processes") != 0 &&
            find_complaint(at, out, size, depth + 1))
            return true;
    }
    return false;
}

static void read_health(const xmlNode *node, struct gpu *gpu)
{
    gpu->ecc = truth(node, "ecc_mode/current_ecc", "Enabled", "Disabled");
    gpu->ecc_volatile = uncorrected(node, "ecc_errors/volatile");
    gpu->ecc_aggregate = uncorrected(node, "ecc_errors/aggregate");
    gpu->remap_failed = truth(node, "remapped_rows/remapped_row_failure", "Yes", "No");
    /* Before Ampere whole pages were retired, under two names. */
    static const char *const pending[] = {"remapped_rows/remapped_row_pending", "retired_pages/pending_retirement",
                                          "retired_pages/pending_blacklist"};
    for (size_t i = 0; i < sizeof pending / sizeof *pending && gpu->remap_pending != YES; i++) {
        enum truth told = truth(node, pending[i], "Yes", "No");
        gpu->remap_pending = told == UNTOLD ? gpu->remap_pending : told;
    }
    (void)word(node, "gpu_recovery_action", gpu->recovery, sizeof gpu->recovery);
    (void)find_complaint(node, gpu->complaint, sizeof gpu->complaint, 0);
    read_throttling(node, gpu);
}

static void read_gpu(const xmlNode *node, struct gpu *gpu)
{
    const uint64_t mib = 1 << 20;
    (void)word(node, "product_name", gpu->name, sizeof gpu->name);
    (void)word(node, "pci/pci_bus_id", gpu->bus_id, sizeof gpu->bus_id);
    (void)word(node, "compute_mode", gpu->compute_mode, sizeof gpu->compute_mode);
    (void)word(node, "fabric/state", gpu->fabric_state, sizeof gpu->fabric_state);
    (void)word(node, "fabric/status", gpu->fabric_status, sizeof gpu->fabric_status);
    if (descend(node, "mig_mode/current_mig") && !*word(node, "mig_mode/current_mig", gpu->mig_mode, sizeof gpu->mig_mode))
        (void)snprintf(gpu->mig_mode, sizeof gpu->mig_mode, "N/A");
    gpu->persistence = truth(node, "persistence_mode", "Enabled", "Disabled");
    gpu->memory_total = number(node, "fb_memory_usage/total", mib);
    gpu->memory_used = number(node, "fb_memory_usage/used", mib);
    gpu->memory_free = number(node, "fb_memory_usage/free", mib);
    gpu->pcie_width = number(node, "pci/pci_gpu_link_info/link_widths/current_link_width", 1);
    gpu->pcie_width_max = number(node, "pci/pci_gpu_link_info/link_widths/max_link_width", 1);
    gpu->pcie_generation = number(node, "pci/pci_gpu_link_info/pcie_gen/current_link_gen", 1);
    gpu->pcie_generation_max = number(node, "pci/pci_gpu_link_info/pcie_gen/max_link_gen", 1);
    gpu->temperature = number(node, "temperature/gpu_temp", 1);
    gpu->sm_clock = number(node, "clocks/sm_clock", 1);
    gpu->sm_clock_max = number(node, "max_clocks/sm_clock", 1);
    gpu->processes = count_processes(node);
    gpu->mig_devices = count_mig_devices(node);
    read_health(node, gpu);
}

/* ---- the whole ---- */

static void describe_error(char *out, size_t size)
{
    const xmlError *error = xmlGetLastError();
    const char *text = error && error->message ? error->message : "not well-formed";
    (void)snprintf(out, size, "line %d: %.*s", error ? error->line : 0, (int)strcspn(text, "\n"), text);
}

bool smi_log_parse(const char *text, size_t length, struct smi_log *out, char *problem, size_t problem_size)
{
    memset(out, 0, sizeof *out);
    /* Nothing is fetched: no document type, no entities, no network. */
    xmlDoc *doc = length < INT32_MAX
                      ? xmlReadMemory(text, (int)length, "nvidia-smi", NULL, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING)
                      : NULL;
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    bool good = root && !strcmp((const char *)root->name, "nvidia_smi_log");
    if (!root)
        describe_error(problem, problem_size);
    else if (!good)
        (void)snprintf(problem, problem_size, "the root element is %.60s, not nvidia_smi_log", (const char *)root->name);
    if (good) {
        (void)word(root, "driver_version", out->driver, sizeof out->driver);
        (void)word(root, "cuda_version", out->cuda, sizeof out->cuda);
        for (const xmlNode *at = root->children; at && out->count < GPUS_MAX; at = at->next)
            if (at->type == XML_ELEMENT_NODE && !strcmp((const char *)at->name, "gpu"))
                read_gpu(at, &out->gpus[out->count++]);
    }
    xmlFreeDoc(doc);
    return good;
}

#include <stdio.h>
#include <string.h>

#include "inventory.h"

struct of_gpu {
    struct kit *kit;
    const char *origin;
    unsigned index;
};

/* ---- facts of one GPU ---- */

static void emit_text(const struct of_gpu *of, const char *text, const char *fact)
{
    if (*text)
        kit_string(of->kit, text, of->origin, "gpu.%u.%s", of->index, fact);
}

static void emit_number(const struct of_gpu *of, struct number number, const char *unit, const char *fact)
{
    if (number.told)
        kit_u64(of->kit, number.value, unit, of->origin, "gpu.%u.%s", of->index, fact);
}

static void emit_truth(const struct of_gpu *of, enum truth truth, const char *fact)
{
    if (truth != UNTOLD)
        kit_bool(of->kit, truth == YES, of->origin, "gpu.%u.%s", of->index, fact);
}

/* ---- judgements: each yes, no or not told ---- */

static enum truth is_exclusive(const struct gpu *gpu)
{
    return !*gpu->compute_mode ? UNTOLD : strcmp(gpu->compute_mode, "Default") ? YES : NO;
}

static enum truth has_ecc_errors(const struct gpu *gpu)
{
    return !gpu->ecc_volatile.told ? UNTOLD : gpu->ecc_volatile.value ? YES : NO;
}

static enum truth is_pending(const struct gpu *gpu)
{
    return gpu->remap_pending;
}

static enum truth is_remap_failed(const struct gpu *gpu)
{
    return gpu->remap_failed;
}

static enum truth is_mig(const struct gpu *gpu)
{
    return !*gpu->mig_mode ? UNTOLD : strcmp(gpu->mig_mode, "Enabled") ? NO : YES;
}

static enum truth is_throttled(const struct gpu *gpu)
{
    return !*gpu->throttled ? UNTOLD : strcmp(gpu->throttled, "none") ? YES : NO;
}

static enum truth is_memory_low(const struct gpu *gpu)
{
    if (!gpu->memory_total.told || !gpu->memory_free.told || !gpu->memory_total.value)
        return UNTOLD;
    return gpu->memory_free.value < gpu->memory_total.value / 10 ? YES : NO;
}

/* The width, not the generation: an idle link slows down by itself. */
static enum truth is_pcie_degraded(const struct gpu *gpu)
{
    if (!gpu->pcie_width.told || !gpu->pcie_width_max.told)
        return UNTOLD;
    return gpu->pcie_width.value < gpu->pcie_width_max.value ? YES : NO;
}

/* Only boards on an NVSwitch fabric have a state; drivers before 530 tell none. */
static enum truth is_fabric_unready(const struct gpu *gpu)
{
    if (!*gpu->fabric_state || !strcmp(gpu->fabric_state, "Not Supported"))
        return UNTOLD;
    bool well = !strcmp(gpu->fabric_state, "Completed") && (!*gpu->fabric_status || !strcmp(gpu->fabric_status, "Success"));
    return well ? NO : YES;
}

static enum truth needs_recovery(const struct gpu *gpu)
{
    return !*gpu->recovery ? UNTOLD : strcmp(gpu->recovery, "None") ? YES : NO;
}

/* ---- facts ---- */

static void emit_gpu(const struct of_gpu *of, const struct gpu *gpu)
{
    kit_wrong(of->kit, *gpu->complaint != '\0');
    kit_bool(of->kit, !*gpu->complaint, of->origin, "gpu.%u.responding", of->index);
    emit_text(of, gpu->name, "name");
    emit_text(of, gpu->bus_id, "bus_id");
    emit_number(of, gpu->memory_total, "bytes", "memory_total_bytes");
    emit_number(of, gpu->memory_used, "bytes", "memory_used_bytes");
    emit_number(of, gpu->memory_free, "bytes", "memory_free_bytes");
    emit_text(of, gpu->compute_mode, "compute_mode");
    emit_text(of, gpu->mig_mode, "mig_mode");
    emit_number(of, gpu->mig_devices, "devices", "mig_devices");
    emit_truth(of, gpu->persistence, "persistence");
    emit_truth(of, gpu->ecc, "ecc_enabled");
    kit_wrong(of->kit, has_ecc_errors(gpu) == YES);
    emit_number(of, gpu->ecc_volatile, "errors", "ecc_uncorrected");
    emit_number(of, gpu->ecc_aggregate, "errors", "ecc_uncorrected_lifetime");
    emit_truth(of, gpu->remap_pending, "row_remap_pending");
    kit_wrong(of->kit, gpu->remap_failed == YES);
    emit_truth(of, gpu->remap_failed, "row_remap_failed");
    kit_wrong(of->kit, needs_recovery(gpu) == YES);
    emit_text(of, gpu->recovery, "recovery_action");
    emit_number(of, gpu->pcie_width, "lanes", "pcie_width");
    emit_number(of, gpu->pcie_width_max, "lanes", "pcie_width_max");
    emit_number(of, gpu->pcie_generation, "generation", "pcie_generation");
    emit_number(of, gpu->pcie_generation_max, "generation", "pcie_generation_max");
    emit_number(of, gpu->sm_clock, "MHz", "sm_clock_mhz");
    emit_number(of, gpu->sm_clock_max, "MHz", "sm_clock_max_mhz");
    emit_text(of, gpu->throttled, "throttled");
    emit_number(of, gpu->processes, "processes", "processes");
    emit_number(of, gpu->links_active, "links", "nvlinks_active");
    emit_number(of, gpu->links_inactive, "links", "nvlinks_inactive");
    kit_wrong(of->kit, is_fabric_unready(gpu) == YES);
    emit_text(of, gpu->fabric_state, "fabric_state");
    emit_text(of, gpu->fabric_status, "fabric_status");
    if (gpu->temperature.told)
        kit_f64(of->kit, (double)gpu->temperature.value, "Celsius", of->origin, "gpu.%u.temperature_c", of->index);
}

/* Does any GPU? Not told unless at least one of them tells. */
static void emit_any(struct kit *kit, const struct smi_log *log, const char *origin, enum truth (*ask)(const struct gpu *),
                     const char *fact, bool faulty)
{
    enum truth any = UNTOLD;
    for (size_t i = 0; i < log->count && any != YES; i++) {
        enum truth answer = ask(&log->gpus[i]);
        any = answer == UNTOLD ? any : answer;
    }
    if (any == UNTOLD)
        return;
    kit_wrong(kit, faulty && any == YES);
    kit_bool(kit, any == YES, origin, "%s", fact);
}

/* Boards of one kind in one machine have the same links; fewer on one of them means a link that did not come up. */
static void emit_link_mismatch(struct kit *kit, const struct smi_log *log, const char *origin)
{
    bool told = false, differ = false;
    for (size_t i = 1; i < log->count; i++) {
        const struct gpu *a = &log->gpus[0], *b = &log->gpus[i];
        if (!a->links_active.told || !b->links_active.told || strcmp(a->name, b->name) != 0)
            continue;
        told = true;
        differ = differ || a->links_active.value != b->links_active.value;
    }
    if (told)
        kit_bool(kit, differ, origin, "gpu.nvlinks_differ");
}

/* ---- faults: the worst first, its reason stays ---- */

static void judge(struct kit *kit, const struct smi_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        if (*log->gpus[i].complaint)
            kit_fault(kit, "GPU %zu (%s) does not answer: the driver says '%s'; reset it or reboot the node", i, log->gpus[i].bus_id,
                      log->gpus[i].complaint);
    for (size_t i = 0; i < log->count; i++)
        if (log->gpus[i].remap_failed == YES)
            kit_fault(kit, "GPU %zu (%s) could not remap a bad memory row: have the board replaced", i, log->gpus[i].bus_id);
    for (size_t i = 0; i < log->count; i++)
        if (has_ecc_errors(&log->gpus[i]) == YES)
            kit_fault(kit,
                      "GPU %zu (%s) has %llu uncorrected ECC errors since its last reset: reset it; when they come back, have it replaced",
                      i, log->gpus[i].bus_id, (unsigned long long)log->gpus[i].ecc_volatile.value);
    for (size_t i = 0; i < log->count; i++)
        if (needs_recovery(&log->gpus[i]) == YES)
            kit_fault(kit, "the driver asks for a recovery of GPU %zu (%s): %s", i, log->gpus[i].bus_id, log->gpus[i].recovery);
    for (size_t i = 0; i < log->count; i++)
        if (is_fabric_unready(&log->gpus[i]) == YES)
            kit_fault(kit,
                      "the NVSwitch fabric of GPU %zu is not ready (%s%s%s): is nvidia-fabricmanager running, and of the driver's version?",
                      i, log->gpus[i].fabric_state, *log->gpus[i].fabric_status ? ", " : "", log->gpus[i].fabric_status);
}

void report_log(struct kit *kit, const struct smi_log *log, const char *origin)
{
    static const struct {
        enum truth (*ask)(const struct gpu *);
        const char *fact;
        bool faulty; /* a fault if it is so, see judge() */
    } summaries[] = {{is_exclusive, "gpu.any_exclusive", false},
                     {has_ecc_errors, "gpu.any_ecc_uncorrected", true},
                     {is_pending, "gpu.any_remap_pending", false},
                     {is_remap_failed, "gpu.any_remap_failed", true},
                     {is_mig, "gpu.any_mig", false},
                     {is_throttled, "gpu.any_throttled", false},
                     {is_memory_low, "gpu.memory_low", false},
                     {is_pcie_degraded, "gpu.pcie_degraded", false},
                     {is_fabric_unready, "gpu.fabric_not_ready", true},
                     {needs_recovery, "gpu.any_recovery_needed", true}};
    kit_bool(kit, true, origin, "gpu.driver.present");
    kit_u64(kit, log->count, "devices", origin, "gpu.count");
    if (*log->driver)
        kit_string(kit, log->driver, origin, "gpu.driver.version");
    if (*log->cuda)
        kit_string(kit, log->cuda, origin, "gpu.cuda.version");
    for (size_t i = 0; i < log->count; i++)
        emit_gpu(&(struct of_gpu){kit, origin, (unsigned)i}, &log->gpus[i]);
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++)
        emit_any(kit, log, origin, summaries[i].ask, summaries[i].fact, summaries[i].faulty);
    emit_link_mismatch(kit, log, origin);
    judge(kit, log);
}

/* What `nvidia-smi -q -x` tells, in the forms its drivers have given it since 2016. */
#ifndef DTKB_PLUGINS_GPU_INVENTORY_SMI_LOG_H
#define DTKB_PLUGINS_GPU_INVENTORY_SMI_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPUS_MAX = 64, WORD_MAX = 64 };

/* Not told, no and yes: what a driver does not tell is not guessed. */
enum truth { UNTOLD = 0, NO, YES };
struct number {
    bool told;
    uint64_t value;
};

struct gpu {
    char name[96], bus_id[WORD_MAX], compute_mode[WORD_MAX], mig_mode[WORD_MAX], fabric_state[WORD_MAX], fabric_status[WORD_MAX],
        recovery[WORD_MAX];
    char throttled[256];                                  /* harmful reasons joined by commas, "none", or "" where not told */
    char complaint[WORD_MAX];                             /* "GPU is lost" and the like, instead of a value */
    struct number memory_total, memory_used, memory_free; /* bytes */
    struct number ecc_volatile, ecc_aggregate;            /* uncorrected errors */
    struct number pcie_width, pcie_width_max, pcie_generation, pcie_generation_max;
    struct number temperature, processes, mig_devices, sm_clock, sm_clock_max; /* Celsius, MHz */
    struct number links_active, links_inactive;                                /* from `nvidia-smi nvlink --status` */
    enum truth persistence, ecc, remap_pending, remap_failed;
};
struct smi_log {
    char driver[WORD_MAX], cuda[WORD_MAX];
    struct gpu gpus[GPUS_MAX];
    size_t count;
};

/* Reads the XML text; false with `problem` when it is none, or not whole. */
bool smi_log_parse(const char *text, size_t length, struct smi_log *out, char *problem, size_t problem_size);
/* Adds what `nvidia-smi nvlink --status` tells; false when it tells nothing. */
bool nvlink_parse(const char *text, struct smi_log *log);

#endif

/* What NVML knows of a device's health. NVML's ABI is declared here: toolkits come without its header as often as with it. */
#ifndef DTKB_CUDA_PROBE_NVML_HEALTH_H
#define DTKB_CUDA_PROBE_NVML_HEALTH_H

#include "library.h"
#include "symbols.h"

struct nvml; /* open session */

/* NULL: `why` says in a few words why there is none ("missing", or NVML's own error). */
struct nvml *nvml_open(const struct kit *kit, char *why, size_t size);
void nvml_close(struct nvml *nvml);
const char *nvml_path(const struct nvml *nvml);

struct nvml_health {
    bool has_ecc, has_mig, has_remap, has_processes;
    uint64_t ecc_uncorrected; /* since the last reset */
    bool mig, remap_pending, remap_failed;
    unsigned processes; /* that hold a compute context */
    char pids[128];     /* of them, joined by commas */
};
/* What is not supported stays without its has_ flag. False: NVML does not know the device. */
bool nvml_health(const struct nvml *nvml, const char *bus_id, struct nvml_health *out);

#endif

/* The parts of the probe `gpu_inventory`. */
#ifndef DTKB_PLUGINS_GPU_INVENTORY_H
#define DTKB_PLUGINS_GPU_INVENTORY_H

#include "common/kit.h"
#include "smi_log.h"

/* Facts and faults of a log; `origin` names the command or file. */
void report_log(struct kit *kit, const struct smi_log *log, const char *origin);

/* What can be said without nvidia-smi's answer. `message` is what it printed, or why it did not run. */
void report_missing(struct kit *kit, const char *message);             /* there is no nvidia-smi */
void report_refusal(struct kit *kit, const char *message, int status); /* it printed no inventory */
void report_silence(struct kit *kit, double seconds);                  /* it did not end */

#endif

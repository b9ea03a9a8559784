/* The parts of the probe `host`. Each reads what it can, and says what it could not. */
#ifndef DTKB_PLUGINS_HOST_PARTS_H
#define DTKB_PLUGINS_HOST_PARTS_H

#include "common/kit.h"

void host_limits(struct kit *kit);
void host_memory(struct kit *kit);
void host_cgroup(struct kit *kit, double *cpu_quota); /* cores; 0 where there is no quota */
void host_container(struct kit *kit);
void host_cpu(struct kit *kit, double cpu_quota);
void host_system(struct kit *kit);
void host_pci(struct kit *kit);
void host_disks(struct kit *kit); /* last: a dead file server may hold it up */

/* Is this the machine itself, and not a recorded tree? System calls speak of the machine only. */
bool host_is_live(const struct kit *kit);

#endif

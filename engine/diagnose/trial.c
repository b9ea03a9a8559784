#include "diagnose/trial.h"

#include <string.h>

const struct trial_run *trial_find(const struct trial_runs *runs, const char *probe, const char *change)
{
    for (size_t i = 0; runs && i < runs->count; i++) {
        const struct trial_run *run = &runs->runs[i];
        size_t length = strcspn(change, "{");
        /* A change with a place holder ("NCCL_SOCKET_IFNAME={...}") was tried with each value; the one that works speaks for it. */
        bool same = change[length] ? !strncmp(run->change, change, length) && run->works : !strcmp(run->change, change);
        if (!strcmp(run->probe, probe) && same)
            return run;
    }
    return NULL;
}

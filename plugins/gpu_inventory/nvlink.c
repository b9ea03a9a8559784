/* The text of `nvidia-smi nvlink --status`:
 *   GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-...)
 *           Link 0: 25 GB/s
 *           Link 1: <inactive> */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "smi_log.h"

static void take_link(struct gpu *gpu, const char *state)
{
    gpu->links_active.told = gpu->links_inactive.told = true;
    if (strstr(state, "nactive"))
        gpu->links_inactive.value++;
    else if (strstr(state, "GB/s"))
        gpu->links_active.value++;
}

bool nvlink_parse(const char *text, struct smi_log *log)
{
    struct gpu *gpu = NULL;
    bool any = false;
    char line[256];
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        const char *start = line + strspn(line, " \t");
        if (!strncmp(start, "GPU ", 4) && strchr(start, ':')) {
            unsigned long index = strtoul(start + 4, NULL, 10);
            gpu = index < log->count ? &log->gpus[index] : NULL;
        } else if (gpu && !strncmp(start, "Link ", 5) && strchr(start, ':')) {
            take_link(gpu, strchr(start, ':'));
            any = true;
        } else if (gpu && strstr(start, "all links are inActive")) {
            gpu->links_active.told = true;
            any = true;
        }
    }
    return any;
}

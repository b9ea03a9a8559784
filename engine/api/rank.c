/* Which rank of which job a report speaks of. */
#include <stdlib.h>
#include <unistd.h>

#include "api/rank.h"

#define RANKS_MAX 16777216ul

static bool number(const char *variable, json_int_t *out)
{
    const char *text = getenv(variable);
    char *end = NULL;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    if (!text || end == text || *end || *text == '-' || value > RANKS_MAX)
        return false;
    *out = (json_int_t)value;
    return true;
}

void report_add_rank(json_t *report)
{
    /* The innermost launcher first; Slurm's rank counts in a step only, its batch script has one as well. */
    static const struct {
        const char *needs, *rank, *size;
    } launchers[] = {{"MASTER_ADDR", "RANK", "WORLD_SIZE"},
                     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                     {"SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS"},
                     {"PMI_RANK", "PMI_RANK", "PMI_SIZE"}};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        json_int_t rank, size;
        char host[256] = "";
        if (!getenv(launchers[i].needs) || !number(launchers[i].rank, &rank) || !number(launchers[i].size, &size) || rank >= size)
            continue;
        (void)gethostname(host, sizeof host - 1);
        json_object_set_new(report, "job", json_pack("{s:I, s:I, s:s}", "rank", rank, "world_size", size, "host", host));
        return;
    }
}

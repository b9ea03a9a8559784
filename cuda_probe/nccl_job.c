#include "nccl_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT_DEFAULT 29501

/* In the order in which they are believed. torchrun's come first: a job under Slurm or MPI may start it on every node. */
static const struct {
    const char *launcher, *rank, *ranks, *local_rank, *needs;
} launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", NULL},
    {"horovod", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", NULL},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", NULL},
    {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_ID"}, /* a batch script has the first one as well */
    {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", NULL},
};

static bool read_number(const struct kit *kit, const char *name, int *out)
{
    const char *text = kit_env(kit, name);
    char *end;
    long number = text ? strtol(text, &end, 10) : -1;
    if (!text || end == text || *end || number < 0 || number > 1 << 20)
        return false;
    *out = (int)number;
    return true;
}

bool job_first_host(const char *list, char *out, size_t size)
{
    size_t prefix = strcspn(list, "[,"), digits = 0;
    if (list[prefix] == '[')
        digits = strspn(list + prefix + 1, "0123456789");
    int length = snprintf(out, size, "%.*s%.*s", (int)prefix, list, (int)digits, list + prefix + (list[prefix] == '['));
    return length > 0 && (size_t)length < size;
}

static bool find_master(const struct kit *kit, struct job *job)
{
    const char *master = kit_env(kit, "MASTER_ADDR"), *nodes = kit_env(kit, "SLURM_STEP_NODELIST");
    int here = 0;
    if (master && *master)
        return snprintf(job->master, sizeof job->master, "%s", master) < (int)sizeof job->master;
    if (nodes)
        return job_first_host(nodes, job->master, sizeof job->master);
    bool one_host = (read_number(kit, "OMPI_COMM_WORLD_LOCAL_SIZE", &here) || read_number(kit, "LOCAL_WORLD_SIZE", &here) ||
                     read_number(kit, "HOROVOD_LOCAL_SIZE", &here)) &&
                    here == job->ranks;
    (void)snprintf(job->master, sizeof job->master, "%s", one_host ? "127.0.0.1" : "");
    return one_host;
}

static bool find_port(const struct kit *kit, struct job *job, char *error, size_t size)
{
    const char *given = kit_param(kit, "port", NULL);
    int master_port;
    if (given)
        job->port = atoi(given);
    else if (read_number(kit, "MASTER_PORT", &master_port))
        job->port = master_port < 65535 ? master_port + 1 : master_port - 1;
    else
        job->port = PORT_DEFAULT;
    if (job->port > 0 && job->port <= 65535)
        return true;
    (void)snprintf(error, size, "%s '%s' is no port", given ? "the parameter port" : "MASTER_PORT",
                   given ? given : kit_env(kit, "MASTER_PORT"));
    return false;
}

bool job_find(const struct kit *kit, struct job *out, char *error, size_t size)
{
    *out = (struct job){0};
    const char *scope = kit_param(kit, "scope", "auto");
    if (!strcmp(scope, "local"))
        return true;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !out->launcher; i++) {
        if (!kit_env(kit, launchers[i].rank) || (launchers[i].needs && !kit_env(kit, launchers[i].needs)))
            continue;
        if (!read_number(kit, launchers[i].rank, &out->rank) || !read_number(kit, launchers[i].ranks, &out->ranks) ||
            out->rank >= out->ranks) {
            const char *ranks = kit_env(kit, launchers[i].ranks);
            (void)snprintf(error, size, "%s=%s and %s=%s do not make a job: the rank must be below the number of ranks", launchers[i].rank,
                           kit_env(kit, launchers[i].rank), launchers[i].ranks, ranks ? ranks : "(not set)");
            return false;
        }
        out->launcher = launchers[i].launcher;
        out->local_rank = -1;
        (void)read_number(kit, launchers[i].local_rank, &out->local_rank);
    }
    if (!out->launcher) {
        (void)snprintf(error, size, "no launcher's variables (RANK and WORLD_SIZE, OMPI_*, SLURM_*, PMI_*): start it as a rank of the job");
        return strcmp(scope, "job") != 0;
    }
    if (!find_master(kit, out)) {
        (void)snprintf(error, size, "rank %d of %d does not know where rank 0 is: set MASTER_ADDR", out->rank, out->ranks);
        return false;
    }
    return find_port(kit, out, error, size);
}

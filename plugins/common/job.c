#include "common/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (1u << 20)

struct launcher {
    const char *name;
    bool mpi;
    const char *needs; /* set in a job step only, where the others are set outside of one too; may be NULL */
    const char *rank, *size, *local_rank, *local_size;
    const char *id[3];
    bool shells; /* a shell of one rank is no job, it only runs inside of an allocation */
};

/* The innermost launcher first: torchrun is itself started by srun or mpirun. */
static const struct launcher launchers[] = {
    {"torchrun",
     false,
     NULL,
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", NULL},
     false},
    {"horovodrun",
     false,
     NULL,
     "HOROVOD_RANK",
     "HOROVOD_SIZE",
     "HOROVOD_LOCAL_RANK",
     "HOROVOD_LOCAL_SIZE",
     {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "HOROVOD_GLOO_RENDEZVOUS_PORT", NULL},
     false},
    {"mpirun",
     true,
     NULL,
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", NULL},
     false},
    {"srun",
     true,
     "SLURM_STEP_ID",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID",
     NULL,
     {"SLURM_JOB_ID", "SLURM_STEP_ID", NULL},
     true},
    {"mpiexec", true, NULL, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", {"PMI_JOBID", "PMI_ID", NULL}, false},
};

static bool number(const struct kit *kit, const char *variable, uint32_t *out)
{
    const char *text = variable ? kit_env(kit, variable) : NULL;
    char *end;
    unsigned long value = text ? strtoul(text, &end, 10) : 0;
    if (!text || end == text || *end || *text == '-' || value > RANKS_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static void add_head(struct job *job, const char *text, size_t length)
{
    if (job->head_count < JOB_HEADS_MAX && length && length < sizeof *job->heads)
        (void)snprintf(job->heads[job->head_count++], sizeof *job->heads, "%.*s", (int)length, text);
}

/* The first host of "node[07-09,12],login": node07. */
static void add_first_host(struct job *job, const char *list)
{
    char host[sizeof *job->heads];
    size_t plain = strcspn(list, "[,"), digits = list[plain] == '[' ? strcspn(list + plain + 1, "-,]") : 0;
    if (plain + digits >= sizeof host)
        return;
    (void)snprintf(host, sizeof host, "%.*s%.*s", (int)plain, list, (int)digits, digits ? list + plain + 1 : "");
    add_head(job, host, strlen(host));
}

/* The addresses in "1157431296.0;tcp://10.0.0.2,172.17.0.1:32899;tcp6://[..]:1": where mpirun runs, mostly beside rank 0. */
static void add_mpirun_hosts(struct job *job, const char *uri)
{
    const char *at = strstr(uri, "tcp://");
    for (at = at ? at + 6 : ""; *at && *at != ':' && *at != ';';) {
        size_t length = strcspn(at, ",:;");
        add_head(job, at, length);
        at += length + (at[length] == ',');
    }
}

static void find_heads(const struct kit *kit, struct job *job)
{
    static const char loopback[] = "127.0.0.1";
    const char *text;
    if (job->one_host) {
        add_head(job, loopback, strlen(loopback));
        return;
    }
    if ((text = kit_env(kit, "MASTER_ADDR")))
        add_head(job, text, strlen(text));
    if ((text = kit_env(kit, "SLURM_STEP_NODELIST")))
        add_first_host(job, text);
    if ((text = kit_env(kit, "OMPI_MCA_orte_hnp_uri")))
        add_mpirun_hosts(job, text);
    if ((text = kit_env(kit, "HOROVOD_GLOO_RENDEZVOUS_ADDR")))
        add_head(job, text, strlen(text));
    if ((text = kit_env(kit, "SLURM_LAUNCH_NODE_IPADDR")))
        add_head(job, text, strlen(text));
}

static void name_job(const struct kit *kit, const struct launcher *launcher, struct job *job)
{
    int length = snprintf(job->id, sizeof job->id, "%s", launcher->name);
    for (size_t i = 0; i < sizeof launcher->id / sizeof *launcher->id; i++) {
        const char *part = launcher->id[i] ? kit_env(kit, launcher->id[i]) : NULL;
        if (part && length > 0 && (size_t)length < sizeof job->id)
            length += snprintf(job->id + length, sizeof job->id - (size_t)length, "/%s", part);
    }
}

static void take_launcher(const struct kit *kit, const struct launcher *launcher, struct job *job)
{
    uint32_t local = 0, nodes = 0;
    job->launcher = launcher->name;
    if (!number(kit, launcher->rank, &job->rank) || !number(kit, launcher->size, &job->size) || job->rank >= job->size) {
        const char *size = kit_env(kit, launcher->size);
        (void)snprintf(job->problem, sizeof job->problem,
                       "%s=%.64s and %s=%.64s do not make a job: the rank must be below the number of ranks", launcher->rank,
                       kit_env(kit, launcher->rank), launcher->size, size ? size : "(not set)");
        return;
    }
    job->local_rank = number(kit, launcher->local_rank, &local) ? (int32_t)local : -1;
    job->one_host = job->size == 1 || (number(kit, launcher->local_size, &local) && local == job->size) ||
                    (!strcmp(launcher->name, "srun") && number(kit, "SLURM_STEP_NUM_NODES", &nodes) && nodes == 1);
    name_job(kit, launcher, job);
    find_heads(kit, job);
    if (!job->head_count)
        (void)snprintf(job->problem, sizeof job->problem, "rank %u of %u does not know where rank 0 is: set MASTER_ADDR", job->rank,
                       job->size);
}

bool job_read(const struct kit *kit, enum job_kind kind, struct job *job)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const struct launcher *launcher = &launchers[i];
        *job = (struct job){.local_rank = -1};
        if ((kind == JOB_MPI && !launcher->mpi) || !kit_env(kit, launcher->rank) || (launcher->needs && !kit_env(kit, launcher->needs)))
            continue;
        take_launcher(kit, launcher, job);
        if (*job->problem)
            return false;
        if (!launcher->shells || job->size > 1)
            return true;
    }
    *job = (struct job){.local_rank = -1};
    return false;
}

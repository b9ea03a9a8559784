/* RANK, WORLD_SIZE and their kin against each other and against what the launcher says. */
#include <stdio.h>
#include <string.h>

#include "env.h"

struct launcher {
    const char *name;
    const char *sign; /* a variable that it always sets */
    const char *rank, *size, *local_rank, *local_size;
};

/* The nearest launcher first: torchrun under srun is torchrun. */
static const struct launcher launchers[] = {
    {"torchrun", "TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"horovod", "HOROVOD_RANK", "HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"},
    {"mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mpi", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"slurm", "SLURM_PROCID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL},
    {"mpi", "PMI_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"slurm", "SLURM_JOB_ID", NULL, NULL, NULL, NULL},
    {"ray", "RAY_JOB_ID", NULL, NULL, NULL, NULL},
    {"kubernetes", "KUBERNETES_SERVICE_HOST", NULL, NULL, NULL, NULL},
};

static void inconsistent(struct env *env, const char *variable, const char *text)
{
    env_problem(env, variable, "inconsistent", "%s", text);
    kit_fault(&env->kit, "%s: let one launcher set the rank variables, and unset left-overs", text);
}

/* index < size, where both are known. */
static bool below(struct env *env, const char *index_name, const char *size_name)
{
    int64_t index, size;
    if (!env_number(env, index_name, &index) || !env_number(env, size_name, &size) || (index >= 0 && index < size))
        return true;
    char text[256];
    (void)snprintf(text, sizeof text, "%s=%lld does not lie below %s=%lld", index_name, (long long)index, size_name, (long long)size);
    inconsistent(env, index_name, text);
    return false;
}

static bool at_most(struct env *env, const char *small_name, const char *large_name)
{
    int64_t small, large;
    if (!env_number(env, small_name, &small) || !env_number(env, large_name, &large) || small <= large)
        return true;
    char text[256];
    (void)snprintf(text, sizeof text, "%s=%lld is above %s=%lld", small_name, (long long)small, large_name, (long long)large);
    inconsistent(env, small_name, text);
    return false;
}

static bool equal(struct env *env, const char *name, const char *launcher_name)
{
    int64_t a, b;
    if (!launcher_name || !strcmp(name, launcher_name) || !env_number(env, name, &a) || !env_number(env, launcher_name, &b) || a == b)
        return true;
    char text[256];
    (void)snprintf(text, sizeof text, "%s=%lld, but the launcher says %s=%lld", name, (long long)a, launcher_name, (long long)b);
    inconsistent(env, name, text);
    return false;
}

static const struct launcher *find_launcher(const struct env *env)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (kit_env(&env->kit, launchers[i].sign))
            return &launchers[i];
    return NULL;
}

/* Does the launcher count ranks? torchrun's own variables are the ranks'. Slurm often starts one task a node that starts the ranks, and
 * then counts tasks. */
static bool counts_ranks(const struct env *env, const struct launcher *launcher)
{
    int64_t tasks, ranks;
    if (!launcher->rank || !strcmp(launcher->name, "torchrun"))
        return false;
    return strcmp(launcher->name, "slurm") != 0 || !env_number(env, launcher->size, &tasks) || !env_number(env, "WORLD_SIZE", &ranks) ||
           tasks < 1 || ranks <= tasks || ranks % tasks != 0;
}

/* The variables that init_method env:// wants. MASTER_ADDR and MASTER_PORT alone are no rank's environment: scripts set them first. */
static void missing_check(struct env *env)
{
    static const char *const wanted[] = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
    const struct kit *kit = &env->kit;
    if (!kit_env(kit, "RANK") && !kit_env(kit, "WORLD_SIZE") && !kit_env(kit, "LOCAL_RANK"))
        return;
    char missing[96] = "";
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *value = kit_env(kit, wanted[i]);
        if (value && *value)
            continue;
        size_t length = strlen(missing);
        (void)snprintf(missing + length, sizeof missing - length, "%s%s", length ? ", " : "", wanted[i]);
    }
    kit_wrong(&env->kit, *missing && kit_env(kit, "RANK"));
    kit_bool(&env->kit, *missing != '\0', "environment", "env.rank.missing");
    if (!*missing)
        return;
    env_problem(env, "RANK", "missing", "a rank's environment without %s", missing);
    if (kit_env(kit, "RANK"))
        kit_fault(&env->kit,
                  "RANK is set but %s is not: start the script with torchrun, or set all four of RANK, WORLD_SIZE, MASTER_ADDR, "
                  "MASTER_PORT",
                  missing);
}

void env_ranks_check(struct env *env)
{
    const struct launcher *launcher = find_launcher(env);
    kit_string(&env->kit, launcher ? launcher->name : "none", launcher ? launcher->sign : "environment", "env.launcher");
    missing_check(env);
    bool good = below(env, "RANK", "WORLD_SIZE");
    good &= below(env, "LOCAL_RANK", "LOCAL_WORLD_SIZE");
    good &= below(env, "GROUP_RANK", "GROUP_WORLD_SIZE");
    good &= at_most(env, "LOCAL_WORLD_SIZE", "WORLD_SIZE");
    good &= at_most(env, "LOCAL_RANK", "RANK");
    if (launcher && counts_ranks(env, launcher)) {
        good &= equal(env, "RANK", launcher->rank);
        good &= equal(env, "WORLD_SIZE", launcher->size);
        good &= equal(env, "LOCAL_RANK", launcher->local_rank);
        good &= equal(env, "LOCAL_WORLD_SIZE", launcher->local_size);
    }
    int64_t number;
    bool any = env_number(env, "RANK", &number) || env_number(env, "WORLD_SIZE", &number) || env_number(env, "LOCAL_RANK", &number) ||
               (launcher && launcher->rank);
    if (any || !good) {
        kit_wrong(&env->kit, !good);
        kit_bool(&env->kit, !good, "environment", "env.rank.inconsistent");
    }
    const char *port = kit_env(&env->kit, "MASTER_PORT");
    if (port && *port && (!env_integer(port, &number) || number < 1 || number > 65535))
        kit_fault(&env->kit, "MASTER_PORT=%.40s is no TCP port: set a number from 1024 to 65535, the same on all ranks", port);
}

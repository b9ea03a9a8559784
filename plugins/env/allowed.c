/* Which variables may leave the machine: those of the families that steer a distributed job, less whatever smells of a secret. Values that
 * carry credentials inside an address stay here too. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "env.h"

static const char *const prefixes[] = {"NCCL_",       "GLOO_",
                                       "TORCH",       "PYTORCH_",
                                       "UCX_",        "UCC_",
                                       "FI_",         "HOROVOD_",
                                       "OMP_",        "SLURM_",
                                       "OMPI_",       "PMI_",
                                       "PMIX_",       "CUDA_",
                                       "NVIDIA_",     "TF_CPP_",
                                       "TF_GPU_",     "TF_XLA_",
                                       "TF_FORCE_",   "TF_NUM_",
                                       "TF_CUDNN_",   "TF_DETERMINISTIC_",
                                       "MKL_",        "KMP_",
                                       "NVSHMEM_",    "TP_SOCKET_",
                                       "DEEPSPEED_",  "DS_BUILD_",
                                       "DS_SKIP_",    "DS_ACCELERATOR",
                                       "ACCELERATE_", "HCCL_",
                                       "RCCL_",       "HSA_",
                                       "HIP_",        "ROCR_",
                                       "JSM_",        "MV2_",
                                       "PBS_",        "LSB_",
                                       "RAY_",        "XLA_",
                                       "TPU_",        "MPI_LOCAL"};
static const char *const names[] = {"RANK",
                                    "WORLD_SIZE",
                                    "LOCAL_RANK",
                                    "LOCAL_WORLD_SIZE",
                                    "NODE_RANK",
                                    "GROUP_RANK",
                                    "GROUP_WORLD_SIZE",
                                    "ROLE_RANK",
                                    "ROLE_WORLD_SIZE",
                                    "ROLE_NAME",
                                    "MASTER_ADDR",
                                    "MASTER_PORT",
                                    "LOCAL_ADDR",
                                    "TF_CONFIG",
                                    "LD_LIBRARY_PATH",
                                    "LD_PRELOAD",
                                    "VIRTUAL_ENV",
                                    "CONDA_PREFIX",
                                    "PYTHONPATH",
                                    "PYTHONNOUSERSITE",
                                    "TMPDIR",
                                    "HOSTNAME",
                                    "KUBERNETES_SERVICE_HOST"};
/* Parts of a name, between underscores. */
static const char *const secret_parts[] = {"KEY",     "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS",    "PASS",        "PASSWORD",
                                           "PASSWD",  "PSK",  "AUTH",  "CRED",   "CREDS",  "CREDENTIAL", "CREDENTIALS", "COOKIE",
                                           "PRIVATE", "PKEY", "CERT",  "JWT",    "APIKEY", "SIGNATURE",  "PASSPHRASE",  "SECURITY"};

static bool is_secret(const char *name, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t part = 0;
        while (at + part < length && name[at + part] != '_')
            part++;
        for (size_t i = 0; i < sizeof secret_parts / sizeof *secret_parts; i++)
            if (part == strlen(secret_parts[i]) && !strncasecmp(name + at, secret_parts[i], part))
                return true;
        at += part + 1;
    }
    return false;
}

bool env_may_leave(const char *name, size_t length)
{
    bool allowed = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !allowed; i++)
        allowed = length >= strlen(prefixes[i]) && !strncmp(name, prefixes[i], strlen(prefixes[i]));
    for (size_t i = 0; i < sizeof names / sizeof *names && !allowed; i++)
        allowed = length == strlen(names[i]) && !strncmp(name, names[i], length);
    return allowed && !is_secret(name, length);
}

/* scheme://user:password@host */
static bool has_credentials(const char *value)
{
    const char *scheme = strstr(value, "://");
    if (!scheme)
        return false;
    scheme += 3;
    size_t length = strcspn(scheme, "/ \t,;");
    const char *at = memchr(scheme, '@', length);
    return at && memchr(scheme, ':', (size_t)(at - scheme));
}

void env_values_emit(struct env *env)
{
    char name[96], part[96];
    for (const char *const *entry = env->kit.call->env; entry && *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        if (!equals || equals == *entry || (size_t)(equals - *entry) >= sizeof name || !env_may_leave(*entry, (size_t)(equals - *entry)) ||
            has_credentials(equals + 1))
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - *entry), *entry);
        if (kit_env(&env->kit, name) == equals + 1) /* the first of two with one name is the one that counts */
            kit_string(&env->kit, equals + 1, "environment", "env.var.%s", kit_part(part, sizeof part, name));
    }
}

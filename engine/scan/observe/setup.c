/* The environment of a job against what happened to it: proxies, ports, ranks, devices that were asked for; a machine that restarted. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/commands.h"
#include "scan/observe/host.h"

/* Behind "NAME=" (not behind "LONGER_NAME="); NULL when it is not there. */
static const char *variable(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p += n)
        if (p[n] == '=' && (p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')))
            return p + n + 1;
    return NULL;
}

static bool variable_number(const char *text, const char *name, double *value)
{
    const char *p = variable(text, name);
    return p && isdigit((unsigned char)*p) && observe_number(&p, value);
}

static void read_proxy(struct observe_setup *setup, const char *text, const struct place *place)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"};
    static const char *const refusals[] = {"failed to connect to all addresses",
                                           "Connect Failed",
                                           "\"grpc_status\":14",
                                           "error_code:14",
                                           "http1.x server",
                                           "StatusCode.UNAVAILABLE",
                                           "Connection closed by server"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = variable(text, names[i]);
        setup->proxy = setup->proxy || (value && strstr(value, "://"));
    }
    setup->proxy = setup->proxy || (setup->proxy_echoed && !strncmp(text, "http", 4) && strstr(text, "://"));
    setup->proxy_echoed = *text == '$' && strstr(text, "echo") && strstr(text, "_proxy");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (strstr(text, refusals[i])) {
            setup->refused = true;
            setup->refused_at = *place;
        }
}

/* Settings for the launcher of Open MPI 4 in the environment of release 5, which has another one. */
static void read_mpi(struct observe_setup *setup, const char *text, const struct place *place)
{
    const char *name = strstr(text, "OMPI_MCA_"), *release = strstr(text, "(Open MPI) ");
    if (name && (!strncmp(name + 9, "orte_", 5) || !strncmp(name + 9, "plm_rsh_", 8)) && strchr(name, '=')) {
        setup->mpi_old_settings = true;
        setup->mpi_at = *place;
    }
    setup->mpi_new_settings = setup->mpi_new_settings || strstr(text, "PRTE_MCA_");
    if (release)
        setup->mpi_release = strtod(release + strlen("(Open MPI) "), NULL);
}

/* "rank 3/4 MASTER_ADDR=localhost MASTER_PORT=46020": one port for all ranks of a job, or they never meet. */
static void read_port(struct observe_setup *setup, const char *text, const struct place *place)
{
    double port, rank;
    if (!variable_number(text, "MASTER_PORT", &port) || setup->rank_seen_twice)
        return;
    if (!variable_number(text, "RANK", &rank) && !observe_after(text, "rank", &rank, NULL))
        return;
    if (!(rank >= 0 && rank < SETUP_RANKS))
        return;
    uint64_t bit = UINT64_C(1) << (unsigned)rank;
    setup->rank_seen_twice = setup->ranks_with_port & bit; /* a second job */
    setup->ranks_with_port |= bit;
    if (setup->port > 0 && setup->port != port && !setup->rank_seen_twice)
        setup->ports_differ++;
    setup->port = setup->port > 0 ? setup->port : port;
    setup->port_at = *place;
}

static void read_ranks(struct observe_setup *setup, const char *text, const struct place *place)
{
    double value;
    if (variable_number(text, "RANK", &value)) {
        setup->rank = value;
        setup->has_rank = true;
        setup->rank_at = *place;
    }
    if (variable_number(text, "WORLD_SIZE", &value))
        setup->world = value;
}

static size_t device_list(const char *text)
{
    return strspn(text, "0123456789,");
}

/* The launcher of DeepSpeed puts a list of its own in place of the user's. */
static void read_devices(struct observe_setup *setup, const char *text, const struct place *place)
{
    const char *list = variable(text, "CUDA_VISIBLE_DEVICES");
    size_t length = list ? device_list(list) : 0;
    if (!length || length >= sizeof setup->devices)
        return;
    if (strstr(text, "Setting CUDA_VISIBLE_DEVICES")) {
        setup->devices_replaced = *setup->devices && (strlen(setup->devices) != length || strncmp(setup->devices, list, length) != 0);
        setup->devices_at = *place;
    } else if (*text == '$' || !strncmp(text, "export", 6)) {
        memcpy(setup->devices, list, length);
        setup->devices[length] = '\0';
    }
}

/* "$ CUDA_VISIBLE_DEVICES=0 torchrun --nproc_per_node=2 train.py", "$ torchrun --nproc_per_node 4 train.py --device 0,1,2" */
static void read_processes(struct observe_setup *setup, const char *text, const struct place *place)
{
    static const char *const options[] = {"--device ", "--devices ", "--gpus ", "--gpu_ids ", "--gpu-ids ", "--gpu "};
    double processes;
    if (*text != '$' ||
        (!observe_after(text, "nproc_per_node", &processes, NULL) && !observe_after(text, "nproc-per-node", &processes, NULL)))
        return;
    unsigned gpus = commands_listed(text, " CUDA_VISIBLE_DEVICES=", true);
    for (size_t i = 0; i < sizeof options / sizeof *options && !gpus; i++)
        gpus = commands_listed(text, options[i], false);
    if (gpus && processes > gpus && processes < 1024) {
        setup->processes = (unsigned)processes;
        setup->gpus = gpus;
        setup->processes_at = *place;
    }
}

static void read_restart(struct observe_setup *setup, const char *text, const struct place *place)
{
    if (!strncmp(text, "Connection to ", 14) && strstr(text, " closed by remote host"))
        setup->cut = true;
    if (strstr(text, "client_loop: send disconnect: Broken pipe") || strstr(text, "port 22: Broken pipe"))
        setup->cut = true;
    const char *up = strstr(text, " up ");
    double minutes = up ? strtod(up + 4, NULL) : 0;
    bool young = up && minutes >= 0 && minutes < 60 && strstr(up, " min,") && strstr(text, "load average");
    if (setup->cut && (young || (!strncmp(text, "reboot ", 7) && strstr(text, "system boot")))) {
        setup->restarted = true;
        setup->restarted_at = *place;
    }
}

/* The number behind a mark in lines that hold another word too; 0 when it is not there. */
static double release_behind(const char *text, const char *word, const char *mark)
{
    const char *p = strstr(text, word) ? strstr(text, mark) : NULL;
    return p ? strtod(p + strlen(mark), NULL) : 0;
}

/* NCCL's package tells the CUDA that it was built for ("libnccl2 2.1.2-1+cuda9.0"), as does its first line in the log; the compiler, Caffe
 * and nvidia-smi tell which one there is. */
static void read_nccl(struct observe_setup *setup, const char *text, const struct place *place)
{
    double package = release_behind(text, "libnccl", "+cuda"), loaded = release_behind(text, "NCCL version", "+cuda");
    double compiler = release_behind(text, "Cuda compilation tools", "release "),
           caffe = release_behind(text, "CUDA version: ", "CUDA version: ");
    double driver = release_behind(text, "Driver Version", "CUDA Version: ");
    setup->nccl_package = package > 0 ? floor(package) : setup->nccl_package;
    setup->nccl_loaded = loaded > 0 ? floor(loaded) : setup->nccl_loaded;
    setup->toolkit = compiler > 0 ? floor(compiler) : caffe >= 1000 ? floor(caffe / 1000) : setup->toolkit;
    setup->driver = driver > 0 ? floor(driver) : setup->driver;
    setup->nccl_failed = setup->nccl_failed || strstr(text, "unhandled cuda error") || strstr(text, "NCCL WARN Cuda failure");
    if (package > 0 || loaded > 0)
        setup->nccl_at = *place;
}

void setup_line(struct observe_setup *setup, const char *text, const struct place *place)
{
    read_nccl(setup, text, place);
    read_proxy(setup, text, place);
    read_mpi(setup, text, place);
    read_port(setup, text, place);
    read_ranks(setup, text, place);
    read_devices(setup, text, place);
    read_processes(setup, text, place);
    read_restart(setup, text, place);
}

void setup_conclude(const struct observe_setup *setup, struct collect *collect)
{
    if (setup->proxy && setup->refused)
        observe_tell(collect, &setup->refused_at, "machine: a proxy is set and a connection between nodes failed");
    if (setup->ports_differ && !setup->rank_seen_twice)
        observe_tell(collect, &setup->port_at, "setup: ranks of one job name different rendezvous ports");
    if (setup->has_rank && setup->world > 0 && setup->rank >= setup->world)
        observe_tell(collect, &setup->rank_at, "setup: RANK %.0f is not below WORLD_SIZE %.0f", setup->rank, setup->world);
    if (setup->devices_replaced)
        observe_tell(collect, &setup->devices_at, "setup: the launcher put another list in place of CUDA_VISIBLE_DEVICES=%s",
                     setup->devices);
    if (setup->processes)
        observe_tell(collect, &setup->processes_at, "setup: %u processes are started for the %u GPUs that the command names",
                     setup->processes, setup->gpus);
    if (setup->restarted)
        observe_tell(collect, &setup->restarted_at, "machine: it restarted while the job ran");
    if (setup->mpi_old_settings && !setup->mpi_new_settings && setup->mpi_release >= 5)
        observe_tell(collect, &setup->mpi_at, "setup: settings of Open MPI 4's launcher for release %.1f", setup->mpi_release);
    bool package = setup->toolkit > 0 && setup->nccl_package > setup->toolkit,
         loaded = setup->driver > 0 && setup->nccl_loaded > setup->driver;
    if (setup->nccl_failed && (package || loaded))
        observe_tell(collect, &setup->nccl_at, "setup: NCCL is built for CUDA %.0f and fails on CUDA %.0f",
                     package ? setup->nccl_package : setup->nccl_loaded, package ? setup->toolkit : setup->driver);
}

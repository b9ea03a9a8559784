/* What somebody asked the machine, and what it answered: services, limits, drivers, links. A bare "inactive" or "64" tells nothing without it. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/gpus.h"
#include "scan/observe/host.h"

#define ANSWER_LINES 14          /* behind a question, in which its answer stands */
#define MEMLOCK_LITTLE 1048576.0 /* kB; adapters want it unlimited */
#define LINK_SLOW 10000.0        /* Mb/s between nodes that share gradients */
#define LANES_FEW 4.0            /* of a GPU's link; risers and adapters have no more */
#define LANES_USUAL 8.0
#define PEER_SLOW 8.0 /* GB/s of direct copies; eight lanes of the third generation bear that */
#define PEER_OWN_FAST 300.0

static bool has_any(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

/* Which column of a comma-separated query `name` is, from 1; 0: none. */
static unsigned query_column(const char *text, const char *name)
{
    const char *p = strstr(text, "--query-gpu=");
    const char *at = p ? strstr(p, name) : NULL;
    if (!at || at > p + strcspn(p, " "))
        return 0;
    unsigned column = 1;
    for (p += strlen("--query-gpu="); p < at; p++)
        column += *p == ',';
    return column;
}

static enum machine_question question(const char *text, unsigned *column)
{
    static const char *const others[] = {"ssh", "srun", "mpirun", "pdsh", "clush", "kubectl exec", "ansible", NULL};
    static const char *const gpus[] = {"VGA", "NVIDIA", "nvidia", "10de", "3D", NULL};
    if (strstr(text, "fabricmanager") && (strstr(text, "systemctl") || strstr(text, ".service - ")))
        return ASKED_FABRIC;
    if (strstr(text, "ulimit -") && (strstr(text, "-l") || strstr(text, "Sl") || strstr(text, "Hl")) &&
        (!strstr(text, "unlimited") || strstr(text, "ulimit -l;")))
        return ASKED_MEMLOCK;
    if ((*column = query_column(text, "pcie.link.width.current")))
        return ASKED_WIDTH;
    if (strstr(text, "lspci") && has_any(text, gpus))
        return ASKED_LSPCI;
    if (query_column(text, "driver_version") == 1 && has_any(text, others))
        return ASKED_DRIVERS;
    if (strstr(text, "P2P=Enabled Bandwidth"))
        return ASKED_PEERS;
    if (strstr(text, "/speed") && strstr(text, "/sys/class/net/"))
        return ASKED_SPEED;
    if (strstr(text, "lsmod") && strstr(text, "peer")) {
        *column = strstr(text, "grep -c") != NULL; /* the answer is how many lines there are */
        return ASKED_PEER_MEMORY;
    }
    return ASKED_NOTHING;
}

/* The line as one number, with nothing but blanks around it. */
static bool sole_number(const char *text, double *value)
{
    const char *p = text + strspn(text, " \t");
    return observe_number(&p, value) && !p[strspn(p, " \t\r")];
}

static void read_state(struct observe_machine *machine, const char *text, const struct place *place)
{
    const char *p = text + strspn(text, " \t");
    bool whole = !strncmp(p, "Active: ", 8); /* of systemctl status; is-active and is-failed say one word */
    p += whole ? 8 : 0;
    bool failed = !strncmp(p, "failed", 6), down = failed || !strncmp(p, "inactive", 8) || !strncmp(p, "unknown", 7);
    if (!down || (!whole && p[strcspn(p, " \t\r")]))
        return;
    machine->fabric_down = true;
    machine->fabric_failed = failed;
    machine->fabric_at = *place;
}

static void read_width(struct observe_machine *machine, double width, const struct place *place)
{
    if (!(width >= 1 && width <= 32))
        return;
    machine->width_least = machine->width_most > 0 ? fmin(machine->width_least, width) : width;
    machine->width_most = fmax(machine->width_most, width);
    machine->width_at = *place;
}

/* One row of a query: the number in `column`, counted from 1. */
static double cell(const char *text, unsigned column)
{
    for (; column > 1; column--) {
        text = strchr(text, ',');
        if (!text)
            return NAN;
        text++;
    }
    double value;
    text += strspn(text, " ");
    return observe_number(&text, &value) ? value : NAN;
}

static void read_driver(struct observe_machine *machine, const char *text, const struct place *place)
{
    size_t length = strspn(text, "0123456789.");
    if (length < 5 || text[length] || !strchr(text, '.') || length >= sizeof machine->driver)
        return;
    if (!*machine->driver) {
        memcpy(machine->driver, text, length + 1);
    } else if (strcmp(machine->driver, text) != 0 && !*machine->other_driver) {
        memcpy(machine->other_driver, text, length + 1);
        machine->driver_at = *place;
    }
}

/* A row of p2pBandwidthLatencyTest's matrix: the GPU, then GB/s to each. */
static void read_peers(struct observe_machine *machine, const char *text, const struct place *place)
{
    const char *p = text + strspn(text, " \t");
    double row, value;
    if (!isdigit((unsigned char)*p) || !observe_number(&p, &row) || row >= GPUS_MAX)
        return;
    for (unsigned i = 0; i < GPUS_MAX; i++) {
        p += strspn(p, " \t");
        if (!observe_number(&p, &value) || value <= 0)
            return;
        if (i == (unsigned)row)
            machine->own_slowest = machine->own_slowest > 0 ? fmin(machine->own_slowest, value) : value;
        else
            machine->peer_fastest = fmax(machine->peer_fastest, value);
        machine->peer_at = *place;
    }
}

/* A row of lsmod; or how many there were, behind the node's name: "node-1: 0" */
static void read_peer_memory(struct observe_machine *machine, const char *text)
{
    const char *last = strrchr(text, ' ');
    double count;
    if (!machine->column)
        machine->peer_memory_loaded = machine->peer_memory_loaded || strstr(text, "nvidia_peermem") || strstr(text, "nv_peer_mem");
    else if (sole_number(last ? last : text, &count) && count > 0)
        machine->peer_memory_loaded = true;
    else if (sole_number(last ? last : text, &count))
        machine->peer_memory_missing = true; /* on this node, whatever the others have */
}

static void read_answer(struct observe_machine *machine, const char *text, const struct place *place)
{
    double value;
    const char *width;
    switch (machine->asked) {
    case ASKED_FABRIC:
        read_state(machine, text, place);
        break;
    case ASKED_MEMLOCK:
        if (sole_number(text, &value) && value > 0 && value < MEMLOCK_LITTLE) {
            machine->memlock = value;
            machine->memlock_at = *place;
        }
        break;
    case ASKED_WIDTH:
        read_width(machine, cell(text, machine->column), place);
        break;
    case ASKED_LSPCI:
        width = strstr(text, "LnkSta:") ? strstr(text, "Width x") : NULL;
        if (width)
            read_width(machine, strtod(width + strlen("Width x"), NULL), place);
        break;
    case ASKED_DRIVERS:
        read_driver(machine, text, place);
        break;
    case ASKED_SPEED:
        if (sole_number(text, &value) && value >= 10 && value <= LINK_SLOW) {
            machine->link = value;
            machine->link_at = *place;
        }
        break;
    case ASKED_PEERS:
        read_peers(machine, text, place);
        break;
    case ASKED_PEER_MEMORY:
        read_peer_memory(machine, text);
        break;
    case ASKED_NOTHING:
        break;
    }
}

/* "nvidia-nccl-cu12==2.20.5" of pip freeze, twice with unlike releases */
static void read_nccl(struct observe_machine *machine, const char *text, const struct place *place)
{
    if (strncmp(text, "nvidia-nccl-cu", 14) != 0)
        return;
    const char *release = strstr(text, "==");
    size_t length = release ? strspn(release + 2, "0123456789.") : 0;
    unsigned package = (unsigned)(strtoul(text + 14, NULL, 10) % MACHINE_PACKAGES);
    if (!length || length >= sizeof machine->nccl[0])
        return;
    char *known = machine->nccl[package];
    if (!*known) {
        memcpy(known, release + 2, length);
    } else if (strncmp(known, release + 2, length) != 0 || known[length]) {
        machine->nccl_differs = true;
        machine->nccl_at = *place;
    }
}

/* A row of "nvidia-smi topo -m": "GPU0     X      PHB     NV12    0-63"; its heading is "GPU0 GPU1 ... CPU Affinity". */
static void read_topology(struct observe_machine *machine, const char *text, const struct place *place)
{
    const char *p = text + strspn(text, " \t");
    if (strncmp(p, "GPU", 3) != 0 || !isdigit((unsigned char)p[3]))
        return;
    unsigned cells = 0;
    if (!strstr(p, " X ") && !strstr(p, "\tX")) {
        for (const char *q = p; !strncmp(q, "GPU", 3); q += strspn(q, " \t"), cells++)
            q += strcspn(q, " \t");
        if (p > text || cells > 1) /* a heading has nothing above the rows' names; other lines begin with a GPU, too */
            machine->topology = cells;
        return;
    }
    for (p += strcspn(p, " \t"); cells < machine->topology; cells++) {
        p += strspn(p, " \t");
        if (!*p)
            break;
        bool joined = !strncmp(p, "NV", 2), self = *p == 'X';
        machine->joined += joined;
        if (!joined && !self) {
            machine->unjoined++;
            machine->unjoined_at = *place;
        }
        p += strcspn(p, " \t");
    }
}

void machine_line(struct observe_machine *machine, const char *text, const struct place *place)
{
    static const char *const verbs[] = {"ibv_", "EFA", "efa", "UCX", "rdma", "RDMA", "nfiniband", "openib", "erbs", "mlx5", "NET/IB", NULL};
    static const char *const refusals[] = {"802", "not yet initialized", "SYSTEM_NOT_READY", NULL};
    unsigned column = 0;
    double value;
    enum machine_question asked = question(text, &column);
    if (asked != ASKED_NOTHING) {
        machine->asked = asked;
        machine->column = column;
        machine->answers = ANSWER_LINES;
        if (asked == ASKED_PEER_MEMORY) {
            machine->peer_memory_asked = true;
            machine->peer_memory_at = *place;
        }
    } else if (*text == '$' || strstr(text, "P2P=Disabled") || strstr(text, "Latency Matrix")) {
        machine->asked = ASKED_NOTHING;
    } else if (machine->asked != ASKED_NOTHING && machine->answers-- > 0) {
        read_answer(machine, text, place);
    }
    read_nccl(machine, text, place);
    read_topology(machine, text, place);
    machine->modules = machine->modules || strstr(text, "-SXM") || strstr(text, " SXM");
    machine->verbs = machine->verbs || has_any(text, verbs);
    machine->pinning = machine->pinning || strstr(text, "pin host memory");
    machine->cuda_refused = machine->cuda_refused || has_any(text, refusals);
    const char *cores = strstr(text, "current affinity list: ");
    if (cores && sole_number(cores + strlen("current affinity list:"), &value)) {
        machine->one_core = true;
        machine->core_at = *place;
    }
    const char *speed = strstr(text, "Speed: ");
    if (speed && strstr(speed, "Mb/s")) {
        value = strtod(speed + strlen("Speed: "), NULL);
        if (value >= 10 && value <= LINK_SLOW) {
            machine->link = value;
            machine->link_at = *place;
        }
    }
}

void machine_conclude(const struct observe_machine *machine, struct collect *collect)
{
    if (machine->fabric_down)
        observe_tell(collect, &machine->fabric_at, "machine: the fabric manager %s%s",
                     machine->fabric_failed ? "failed to start" : "is not running", machine->cuda_refused ? "" : ", and CUDA said nothing");
    if (machine->memlock > 0 && machine->verbs)
        observe_tell(collect, &machine->memlock_at, "machine: locked memory is limited to %.0f kB", machine->memlock);
    else if (machine->memlock > 0 && machine->pinning)
        observe_tell(collect, &machine->memlock_at, "machine: host memory cannot be pinned beyond %.0f kB", machine->memlock);
    if (machine->width_most >= LANES_USUAL && machine->width_least <= LANES_FEW)
        observe_tell(collect, &machine->width_at, "machine: a GPU has %.0f PCIe lanes where another has %.0f", machine->width_least,
                     machine->width_most);
    if (*machine->other_driver)
        observe_tell(collect, &machine->driver_at, "machine: drivers %s and %s on nodes of one job", machine->driver,
                     machine->other_driver);
    if (machine->nccl_differs)
        observe_tell(collect, &machine->nccl_at, "machine: unlike releases of one NCCL package on the nodes");
    if (machine->one_core)
        observe_tell(collect, &machine->core_at, "machine: a process may run on one processor only");
    if (machine->peer_fastest > 0 && machine->peer_fastest < PEER_SLOW && machine->own_slowest > PEER_OWN_FAST)
        observe_tell(collect, &machine->peer_at, "machine: direct copies between GPUs reach %.1f GB/s at most", machine->peer_fastest);
    if (machine->verbs && (machine->peer_memory_missing || (machine->peer_memory_asked && !machine->peer_memory_loaded)))
        observe_tell(collect, &machine->peer_memory_at, "machine: no module for peer memory is loaded");
    if (machine->modules && machine->unjoined && !machine->joined)
        observe_tell(collect, &machine->unjoined_at, "machine: no NVLink joins the %u GPUs, which are SXM modules", machine->topology);
    if (machine->link > 0)
        observe_tell(collect, &machine->link_at, "machine: the link between the nodes has %.0f Mb/s", machine->link);
}

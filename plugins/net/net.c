/* The net probe: interfaces, what the libraries would choose among them, the rendezvous host, RDMA. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

#define RESOLVE_MS "200"

static const char *const facts[] = {"net.*", "ib.*", "efa.*", NULL};
static const dtkb_param_v1 params[] = {
    {DTKB_PARAM_V1_INIT, .name = "resolve_ms", .summary = "how long to wait for the resolver", .default_value = RESOLVE_MS},
    {DTKB_PARAM_V1_INIT, .name = "hostname", .summary = "the own host name, for recorded trees", .default_value = NULL},
    {DTKB_PARAM_V1_INIT, .name = "etc", .summary = "folder of ufw/ufw.conf", .default_value = "/etc"},
    {DTKB_PARAM_V1_INIT, .name = "run", .summary = "folder of firewalld's run-time files", .default_value = "/run"},
};

/* The own host name's address for Gloo; NULL while unknown, AF_UNSPEC when there is none. */
static const struct net_address *own_name_emit(struct kit *kit, const char *name, enum net_answer answer, struct net_address *address)
{
    if (answer == NET_TIMED_OUT) {
        kit_log(kit, 2, "the resolver has not answered for the own host name %s in time", name);
        return NULL;
    }
    kit_bool(kit, answer == NET_FOUND, "getaddrinfo", "net.hostname.resolves");
    if (answer == NET_FOUND)
        kit_bool(kit, net_is_loopback(address), "getaddrinfo", "net.hostname.is_loopback");
    else
        address->family = AF_UNSPEC;
    return address;
}

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    struct net net = {.kit = kit_start(host, call)};
    struct kit *kit = &net.kit;
    /* Both names are looked up while the rest is read. */
    char machine[256] = "";
    (void)gethostname(machine, sizeof machine - 1);
    const char *own = kit_param(kit, "hostname", machine), *master = kit_env(kit, "MASTER_ADDR");
    uint64_t wait_ms = strtoull(kit_param(kit, "resolve_ms", RESOLVE_MS), NULL, 10);
    uint64_t until = host->now_ns() + wait_ms * 1000000u;
    struct net_lookup *own_lookup = *own ? net_lookup_start(own) : NULL;
    struct net_lookup *master_lookup = master && *master ? net_lookup_start(master) : NULL;

    bool have = net_ifaces_find(&net);
    if (have)
        net_ifaces_emit(&net);
    else
        kit_unavailable(kit, "no interfaces can be read below %s/class/net", call->sys_root);
    net_settings_emit(&net);
    net_rdma_emit(&net);

    struct net_address address = {0}, master_address = {0};
    const struct net_address *own_address = NULL;
    if (own_lookup)
        own_address = own_name_emit(kit, own, net_lookup_end(own_lookup, kit, until, &address), &address);
    if (have)
        net_choice_emit(&net, own_address);
    if (master_lookup)
        net_master_emit(&net, master, net_lookup_end(master_lookup, kit, until, &master_address), &master_address);
    return kit_finish(kit);
}

static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .name = "net", .summary = "interfaces, NCCL's and Gloo's choice among them, the rendezvous host, InfiniBand",
     .caps = DTKB_CAP_NETWORK, .facts = facts, .params = params, .param_count = sizeof params / sizeof *params, .run = run}};
static const dtkb_plugin_v1 plugin = {DTKB_PLUGIN_V1_INIT,
                                      .name = "net",
                                      .version = "1.0",
                                      .licence = "Apache-2.0",
                                      .summary = "the network of this host as a training job sees it",
                                      .probes = probes,
                                      .probe_count = 1,
                                      .probe_stride = sizeof(dtkb_probe_v1)};
DTKB_PLUGIN_ENTRY(plugin)

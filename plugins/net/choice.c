/* The interface that NCCL, Gloo and TensorPipe would use, by their own rules.
 * NCCL, as its user guide has it: NCCL_SOCKET_IFNAME where set, otherwise "ib*", otherwise all but docker*, lo* and virbr*, otherwise
 * docker*, lo*, virbr*. It looks at addresses in the kernel's order and does not ask whether the interface is up.
 * Gloo in PyTorch: GLOO_SOCKET_IFNAME, otherwise the address of the own host name, otherwise loopback. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "net.h"

#define NCCL_IFACES_MAX 16u

/* NCCL_SOCKET_FAMILY; AF_UNSPEC where it is free. */
static sa_family_t wanted_family(const struct kit *kit)
{
    const char *setting = kit_env(kit, "NCCL_SOCKET_FAMILY");
    if (!setting)
        return AF_UNSPEC;
    return !strcmp(setting, "AF_INET") ? AF_INET : !strcmp(setting, "AF_INET6") ? AF_INET6 : AF_UNSPEC;
}

/* Names of the interfaces that the list selects, joined by commas, as NCCL collects them; their number. */
static size_t selected(const struct net *net, const char *list, const char *names[NCCL_IFACES_MAX])
{
    sa_family_t family = wanted_family(&net->kit);
    size_t count = 0;
    for (size_t i = 0; i < net->address_count && count < NCCL_IFACES_MAX; i++) {
        const struct net_address *address = &net->addresses[i];
        if ((family != AF_UNSPEC && address->family != family) || (address->family == AF_INET6 && net_is_loopback(address)) ||
            !net_selects(list, address->iface, -1))
            continue;
        bool known = false;
        for (size_t k = 0; k < count && !known; k++)
            known = !strcmp(names[k], address->iface);
        if (!known)
            names[count++] = address->iface;
    }
    return count;
}

static const char *join(char *out, size_t size, const char *const *names, size_t count)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && length < size; i++) {
        int n = snprintf(out + length, size - length, "%s%s", i ? "," : "", names[i]);
        length += n > 0 ? (size_t)n : 0;
    }
    return out;
}

static const char *all_names(const struct net *net, char *out, size_t size)
{
    const char *names[NCCL_IFACES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < net->iface_count && count < NCCL_IFACES_MAX; i++)
        if (net->ifaces[i].up && net_iface_has_address(net, net->ifaces[i].name))
            names[count++] = net->ifaces[i].name;
    return count ? join(out, size, names, count) : "none";
}

static void nccl_setting_emit(struct net *net, const char *setting, const char *const *names, size_t count)
{
    struct kit *kit = &net->kit;
    bool any_up = false;
    for (size_t i = 0; i < count && !any_up; i++) {
        const struct net_iface *iface = net_iface(net, names[i]);
        any_up = iface && iface->up;
    }
    kit_string(kit, setting, "NCCL_SOCKET_IFNAME", "net.nccl.ifname_setting");
    kit_wrong(kit, !any_up);
    kit_bool(kit, any_up, "NCCL_SOCKET_IFNAME", "net.nccl.ifname_matches");
    char usable[256];
    if (!count)
        kit_fault(kit, "NCCL_SOCKET_IFNAME=%s selects no interface with an address; up with an address here: %s", setting,
                  all_names(net, usable, sizeof usable));
    else if (!any_up)
        kit_fault(kit, "NCCL_SOCKET_IFNAME=%s selects %s, which is down; up with an address here: %s", setting, names[0],
                  all_names(net, usable, sizeof usable));
}

static void nccl_emit(struct net *net)
{
    static const char *const rules[] = {"ib", "^docker,lo,virbr", "docker", "lo", "virbr"};
    const char *names[NCCL_IFACES_MAX];
    const char *setting = kit_env(&net->kit, "NCCL_SOCKET_IFNAME");
    size_t count = 0;
    if (setting && strlen(setting) > 1) {
        count = selected(net, setting, names);
        nccl_setting_emit(net, setting, names, count);
    } else {
        for (size_t i = 0; i < sizeof rules / sizeof *rules && !count; i++)
            count = selected(net, rules[i], names);
    }
    if (!count)
        return;
    char list[NCCL_IFACES_MAX * NET_NAME_MAX];
    kit_string(&net->kit, names[0], setting ? "NCCL_SOCKET_IFNAME" : "NCCL's default order", "net.nccl.pick");
    kit_string(&net->kit, join(list, sizeof list, names, count), setting ? "NCCL_SOCKET_IFNAME" : "NCCL's default order",
               "net.nccl.candidates");
}

static const struct net_address *address_of(const struct net *net, const char *iface, size_t length)
{
    for (size_t i = 0; i < net->address_count; i++)
        if (strlen(net->addresses[i].iface) == length && !strncmp(net->addresses[i].iface, iface, length))
            return &net->addresses[i];
    return NULL;
}

/* A list of whole names, as GLOO_SOCKET_IFNAME and TP_SOCKET_IFNAME hold. True when each is up and has an address; otherwise the first
 * that is not goes to `wrong`. */
static bool exact_names_usable(const struct net *net, const char *list, char wrong[64], const struct net_address **first)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        const struct net_address *address = address_of(net, list, length);
        const struct net_iface *iface = address ? net_iface(net, address->iface) : NULL;
        if (length && (!iface || !iface->up)) {
            (void)snprintf(wrong, 64, "%.*s", (int)(length < 63 ? length : 63), list);
            return false;
        }
        if (address && !*first)
            *first = address;
        list += length;
        list += *list == ',';
    }
    return *first != NULL;
}

static void gloo_emit(struct net *net, const struct net_address *own_name)
{
    struct kit *kit = &net->kit;
    char wrong[64] = "", usable[256], text[INET6_ADDRSTRLEN];
    const struct net_address *pick = NULL;
    const char *setting = kit_env(kit, "GLOO_SOCKET_IFNAME");
    if (setting && *setting) {
        bool good = exact_names_usable(net, setting, wrong, &pick);
        kit_string(kit, setting, "GLOO_SOCKET_IFNAME", "net.gloo.ifname_setting");
        kit_wrong(kit, !good);
        kit_bool(kit, good, "GLOO_SOCKET_IFNAME", "net.gloo.ifname_matches");
        if (!good)
            kit_fault(kit,
                      "GLOO_SOCKET_IFNAME=%s: %s is no interface that is up and has an address; such are: %s (whole names, no patterns)",
                      setting, *wrong ? wrong : "it", all_names(net, usable, sizeof usable));
        if (pick)
            kit_string(kit, net_address_text(pick, text, sizeof text), "GLOO_SOCKET_IFNAME", "net.gloo.pick");
        return;
    }
    if (!own_name)
        return; /* the resolver did not say in time */
    bool own = own_name->family != AF_UNSPEC && net_is_own(net, own_name);
    kit_string(kit, own ? net_address_text(own_name, text, sizeof text) : "127.0.0.1",
               own ? "address of the own host name" : "Gloo's fallback: the own host name is no address of this host", "net.gloo.pick");
}

static void tensorpipe_emit(struct net *net)
{
    const char *setting = kit_env(&net->kit, "TP_SOCKET_IFNAME");
    if (!setting || !*setting)
        return;
    char wrong[64] = "", usable[256];
    const struct net_address *pick = NULL;
    bool good = exact_names_usable(net, setting, wrong, &pick);
    kit_wrong(&net->kit, !good);
    kit_bool(&net->kit, good, "TP_SOCKET_IFNAME", "net.tensorpipe.ifname_matches");
    if (!good)
        kit_fault(&net->kit, "TP_SOCKET_IFNAME=%s names no interface that is up and has an address; such are: %s", setting,
                  all_names(net, usable, sizeof usable));
}

void net_choice_emit(struct net *net, const struct net_address *own_name)
{
    nccl_emit(net);
    gloo_emit(net, own_name);
    tensorpipe_emit(net);
}

/* What the host's configuration says about the network: signs of a packet filter, IPv6, ephemeral ports, backlog. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

static void sign_add(char *signs, size_t size, const char *sign)
{
    size_t length = strlen(signs);
    (void)snprintf(signs + length, size - length, "%s%s", length ? ", " : "", sign);
}

/* A line "NAME SIZE USERS ..." of /proc/modules: how many use the module; -1 when it isn't loaded. */
static long module_users(const char *modules, const char *name)
{
    size_t length = strlen(name);
    for (const char *line = modules; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!strncmp(line, name, length) && line[length] == ' ') {
            long users = 0;
            return sscanf(line + length, " %*s %ld", &users) == 1 ? users : 0;
        }
    return -1;
}

static void kernel_signs(const struct kit *kit, const char *modules, char *signs, size_t size)
{
    static const char *const filters[] = {"iptable_filter", "ip6table_filter"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (module_users(modules, filters[i]) >= 0)
            sign_add(signs, size, filters[i]);
    /* Rules hold references: a table that is merely loaded has none. */
    if (module_users(modules, "nf_tables") > 0)
        sign_add(signs, size, "nf_tables");
    char table[64];
    if (kit_read_line(kit, table, sizeof table, kit->call->proc_root, "net/ip_tables_names") && *table && !strstr(signs, "iptable"))
        sign_add(signs, size, "ip_tables");
}

static bool ufw_enabled(const struct kit *kit, const char *etc)
{
    const char *text = kit_read(kit, 4096, NULL, etc, "ufw/ufw.conf");
    for (const char *at = text; at && (at = strstr(at, "ENABLED=")); at += 8)
        if ((at == text || at[-1] == '\n') && !strncasecmp(at + 8, "yes", 3))
            return true;
    return false;
}

static void firewall_emit(struct net *net)
{
    struct kit *kit = &net->kit;
    char signs[256] = "";
    const char *modules = kit_read(kit, 1u << 18, NULL, kit->call->proc_root, "modules");
    if (modules)
        kernel_signs(kit, modules, signs, sizeof signs);
    if (ufw_enabled(kit, kit_param(kit, "etc", "/etc")))
        sign_add(signs, sizeof signs, "ufw");
    if (kit_exists(kit, kit_param(kit, "run", "/run"), "firewalld"))
        sign_add(signs, sizeof signs, "firewalld");
    if (*signs)
        kit_string(kit, signs, "proc/modules, ufw.conf, /run/firewalld", "net.firewall.signs");
    if (modules || *signs) /* built-in filters of a kernel without modules show nowhere */
        kit_bool(kit, *signs != '\0', "proc/modules, ufw.conf, /run/firewalld", "net.firewall.active");
}

void net_settings_emit(struct net *net)
{
    struct kit *kit = &net->kit;
    const char *proc = kit->call->proc_root;
    uint64_t value;
    char line[64];
    firewall_emit(net);
    if (kit_read_u64(kit, &value, proc, "sys/net/ipv6/conf/all/disable_ipv6"))
        kit_bool(kit, value == 0, "proc/sys/net/ipv6/conf/all/disable_ipv6", "net.ipv6.enabled");
    else if (kit_exists(kit, proc, "net") && !kit_exists(kit, proc, "net/if_inet6"))
        kit_bool(kit, false, "proc/net/if_inet6 is absent", "net.ipv6.enabled");
    if (kit_read_line(kit, line, sizeof line, proc, "sys/net/ipv4/ip_local_port_range")) {
        unsigned first, last;
        if (sscanf(line, "%u %u", &first, &last) == 2) {
            kit_u64(kit, first, "port", "proc/sys/net/ipv4/ip_local_port_range", "net.ports.ephemeral_first");
            kit_u64(kit, last, "port", "proc/sys/net/ipv4/ip_local_port_range", "net.ports.ephemeral_last");
        }
    }
    if (kit_read_u64(kit, &value, proc, "sys/net/core/somaxconn"))
        kit_u64(kit, value, "connections", "proc/sys/net/core/somaxconn", "net.somaxconn");
}

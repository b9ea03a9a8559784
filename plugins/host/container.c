/* The kind of container around this process, and the namespaces that are not the machine's own. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"

/* self/root is the root folder of this process, in a recorded tree too. */
static bool at_root(struct kit *kit, const char *file)
{
    return kit_exists(kit, kit->call->proc_root, "self/root/%s", file);
}

static const char *by_group(const char *groups)
{
    static const struct {
        const char *word, *kind;
    } words[] = {{"kubepods", "kubernetes"}, {"libpod", "podman"}, {"/docker", "docker"},       {"docker-", "docker"},
                 {"lxc.payload", "lxc"},     {"/lxc/", "lxc"},     {"cri-containerd", "other"}, {"machine.slice/systemd-nspawn", "other"}};
    for (size_t i = 0; groups && i < sizeof words / sizeof *words; i++)
        if (strstr(groups, words[i].word))
            return words[i].kind;
    return NULL;
}

/* `isolated`: some namespace is private, or that could not be seen. */
static const char *kind_of(struct kit *kit, bool isolated, const char **origin)
{
    const char *declared = kit_env(kit, "container");
    *origin = "environment";
    if (kit_env(kit, "KUBERNETES_SERVICE_HOST"))
        return "kubernetes";
    if (kit_env(kit, "APPTAINER_CONTAINER") || kit_env(kit, "SINGULARITY_CONTAINER"))
        return "apptainer";
    if (declared && *declared)
        return !strcmp(declared, "podman") || !strcmp(declared, "lxc") || !strcmp(declared, "docker") ? declared
               : !strcmp(declared, "oci")                                                             ? "podman"
                                                                                                      : "other";
    *origin = "self/cgroup";
    const char *kind = by_group(kit_read(kit, 65536, NULL, kit->call->proc_root, "self/cgroup"));
    if (kind)
        return kind;
    /* Virtual machines made of a container image carry its marks, too, but run in the first namespaces of their kernel. */
    *origin = "self/root";
    if (!isolated)
        return "none";
    if (at_root(kit, ".dockerenv"))
        return "docker";
    if (at_root(kit, "run/.containerenv"))
        return "podman";
    if (at_root(kit, ".singularity.d"))
        return "apptainer";
    return "none";
}

/* The kernel numbers its first namespaces the same since ever. Others were made by somebody: a container, or unshare. */
static bool emit_namespaces(struct kit *kit)
{
    static const struct {
        const char *name, *first;
    } kinds[] = {{"cgroup", "cgroup:[4026531835]"},
                 {"ipc", "ipc:[4026531839]"},
                 {"pid", "pid:[4026531836]"},
                 {"user", "user:[4026531837]"},
                 {"uts", "uts:[4026531838]"}};
    char list[64] = "";
    bool seen = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[PATH_MAX], link[64];
        int fits = snprintf(path, sizeof path, "%s/self/ns/%s", kit->call->proc_root, kinds[i].name);
        ssize_t length = fits > 0 && (size_t)fits < sizeof path ? readlink(path, link, sizeof link - 1) : -1;
        if (length < 0)
            continue;
        seen = true;
        link[length] = '\0';
        size_t used = strlen(list);
        if (strcmp(link, kinds[i].first) != 0)
            (void)snprintf(list + used, sizeof list - used, "%s%s", used ? "," : "", kinds[i].name);
    }
    if (!seen) {
        kit_log(kit, 1, "%s/self/ns cannot be read: whether namespaces are private is not known", kit->call->proc_root);
        return true;
    }
    kit_string(kit, *list ? list : "none", "self/ns", "host.namespaces.private");
    return *list != '\0';
}

void host_container(struct kit *kit)
{
    const char *origin;
    bool isolated = emit_namespaces(kit);
    const char *kind = kind_of(kit, isolated, &origin);
    kit_string(kit, kind, origin, "host.container.kind");
}

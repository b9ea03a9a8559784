/* Of joined reports: whose driver, NCCL, variables, interface or clock is not like the others'. One pass over all facts. */
#include <stdlib.h>
#include <string.h>

#include "api/merge.h"
#include "base/fact.h"

/* Facts that should be alike on all ranks of a job. Sizes that come and go, times and names are not among them. */
static bool is_telling(const char *name)
{
    static const char *const patterns[] = {"env.var.*",
                                           "env.launcher",
                                           "env.ld.shadowing",
                                           "net.nccl.*",
                                           "net.gloo.*",
                                           "net.master.*",
                                           "net.iface.*.mtu",
                                           "net.iface.*.speed_mbps",
                                           "net.iface.*.up",
                                           "net.iface.count_usable",
                                           "net.ipv6.enabled",
                                           "net.firewall.active",
                                           "host.clock.synchronized",
                                           "host.kernel.release",
                                           "host.limit.*",
                                           "host.shm.size_bytes",
                                           "host.cpu.usable",
                                           "host.iommu.enabled",
                                           "host.acs.enabled",
                                           "host.container.kind",
                                           "gpu.count",
                                           "gpu.*.name",
                                           "gpu.*.compute_mode",
                                           "gpu.*.mig_mode",
                                           "gpu.driver.*",
                                           "ib.device.count",
                                           "ib.ports.*",
                                           "ib.port.*.*.state",
                                           "ib.port.*.*.rate_gbps",
                                           "ib.port.*.*.link_layer",
                                           "ib.peermem.loaded",
                                           "efa.device.count",
                                           "nccl.transport",
                                           "nccl.library.*",
                                           "python.*",
                                           "*.*.version",
                                           "*.*.status",
                                           "*.*.path"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fact_name_matches(patterns[i], name))
            return true;
    return false;
}

/* {name: {plugin, values: {value as text: {value, count, reports}}}} in the order of first sight. */
static void take_fact(json_t *table, const json_t *fact, const struct source *source)
{
    const char *name = merge_string(fact, "name");
    if (!is_telling(name))
        return;
    if (!json_object_get(table, name))
        json_object_set_new(table, name, json_pack("{s:s, s:{}}", "plugin", merge_string(fact, "plugin"), "values"));
    json_t *values = json_object_get(json_object_get(table, name), "values");
    char *key = json_dumps(json_object_get(fact, "value"), JSON_ENCODE_ANY | JSON_COMPACT);
    json_t *group = key ? json_object_get(values, key) : NULL;
    if (key && !group) {
        group = json_pack("{s:O, s:[]}", "value", json_object_get(fact, "value"), "reports");
        json_object_set_new(values, key, group);
    }
    json_array_append_new(json_object_get(group, "reports"), json_string(source->name));
    free(key);
}

/* {plugin: {report: true}}: who probed what. */
static json_t *who_probed(const struct source *sources, size_t count)
{
    json_t *probed = json_object();
    for (size_t i = 0; i < count; i++) {
        size_t f;
        const json_t *fact;
        json_array_foreach(json_object_get(sources[i].report, "facts"), f, fact)
        {
            const char *plugin = merge_string(fact, "plugin");
            if (!json_object_get(probed, plugin))
                json_object_set_new(probed, plugin, json_object());
            json_object_set_new(json_object_get(probed, plugin), sources[i].name, json_true());
        }
    }
    return probed;
}

/* The reports that have other facts of the same plugin, but not this one. */
static json_t *absent_group(json_t *values, const json_t *probed)
{
    json_t *lacking = json_copy((json_t *)probed), *group = json_pack("{s:n, s:[]}", "value", "reports"), *name;
    const char *key;
    json_t *value;
    size_t i;
    json_object_foreach(values, key, value) json_array_foreach(json_object_get(value, "reports"), i, name)
        json_object_del(lacking, json_string_value(name));
    json_object_foreach(lacking, key, value) json_array_append_new(json_object_get(group, "reports"), json_string(key));
    json_decref(lacking);
    return group;
}

static size_t size_of(const json_t *group)
{
    return json_array_size(json_object_get(group, "reports"));
}

/* The groups, largest first; equal ones in the order of first sight. */
static json_t *by_size(json_t *values)
{
    json_t *list = json_array(), *group;
    const char *key;
    json_object_foreach(values, key, group)
    {
        size_t at = json_array_size(list);
        while (at > 0 && size_of(json_array_get(list, at - 1)) < size_of(group))
            at--;
        json_object_set_new(group, "count", json_integer((json_int_t)size_of(group)));
        json_array_insert(list, at, group);
    }
    return list;
}

static json_t *compare(json_t *values, const json_t *probed, size_t count)
{
    json_t *absent = absent_group(values, probed);
    if (size_of(absent))
        json_object_set(values, "absent", absent);
    json_decref(absent);
    json_t *groups = by_size(values);
    size_t different = json_array_size(groups);
    /* One value each, as of a rank's own number or address, tells nothing. */
    bool telling = different > 1 && (count <= 2 || size_of(json_array_get(groups, 0)) > 1);
    if (!telling) {
        json_decref(groups);
        return NULL;
    }
    return groups;
}

json_t *merge_differences(const struct source *sources, size_t count)
{
    json_t *table = json_object(), *probed = who_probed(sources, count), *differences = json_array(), *entry;
    for (size_t i = 0; i < count; i++) {
        size_t f;
        const json_t *fact;
        json_array_foreach(json_object_get(sources[i].report, "facts"), f, fact) take_fact(table, fact, &sources[i]);
    }
    const char *name;
    json_object_foreach(table, name, entry)
    {
        json_t *groups = compare(json_object_get(entry, "values"), json_object_get(probed, merge_string(entry, "plugin")), count);
        if (groups)
            json_array_append_new(differences, json_pack("{s:s, s:o}", "fact", name, "values", groups));
    }
    json_decref(table);
    json_decref(probed);
    return differences;
}

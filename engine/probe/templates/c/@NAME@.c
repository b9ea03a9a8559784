/* Looks at how busy the machine is, and says so as a fact; @NAME@.xml draws the conclusion. */
#include <stdio.h>
#include <unistd.h>

#include <dtkb/plugin.h>

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    /* Roots are parameters: a test may hand over a recorded tree instead of /proc. */
    char path[4096];
    double load = 0;
    (void)snprintf(path, sizeof path, "%s/loadavg", call->proc_root);
    FILE *file = fopen(path, "r");
    int found = file ? fscanf(file, "%lf", &load) : 0;
    if (file)
        (void)fclose(file);
    if (found != 1) {
        host->reason(call, "loadavg cannot be read");
        return DTKB_UNAVAILABLE;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return dtkb_emit_f64(host, call, "@NAME@.load_per_core", "tasks", load / (double)(cores > 0 ? cores : 1));
}

static const char *const facts[] = {"@NAME@.load_per_core", NULL};

static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .name = "@NAME@", .summary = "how busy the machine is", .facts = facts, .run = run},
};

static const dtkb_plugin_v1 plugin = {
    DTKB_PLUGIN_V1_INIT,
    .name = "@NAME@",
    .version = "0.1",
    .licence = "Apache-2.0",
    .summary = "load of the machine",
    .probes = probes,
    .probe_count = sizeof probes / sizeof *probes,
    .probe_stride = sizeof(dtkb_probe_v1),
};

DTKB_PLUGIN_ENTRY(plugin)

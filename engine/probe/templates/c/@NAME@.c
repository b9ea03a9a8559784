/* Looks at how the kernel promises memory, and says so as a fact; @NAME@.xml draws the conclusion. */
#include <stdio.h>
#include <stdlib.h>

#include <dtkb/plugin.h>

static dtkb_result run(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    /* Roots are parameters: a test may hand over a recorded tree instead of /proc. */
    char path[4096], line[32] = "";
    (void)snprintf(path, sizeof path, "%s/sys/vm/overcommit_memory", call->proc_root);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, sizeof line, file)) {
        if (file)
            (void)fclose(file);
        host->reason(call, "sys/vm/overcommit_memory cannot be read");
        return DTKB_UNAVAILABLE;
    }
    (void)fclose(file);
    return dtkb_emit_u64(host, call, "@NAME@.overcommit_mode", "", strtoull(line, NULL, 10));
}

static const char *const facts[] = {"@NAME@.overcommit_mode", NULL};

static const dtkb_probe_v1 probes[] = {
    {DTKB_PROBE_V1_INIT, .name = "@NAME@", .summary = "how the kernel promises memory", .facts = facts, .run = run},
};

static const dtkb_plugin_v1 @IDENT@_plugin = {
    DTKB_PLUGIN_V1_INIT,
    .name = "@NAME@",
    .version = "0.1",
    .licence = "Apache-2.0",
    .summary = "memory promises of the kernel",
    .probes = probes,
    .probe_count = sizeof probes / sizeof *probes,
    .probe_stride = sizeof(dtkb_probe_v1),
};

DTKB_PLUGIN_ENTRY(@IDENT@_plugin)

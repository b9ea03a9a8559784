#include "report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "xid.h"

/* " (3 h ago)" in a log of this machine, "" where that cannot be told. */
static const char *ago(const struct source *source, const struct tally *tally, char *out, size_t size)
{
    struct timespec now;
    *out = '\0';
    if (!source->live || tally->time < 0 || clock_gettime(tally->since_boot ? CLOCK_MONOTONIC : CLOCK_REALTIME, &now) != 0)
        return out;
    double seconds = (double)now.tv_sec - tally->time;
    if (seconds < 0)
        return out;
    if (seconds < 7200)
        (void)snprintf(out, size, " (%.0f min ago)", seconds / 60);
    else if (seconds < 172800)
        (void)snprintf(out, size, " (%.0f h ago)", seconds / 3600);
    else
        (void)snprintf(out, size, " (%.0f days ago)", seconds / 86400);
    return out;
}

static void emit_count(struct kit *kit, const struct source *source, const struct tally *tally, const char *unit, const char *fact)
{
    kit_u64(kit, tally->count, unit, source->name, "%s", fact);
    if (tally->count)
        kit_log(kit, 1, "%s: %llu, last: %s", fact, (unsigned long long)tally->count, tally->last);
}

static void emit_text(struct kit *kit, const struct source *source, const char *text, const char *fact)
{
    if (*text)
        kit_string(kit, text, source->name, "%s", fact);
}

/* ---- facts ---- */

static void emit_xids(struct kit *kit, const struct source *source, const struct events *events)
{
    uint64_t serious = 0;
    for (unsigned i = 0; i < events->xid_codes; i++) {
        const struct xid_seen *seen = &events->xids[i];
        const struct xid *xid = xid_find(seen->code);
        kit_wrong(kit, xid_is_serious(xid));
        kit_u64(kit, seen->tally.count, "events", source->name, "kernel.xid.%u.count", seen->code);
        if (*seen->gpus)
            kit_string(kit, seen->gpus, source->name, "kernel.xid.%u.gpus", seen->code);
        kit_log(kit, 1, "Xid %u (%s), %llu times%s%s: %s; %s", seen->code, xid_kind_name(xid->kind), (unsigned long long)seen->tally.count,
                *seen->process ? ", last of " : "", seen->process, xid->meaning, xid_action_text(xid->action));
        if (xid_is_serious(xid))
            serious += seen->tally.count;
    }
    kit_wrong(kit, serious != 0);
    kit_u64(kit, serious, "events", source->name, "kernel.xid.count");
}

static void emit_driver(struct kit *kit, const struct source *source, const struct events *events)
{
    emit_xids(kit, source, events);
    kit_wrong(kit, events->sxid_fatal.count != 0);
    emit_count(kit, source, &events->sxid, "events", "kernel.sxid.count");
    kit_wrong(kit, events->sxid_fatal.count != 0);
    kit_u64(kit, events->sxid_fatal.count, "events", source->name, "kernel.sxid.fatal_count");
    kit_wrong(kit, events->reset_required || events->off_bus.count);
    kit_bool(kit, events->reset_required || events->off_bus.count, source->name, "kernel.gpu_reset_required");
    emit_count(kit, source, &events->nvlink, "events", "kernel.nvlink_errors.count");
    kit_wrong(kit, events->init_failure.count != 0);
    emit_count(kit, source, &events->init_failure, "events", "kernel.nvrm_init_failures.count");
    emit_count(kit, source, &events->peer_memory, "events", "kernel.peermem_errors.count");
    kit_wrong(kit, events->mismatch.count && *events->client_version);
    emit_text(kit, source, events->client_version, "kernel.nvrm_mismatch.client_version");
    kit_wrong(kit, events->mismatch.count && *events->module_version);
    emit_text(kit, source, events->module_version, "kernel.nvrm_mismatch.module_version");
}

/* Is the killed group this process's own, or one that holds it? Within a namespace of its own all this process sees is "/". */
static bool is_own_group(struct kit *kit, const char *group)
{
    size_t length = strlen(group);
    const char *own = length > 1 ? kit_read(kit, 65536, NULL, kit->call->proc_root, "self/cgroup") : NULL;
    for (const char *at = own; at && (at = strstr(at, group)); at++)
        if (at > own && at[-1] == ':' && (at[length] == '/' || at[length] == '\n' || !at[length]))
            return true;
    return false;
}

static void emit_processes(struct kit *kit, const struct source *source, const struct events *events)
{
    kit_wrong(kit, events->oom.whole_machine_kills || is_own_group(kit, events->oom.group));
    emit_count(kit, source, &events->oom.tally, "kills", "kernel.oom_kill.count");
    emit_text(kit, source, events->oom.victim, "kernel.oom_kill.victim");
    emit_text(kit, source, events->oom.group, "kernel.oom_kill.cgroup");
    emit_count(kit, source, &events->segfault, "events", "kernel.segfault.count");
    emit_text(kit, source, events->segfault_process, "kernel.segfault.process");
    emit_text(kit, source, events->segfault_library, "kernel.segfault.library");
    emit_count(kit, source, &events->hung, "events", "kernel.hung_task.count");
    emit_text(kit, source, events->hung_task, "kernel.hung_task.name");
    emit_count(kit, source, &events->lockup, "events", "kernel.lockup.count");
}

static void emit_machine(struct kit *kit, const struct source *source, const struct events *events)
{
    /* Each error is announced and described; where one of the two lines is missing, the other counts. */
    const struct tally *aer = events->aer_detail.count > events->aer_announced.count ? &events->aer_detail : &events->aer_announced;
    kit_wrong(kit, events->aer_fatal.count != 0);
    emit_count(kit, source, aer, "events", "kernel.pcie_aer.count");
    kit_wrong(kit, events->aer_fatal.count != 0);
    kit_u64(kit, events->aer_fatal.count, "events", source->name, "kernel.pcie_aer.fatal_count");
    emit_count(kit, source, &events->machine_check, "events", "kernel.machine_check.count");
    emit_count(kit, source, &events->link_down, "events", "kernel.link_flap.count");
    kit_wrong(kit, events->adapter.count != 0);
    emit_count(kit, source, &events->adapter, "events", "kernel.adapter_errors.count");
    kit_wrong(kit, events->fs_fatal.count != 0);
    emit_count(kit, source, &events->fs, "events", "kernel.fs_errors.count");
    emit_count(kit, source, &events->nfs, "events", "kernel.nfs_not_responding.count");
}

/* ---- faults: the worst first, its reason stays ---- */

static const struct xid_seen *worst_xid(const struct events *events)
{
    const struct xid_seen *worst = NULL;
    for (unsigned i = 0; i < events->xid_codes; i++) {
        const struct xid *xid = xid_find(events->xids[i].code), *other = worst ? xid_find(worst->code) : NULL;
        if (xid_is_serious(xid) && (!other || xid->kind > other->kind || (xid->kind == other->kind && xid->action > other->action)))
            worst = &events->xids[i];
    }
    return worst;
}

static void judge_driver(struct kit *kit, const struct source *source, const struct events *events)
{
    char when[32];
    const struct xid_seen *worst = worst_xid(events);
    if (worst) {
        const struct xid *xid = xid_find(worst->code);
        kit_fault(kit, "Xid %u on GPU %s%s: %s; %s", worst->code, worst->gpus, ago(source, &worst->tally, when, sizeof when), xid->meaning,
                  xid_action_text(xid->action));
    }
    if (events->off_bus.count)
        kit_fault(kit, "a GPU has fallen off the bus%s: %s", ago(source, &events->off_bus, when, sizeof when), events->off_bus.last);
    if (events->sxid_fatal.count)
        kit_fault(kit, "fatal error of an NVSwitch%s: %s", ago(source, &events->sxid_fatal, when, sizeof when), events->sxid_fatal.last);
    if (events->mismatch.count)
        kit_fault(
            kit, "the NVIDIA libraries (%s) and the loaded kernel module (%s) are of different versions%s: load the module again or reboot",
            events->client_version, events->module_version, ago(source, &events->mismatch, when, sizeof when));
    if (events->init_failure.count)
        kit_fault(kit, "the NVIDIA driver could not start a GPU%s: %s", ago(source, &events->init_failure, when, sizeof when),
                  events->init_failure.last);
    if (events->reset_required)
        kit_fault(kit, "a GPU waits for a reset%s: %s", ago(source, &events->reset, when, sizeof when), events->reset.last);
}

static void judge_machine(struct kit *kit, const struct source *source, const struct events *events)
{
    char when[32];
    const struct oom *oom = &events->oom;
    if (events->aer_fatal.count)
        kit_fault(kit, "fatal PCIe error%s: %s", ago(source, &events->aer_fatal, when, sizeof when), events->aer_fatal.last);
    if (events->fs_fatal.count)
        kit_fault(kit, "damaged file system%s: %s", ago(source, &events->fs_fatal, when, sizeof when), events->fs_fatal.last);
    if (oom->whole_machine_kills)
        kit_fault(kit, "out of memory%s: the whole machine had none left and the kernel killed %llu process%s, the last kill was of %s",
                  ago(source, &oom->tally, when, sizeof when), (unsigned long long)oom->whole_machine_kills,
                  oom->whole_machine_kills == 1 ? "" : "es", oom->victim);
    if (is_own_group(kit, oom->group))
        kit_fault(kit, "out of memory%s: the kernel killed %s, which had reached the limit of %s",
                  ago(source, &oom->tally, when, sizeof when), oom->victim, oom->group);
    if (events->adapter.count)
        kit_fault(kit, "a network adapter reported an error of its own%s: %s", ago(source, &events->adapter, when, sizeof when),
                  events->adapter.last);
}

void report(struct kit *kit, const struct source *source, const struct events *events)
{
    emit_driver(kit, source, events);
    emit_processes(kit, source, events);
    emit_machine(kit, source, events);
    judge_driver(kit, source, events);
    judge_machine(kit, source, events);
}

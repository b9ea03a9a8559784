/* Which of this host's GPUs, or which pair of them, makes the collective fail. */
#include <stdio.h>
#include <string.h>

#include "bisect.h"
#include "nccl_run.h"

#define BISECT_SECONDS 4.0 /* a set that works takes a fraction of it */
#define BYTES 65536        /* where no collective was begun */

/* A fresh communicator over the subset and the collective that failed, once: does it fail again? */
static bool subset_fails(struct run *run, uint32_t subset, enum collective kind, size_t bytes)
{
    if (!run_step(run, make_id, run->state, BISECT_SECONDS) || run->state->id_result != ncclSuccess)
        return true;
    run_gather(run, subset);
    bool good = run_team_step(run, team_open, &run->state->team, BISECT_SECONDS) && run_collective(run, kind, bytes, 0, BISECT_SECONDS);
    run_disband(run);
    return !good;
}

/* The name by which the job's environment calls a device: an entry of CUDA_VISIBLE_DEVICES where that is set, else its number. */
static int device_name(const struct run *run, int device, char *out, size_t size)
{
    const char *visible = kit_env(&run->kit, "CUDA_VISIBLE_DEVICES");
    for (int skipped = 0; visible && skipped < device; skipped++)
        visible = kit_after(visible, ',');
    return visible ? snprintf(out, size, "%.*s", (int)strcspn(visible, ","), visible) : snprintf(out, size, "%d", device);
}

/* All but the culprit, or but one of the two, for CUDA_VISIBLE_DEVICES: what a trial can do. */
static void report_good_devices(struct run *run, uint32_t culprit, const char *fact)
{
    const int left_out = 31 - __builtin_clz(culprit);
    char list[DTKB_FACT_STRING_MAX];
    size_t length = 0;
    if (kit_param(&run->kit, "devices", NULL)) /* their numbers would mean other ones then */
        return;
    for (int i = 0; i < run->device_count; i++) {
        char name[128];
        int size = device_name(run, run->devices[i], name, sizeof name);
        if (i == left_out)
            continue;
        if (size < 0 || (size_t)size >= sizeof name || length + (size_t)size + 1 >= sizeof list)
            return;
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? "," : "", name);
    }
    kit_string(&run->kit, list, "NCCL", "%s", fact);
}

static void report_culprit(struct run *run, const struct bisect *bisect)
{
    struct kit *kit = &run->kit;
    const uint32_t culprit = bisect_culprit(bisect);
    char pair[32];
    kit_u64(kit, bisect->tests, "collectives", "NCCL", "nccl.bisect.collectives");
    if (!culprit) {
        kit_log(kit, 1, "%u smaller sets of GPUs tried: the fault is not one of a single GPU or pair", bisect->tests);
        return;
    }
    int first = run->devices[__builtin_ctz(culprit)], last = run->devices[31 - __builtin_clz(culprit)];
    char text[128];
    if (first == last) {
        kit_wrong(kit, true);
        kit_u64(kit, (uint64_t)first, "index", "NCCL", "nccl.bad_gpu");
        (void)snprintf(text, sizeof text, "it fails with GPU %d and works without it\n", first);
    } else {
        (void)snprintf(pair, sizeof pair, "%d,%d", first, last);
        run_status(run, pair, "NCCL", "nccl.bad_pair");
        (void)snprintf(text, sizeof text, "it fails where GPUs %d and %d are together and works otherwise\n", first, last);
    }
    report_good_devices(run, culprit, first == last ? "nccl.devices_without_bad_gpu" : "nccl.devices_without_bad_pair");
    run_fault_more(run, "; %.*s", (int)strcspn(text, "\n"), text);
    kit->host->evidence(kit->call, "nccl", text, strlen(text)); /* says more than any line of NCCL's log */
}

void bisect_devices(struct run *run, const struct ending *ending)
{
    const char *wanted = kit_param(&run->kit, "bisect", "1");
    if (run->job.launcher || run->device_count < 3 || run->device_count > BISECT_DEVICES_MAX || run_is_refused(ending) || *wanted == '0')
        return;
    struct bisect bisect;
    uint32_t subset;
    const enum collective kind = run->state->collective.kind;
    const size_t bytes = run->state->collective.bytes ? run->state->collective.bytes : BYTES;
    bisect_start(&bisect, run->device_count);
    while (!run->given_up && !kit_stop(&run->kit) && (subset = bisect_next(&bisect)) != 0)
        bisect_tell(&bisect, subset, subset_fails(run, subset, kind, bytes));
    if (!run->given_up)
        report_culprit(run, &bisect);
}

/* Bus, network, processors and file systems; the rest has files of its own. */
#include "events.h"

#include <stdio.h>
#include <string.h>

void copy_part(char *out, unsigned long size, const char *from, const char *end)
{
    size_t length = end ? (size_t)(end - from) : strlen(from);
    (void)snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), from);
}

void tally_add(struct tally *tally, const struct line *line)
{
    tally->count++;
    tally->time = line->time;
    tally->since_boot = line->since_boot;
    copy_part(tally->last, sizeof tally->last, line->message, NULL);
}

static bool has(const struct line *line, const char *text)
{
    return strstr(line->message, text) != NULL;
}

static bool has_either(const struct line *line, const char *const *texts)
{
    for (; *texts; texts++)
        if (has(line, *texts))
            return true;
    return false;
}

/* The kernel announces an error message that arrived, then names it; either line may be missing. */
static bool take_aer(struct events *events, const struct line *line)
{
    if (has(line, "PCIe Bus Error: severity=")) {
        tally_add(&events->aer_detail, line);
        if (has(line, "Uncorrect") && has(line, "(Fatal)"))
            tally_add(&events->aer_fatal, line);
        return true;
    }
    if (has(line, "AER: ") && has(line, "received")) {
        tally_add(&events->aer_announced, line);
        return true;
    }
    return false;
}

static bool take_adapter(struct events *events, const struct line *line)
{
    static const char *const troubles[] = {"health compromised",
                                           "Health recovery",
                                           "health recovery",
                                           "Fatal error",
                                           "firmware hang",
                                           "wait_func_handle_exec_timeout",
                                           "cmd_exec timeout",
                                           "timeout. Will cause a leak",
                                           "assert_var",
                                           "synd 0x",
                                           "device is in error state",
                                           "Internal error",
                                           "poll_health",
                                           NULL};
    if (!has(line, "mlx5_core") && !has(line, "mlx4_core") && !has(line, "mlx5_ib"))
        return false;
    if (has_either(line, troubles)) {
        tally_add(&events->adapter, line);
        return true;
    }
    return false;
}

static bool take_link(struct events *events, const struct line *line)
{
    static const char *const downs[] = {"Link is Down", "Link is down", "Link down", "link down", "NIC Link is Down", "Link DOWN", NULL};
    if (!has_either(line, downs) || has(line, "SATA")) /* empty SATA ports say so at every start */
        return false;
    tally_add(&events->link_down, line);
    return true;
}

static bool take_fs(struct events *events, const struct line *line)
{
    static const char *const fatal[] = {"Remounting filesystem read-only",
                                        "EXT4-fs error",
                                        "Filesystem has been shut down",
                                        "Corruption of in-memory data",
                                        "Shutting down filesystem",
                                        "Aborting journal on device",
                                        "forced readonly",
                                        "BTRFS critical",
                                        NULL};
    static const char *const failed[] = {"Buffer I/O error on dev",
                                         "I/O error, dev ",
                                         "metadata I/O error",
                                         "BTRFS error",
                                         "BTRFS: error",
                                         "lost async page write",
                                         "critical medium error",
                                         NULL};
    static const char *const servers[] = {" not responding, still trying", " not responding, timed out", NULL};
    static const char *const drives[] = {"dev fd0", "dev sr0", NULL}; /* empty ones complain at every start */
    if (has_either(line, fatal)) {
        tally_add(&events->fs, line);
        tally_add(&events->fs_fatal, line);
    } else if (has_either(line, failed)) {
        if (!has_either(line, drives))
            tally_add(&events->fs, line);
    } else if (has(line, "nfs: server ") && has_either(line, servers)) {
        tally_add(&events->nfs, line);
    } else {
        return false;
    }
    return true;
}

static bool take_processor(struct events *events, const struct line *line)
{
    if (has(line, "soft lockup - CPU#") || has(line, "hard LOCKUP")) {
        tally_add(&events->lockup, line);
        return true;
    }
    if (has(line, "[Hardware Error]: Machine check events logged") || has(line, "mce: Uncorrected") ||
        has(line, "Machine Check Exception")) {
        tally_add(&events->machine_check, line);
        return true;
    }
    return false;
}

void events_line(struct events *events, const struct line *line)
{
    static bool (*const takers[])(struct events *, const struct line *) = {events_driver, events_killed, take_aer,      take_adapter,
                                                                           take_link,     take_fs,       take_processor};
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (takers[i](events, line))
            return;
}

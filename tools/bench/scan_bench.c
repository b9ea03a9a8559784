/*
 * scan_bench KB [MEGABYTES | LOG]: scans a log with every signature of the knowledge base, lets ripgrep count the lines with as many
 * literals in the same file, and wc count its lines. Fails when a promise is missed: a quarter of ripgrep's time, three times that of wc,
 * 64 MiB of memory, and the failure in the last two lines found. Without a LOG it writes one of a distributed job. The three take turns,
 * so that what else the machine does falls on all of them, and the best run of each counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kb/kb.h"
#include "scan/anchor.h"
#include "scan/db.h"

#define RUNS 3

static double now(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 9;
}

/* One line as jobs print them: steps of ranks, progress bars, memory, warnings, evaluation, data loading. */
static void write_line(FILE *file, unsigned i, unsigned *seed)
{
    unsigned kind = next(seed) % 100, rank = next(seed) % 16, a = next(seed) % 1000, b = next(seed) % 100;
    if (kind < 55)
        (void)fprintf(
            file,
            "[rank%u]: 2026-11-30 07:%02u:%02u,%03u - trainer - INFO - step %u loss %u.%04u lr 1.0e-04 grad_norm 0.%03u tokens/s %u\n",
            rank, i / 6000 % 60, i / 100 % 60, a, i / 16, b % 6, a, a, 90000 + a);
    else if (kind < 70)
        (void)fprintf(file, "Epoch %u: %3u%%|%.*s| %u/5000 [00:%02u<01:22, 4.4it/s, loss=%u.%03u]\n", i / 80000, b, (int)(b / 5),
                      "####################", a, b % 60, b % 6, a);
    else if (kind < 80)
        (void)fprintf(file, "[INFO] [utils.py:786:see_memory_usage] MA %u.%02u GB Max_MA 40.1 GB CA 40.2 GB Max_CA 40 GB\n", b, a % 100);
    else if (kind < 88)
        (void)fprintf(file, "I1130 07:%02u:%02u.%06u %u loader.cc:%u] prefetched shard %u of %u, queue depth %u\n", i / 6000 % 60,
                      i / 100 % 60, a * 7, 1000 + rank, a, a, 4096u, b);
    else if (kind < 93)
        (void)fprintf(file, "worker-%u: eval accuracy 0.%03u top5 0.%03u error_rate 0.%03u samples %u\n", rank, a, (a * 3) % 1000, 1000 - a,
                      a * 64);
    else if (kind < 96)
        (void)fprintf(file, "  warnings.warn('lr_scheduler.step() was called before optimizer.step()', UserWarning)\n");
    else if (kind < 99)
        (void)fprintf(file, "saved shard %u of step %u in %u.%02u s\n", rank, i / 16, b % 9, a % 100);
    else
        (void)fprintf(file, "0x%08x%08x finished background task %u without errors\n", next(seed), next(seed), a);
}

static bool write_log(const char *path, size_t megabytes)
{
    FILE *file = fopen(path, "w");
    unsigned seed = 1;
    if (!file)
        return false;
    for (unsigned i = 0; ftello(file) < (off_t)(megabytes * 1000000 - 400); i++)
        write_line(file, i, &seed);
    (void)fputs("[rank3]: torch.distributed.DistBackendError: NCCL error, unhandled system error\n"
                "[rank3]: Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)\n",
                file);
    return fclose(file) == 0;
}

/* The longest literal of each signature; shorter ones are in too many lines for ripgrep to do well. */
static bool write_literals(const char *path, const struct scan_db *db)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    for (size_t i = anchor_count; i < db->literal_count;) {
        const struct db_literal *longest = &db->literals[i];
        for (uint32_t owner = longest->owner; i < db->literal_count && db->literals[i].owner == owner; i++)
            longest = db->literals[i].length > longest->length ? &db->literals[i] : longest;
        (void)fprintf(file, "%s\n", longest->text);
    }
    return fclose(file) == 0;
}

struct timing {
    double wall, processor; /* seconds, the best of the runs each; negative: failed */
};

static double processor_seconds(int who)
{
    struct rusage usage;
    (void)getrusage(who, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static void keep_best(struct timing *timing, bool done, double wall, double processor)
{
    if (!done)
        timing->wall = -1;
    timing->wall = wall < timing->wall ? wall : timing->wall;
    timing->processor = processor < timing->processor ? processor : timing->processor;
}

static void time_command(const char *command, struct timing *timing)
{
    double start = now(), before = processor_seconds(RUSAGE_CHILDREN);
    int status = system(command);
    keep_best(timing, status != -1 && WEXITSTATUS(status) <= 1, now() - start, processor_seconds(RUSAGE_CHILDREN) - before);
}

static void time_scan(const struct scan_db *db, const char *path, struct timing *timing, bool *found)
{
    struct scan *scan = NULL;
    struct findings findings = {0};
    double start = now(), before = processor_seconds(RUSAGE_SELF);
    bool done = scan_new(db, NULL, &scan, NULL) == DTKB_OK && scan_path(scan, path, NULL) == DTKB_OK &&
                scan_findings(scan, &findings, NULL) == DTKB_OK;
    keep_best(timing, done, now() - start, processor_seconds(RUSAGE_SELF) - before);
    for (size_t k = 0; done && k < findings.evidence_count; k++)
        *found = *found || (findings.evidence[k].kind == EV_SIGNATURE && strstr(findings.evidence[k].text, "/dev/shm/nccl-pZafXL") &&
                            findings.evidence[k].rank == 3);
    if (done)
        findings_free(&findings);
    scan_free(scan);
}

static bool measure(const struct scan_db *db, const char *log, const char *folder, bool is_ours)
{
    char count[4096], search[4096];
    struct timing wc = {1e9, 1e9}, rg = wc, scan = wc;
    struct rusage usage;
    bool found = !is_ours;
    (void)snprintf(count, sizeof count, "wc -l '%s' >%s/out", log, folder);
    (void)snprintf(search, sizeof search, "rg -F -c -f %s/literals '%s' >%s/out", folder, log, folder);
    for (int i = 0; i < RUNS; i++) {
        time_command(count, &wc);
        time_scan(db, log, &scan, &found);
        time_command(search, &rg);
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    if (wc.wall < 0 || scan.wall < 0 || rg.wall < 0) {
        (void)fprintf(stderr, "scan_bench: a run failed; the log must be readable, and ripgrep (rg) and wc are needed\n");
        return false;
    }
    (void)printf("%zu signatures of %zu literals\n"
                 "            wall s   processor s\n"
                 "  scan    %8.3f      %8.3f   %ld KiB (bar 65536)%s\n"
                 "  ripgrep %8.3f      %8.3f   scan takes %.2f of it (bar 0.25), %.2f of the processor time\n"
                 "  wc      %8.3f      %8.3f   scan takes %.1f times as long (bar 3)\n",
                 db->signature_count, db->literal_count - anchor_count, scan.wall, scan.processor, usage.ru_maxrss,
                 found ? "" : ", last lines NOT found", rg.wall, rg.processor, scan.wall / rg.wall, scan.processor / rg.processor, wc.wall,
                 wc.processor, scan.wall / wc.wall);
    return scan.wall <= rg.wall / 4 && scan.wall <= wc.wall * 3 && usage.ru_maxrss <= 64 << 10 && found;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/dtkb-scan-bench-XXXXXX", path[64], literals[64];
    bool is_ours = argc < 3 || access(argv[2], R_OK) != 0;
    size_t megabytes = argc > 2 && is_ours ? (size_t)strtoul(argv[2], NULL, 10) : 1000;
    struct kb *kb;
    struct err err = {0};
    const struct scan_db *db;
    if (argc < 2 || megabytes == 0 || !mkdtemp(folder)) {
        (void)fprintf(stderr, "usage: scan_bench KB [MEGABYTES | LOG]\n");
        return 2;
    }
    if (kb_open(argv[1], NULL, 0, &kb, &err) != DTKB_OK || kb_scan_db(kb, &db, &err) != DTKB_OK) {
        (void)fprintf(stderr, "scan_bench: %s\n", err.text);
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s/job.log", folder);
    (void)snprintf(literals, sizeof literals, "%s/literals", folder);
    bool written = (!is_ours || write_log(path, megabytes)) && write_literals(literals, db);
    if (!written)
        (void)fprintf(stderr, "scan_bench: no room for %zu MB below /tmp\n", megabytes);
    bool good = written && measure(db, is_ours ? path : argv[2], folder, is_ours);
    (void)snprintf(path, sizeof path, "rm -rf %s", folder);
    int removed = system(path);
    kb_close(kb);
    return good && removed == 0 ? 0 : 1;
}

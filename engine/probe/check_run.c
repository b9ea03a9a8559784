#include "probe/check_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- the scratch folder ---- */

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *where)
{
    (void)info;
    (void)flag;
    (void)where;
    return remove(path);
}

void check_scratch_remove(const struct check_scratch *scratch)
{
    (void)nftw(scratch->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

dtkb_status check_scratch_make(struct check_scratch *scratch, struct err *err)
{
    const char *place = secure_getenv("TMPDIR");
    place = place && *place == '/' && strlen(place) < 300 ? place : "/tmp";
    (void)snprintf(scratch->folder, sizeof scratch->folder, "%s/dtkb-check-XXXXXX", place);
    if (!mkdtemp(scratch->folder))
        return err_set(err, DTKB_E_IO, "cannot make a scratch folder in %s: %s; name another in TMPDIR", place, strerror(errno));
    (void)snprintf(scratch->work, sizeof scratch->work, "%s/work", scratch->folder);
    (void)snprintf(scratch->empty, sizeof scratch->empty, "%s/empty", scratch->folder);
    (void)snprintf(scratch->mark, sizeof scratch->mark, "DTKB_CHECK_MARK=%s", strrchr(scratch->folder, '-') + 1);
    if (mkdir(scratch->work, 0700) == 0 && mkdir(scratch->empty, 0500) == 0)
        return DTKB_OK;
    dtkb_status status = err_set(err, DTKB_E_IO, "cannot make a folder in %s: %s", scratch->folder, strerror(errno));
    check_scratch_remove(scratch);
    return status;
}

/* ---- what is left ---- */

static bool has_mark(const char *pid, const char *mark)
{
    char path[64], text[(size_t)32 << 10];
    (void)snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        (void)close(fd);
    return length > 0 && memmem(text, (size_t)length, mark, strlen(mark)) != NULL;
}

/* Signals the processes that carry the mark (0: only counts them): they were started by what we started, so they are ours to end. */
static unsigned signal_marked(const char *mark, int signal)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        pid_t pid = (pid_t)atol(entry->d_name);
        if (pid > 1 && pid != getpid() && has_mark(entry->d_name, mark)) {
            count++;
            (void)kill(pid, signal);
        }
    }
    if (dir)
        (void)closedir(dir);
    return count;
}

/* What still runs a moment after the probe ended was left behind: one that is just dying, as the parts of a pipeline do, was not. */
static void end_left_processes(struct job *job)
{
    struct check_run *run = job->context;
    const struct timespec moment = {.tv_nsec = 5000000};
    for (int i = 0; i < 20 && signal_marked(run->scratch->mark, 0); i++)
        (void)nanosleep(&moment, NULL);
    run->left_processes += signal_marked(run->scratch->mark, SIGKILL);
}

static void find_left_file(struct check_run *run)
{
    DIR *dir = opendir(run->scratch->work);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strncmp(entry->d_name, "core", 4) != 0)
            (void)snprintf(run->left_file, sizeof run->left_file, "%.100s", entry->d_name);
    if (dir)
        (void)closedir(dir);
}

/* ---- the run ---- */

static bool take_line(struct job *job, const char *text, size_t length)
{
    struct check_run *run = job->context;
    return intake_line(&run->intake, text, length, job->mistake, sizeof job->mistake);
}

static dtkb_status supervise_run(struct check_run *run, struct arena *arena, struct err *err)
{
    const struct check_scratch *scratch = run->scratch;
    char tmp[450], home[450], told[64];
    (void)snprintf(tmp, sizeof tmp, "TMPDIR=%s", scratch->work);
    (void)snprintf(home, sizeof home, "HOME=%s", scratch->work);
    uint64_t later = clock_ns() + run->timeout_ns + 3600 * CLOCK_NS_PER_S;
    (void)snprintf(told, sizeof told, "DTKB_DEADLINE_MS=%" PRIu64, later / 1000000u);
    const char *const extra[] = {scratch->mark, tmp, "DTKB_COUNT_LEFT=1", home, "CUDA_VISIBLE_DEVICES=", NULL};
    const char *const all_extra[] = {scratch->mark, tmp, "DTKB_COUNT_LEFT=1", NULL};
    const char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", NULL};
    struct probe_options options = *run->options;
    if (run->bare) {
        options.proc_root = options.sys_root = options.dev_root = scratch->empty;
        options.env = env;
    }
    const struct launch launch = {.helper = run->helper,
                                  .plugin = run->plugin,
                                  .probe = run->probe,
                                  .options = &options,
                                  .timeout_ns = run->timeout_ns,
                                  .offline = run->offline,
                                  .extra = run->bare ? extra : all_extra};
    run->job = (struct job){.line = take_line, .ended = end_left_processes, .context = run, .folder = scratch->work};
    if (!intake_start(&run->intake, run->vocabulary, run->plugin->name) || !launch_prepare(&launch, arena, &run->job))
        return err_nomem(err);
    if (run->unwarned) {
        memcpy(run->job.deadline_text, told, DEADLINE_TEXT_SIZE);
        run->job.deadline_text = NULL;
    }
    const struct supervise_options limits = {
        .budget_ns = run->timeout_ns + CLOCK_NS_PER_S, .cancelled = options.cancelled, .context = options.context};
    return supervise(&run->job, 1, &limits, err);
}

dtkb_status check_run(struct check_run *run, struct err *err)
{
    struct arena arena = {0};
    dtkb_status status = supervise_run(run, &arena, err);
    arena_free(&arena);
    if (status == DTKB_OK)
        find_left_file(run);
    return status;
}

void check_run_free(struct check_run *run)
{
    intake_free(&run->intake);
    buf_free(&run->job.output);
}

static bool no_line(struct job *job, const char *text, size_t length)
{
    (void)job;
    (void)text;
    (void)length;
    return true;
}

bool check_can_go_offline(const char *helper)
{
    char *const argv[] = {(char *)helper, (char *)"offline", (char *)"/bin/true", NULL}, *const env[] = {NULL};
    struct job job = {.argv = argv, .env = env, .timeout_ns = CLOCK_NS_PER_S, .line = no_line};
    const struct supervise_options limits = {.budget_ns = CLOCK_NS_PER_S};
    bool possible = supervise(&job, 1, &limits, NULL) == DTKB_OK && job.end == JOB_EXITED && job.code == 0;
    buf_free(&job.output);
    return possible;
}

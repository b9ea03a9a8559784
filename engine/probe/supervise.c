#include "probe/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define WIDTH_MAX 32u                         /* jobs at a time */
#define KILL_AFTER (30 * CLOCK_NS_PER_MS)     /* from SIGTERM to SIGKILL */
#define STUCK_AFTER (40 * CLOCK_NS_PER_MS)    /* from SIGKILL until one in uninterruptible sleep is given up */
#define GIVE_UP_AFTER (350 * CLOCK_NS_PER_MS) /* likewise for one that only waits for a processor to die on */
#define POLL_TICK (50 * CLOCK_NS_PER_MS)      /* how often `cancelled` is asked */
#define NO_PIDFD_TICK (5 * CLOCK_NS_PER_MS)
#define READ_PER_TURN ((size_t)256 << 10) /* from one pipe, so that a flood cannot keep us from the others' deadlines */

enum phase { PHASE_WAITING, PHASE_RUNNING, PHASE_TERMINATED, PHASE_KILLED, PHASE_ABANDONED, PHASE_OVER };

struct job_watch {
    enum phase phase;
    struct child child;
    uint64_t started, deadline;
    uint64_t stopped, escalate; /* when SIGTERM was sent, when the next harder measure is due */
    bool late;                  /* nothing that still comes on the wire is taken */
    struct buf line;            /* the part of a line that has come */
    size_t wire_bytes;
};

struct supervisor {
    struct job *jobs;
    size_t count, running, waiting;
    bool exclusive_runs;
    uint64_t budget_end;
    const struct supervise_options *options;
    void (*send)(const struct child *child, int signal);
};

static bool is_live(const struct job *job)
{
    return job->watch->phase >= PHASE_RUNNING && job->watch->phase <= PHASE_ABANDONED;
}

/* ---- reading ---- */

static bool reject(struct job *job, const char *mistake)
{
    if (!*job->mistake)
        (void)snprintf(job->mistake, sizeof job->mistake, "%s", mistake);
    return false;
}

/* Hands complete lines on and keeps the rest. */
static bool take_lines(struct job *job, const char *bytes, size_t length)
{
    struct buf *line = &job->watch->line;
    job->watch->wire_bytes += length;
    if (job->watch->wire_bytes > JOB_WIRE_MAX)
        return reject(job, "it reported more than 4 MiB");
    while (length) {
        const char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length;
        buf_add(line, bytes, part);
        if (line->failed)
            return reject(job, "it reported a line of more than 64 KiB");
        if (!newline)
            break;
        bool good = job->line(job, buf_text(line), line->length);
        buf_clear(line);
        if (!good)
            return reject(job, "it reported something that makes no sense");
        bytes += part + 1;
        length -= part + 1;
    }
    return true;
}

static void take_output(struct job *job, const char *bytes, size_t length)
{
    job->output_bytes += length;
    size_t room = JOB_OUTPUT_MAX - job->output.length;
    buf_add(&job->output, bytes, length < room ? length : room);
}

/* Reads what is there, up to `limit`. Closes at the end of the stream. False: the job must be ended. */
static bool drain(struct job *job, int *fd, bool is_wire, size_t limit)
{
    static const size_t chunk = (size_t)32 << 10;
    char bytes[(size_t)32 << 10];
    for (size_t total = 0; *fd >= 0 && total < limit;) {
        ssize_t n = read(*fd, bytes, chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            (void)close(*fd);
            *fd = -1;
            break;
        }
        total += (size_t)n;
        if (!is_wire)
            take_output(job, bytes, (size_t)n);
        else if (!job->watch->late && !take_lines(job, bytes, (size_t)n))
            return false;
    }
    return true;
}

/* ---- ending ---- */

/* Makes room for the jobs that wait. */
static void leave(struct supervisor *supervisor, const struct job *job)
{
    supervisor->running--;
    if (job->exclusive)
        supervisor->exclusive_runs = false;
}

/* Begins to end a job: SIGTERM now, harder measures when `escalate` comes. */
static void stop(struct supervisor *supervisor, struct job *job, enum job_end why, uint64_t now)
{
    struct job_watch *watch = job->watch;
    watch->late = true;
    if (watch->phase != PHASE_RUNNING)
        return;
    job->end = why;
    job->seconds = (double)(now - watch->started) / (double)CLOCK_NS_PER_S;
    supervisor->send(&watch->child, SIGTERM);
    watch->phase = PHASE_TERMINATED;
    watch->stopped = now;
    watch->escalate = now + KILL_AFTER;
}

static void escalate(struct supervisor *supervisor, struct job *job, uint64_t now)
{
    struct job_watch *watch = job->watch;
    if (watch->phase == PHASE_TERMINATED) {
        job->unheeded = true;
        supervisor->send(&watch->child, SIGKILL);
        watch->phase = PHASE_KILLED;
        watch->escalate = now + STUCK_AFTER;
    } else if (watch->phase == PHASE_KILLED) {
        if (!child_is_unkillable(&watch->child) && now < watch->stopped + GIVE_UP_AFTER) {
            watch->escalate = now + STUCK_AFTER / 4;
            return;
        }
        /* Still looked at as long as others run; dying late makes it a plain time-out. */
        watch->phase = PHASE_ABANDONED;
        leave(supervisor, job);
    }
}

/* Takes what an ended job left, ends what it left running, and records how it ended. */
static void conclude(struct supervisor *supervisor, struct job *job, enum child_fate fate, int code, uint64_t now)
{
    struct job_watch *watch = job->watch;
    if (job->ended)
        job->ended(job);
    if (fate != CHILD_LOST)
        supervisor->send(&watch->child, SIGKILL);
    bool good = drain(job, &watch->child.wire, true, JOB_WIRE_MAX);
    (void)drain(job, &watch->child.output, false, READ_PER_TURN * 4);
    if (watch->phase == PHASE_RUNNING) {
        if (good && watch->line.length)
            good = job->line(job, buf_text(&watch->line), watch->line.length); /* a last line without a newline */
        job->seconds = (double)(now - watch->started) / (double)CLOCK_NS_PER_S;
        job->end = !good ? JOB_REJECTED : fate == CHILD_EXITED ? JOB_EXITED : fate == CHILD_KILLED ? JOB_KILLED : JOB_LOST;
        job->code = code;
    }
    if (watch->phase != PHASE_ABANDONED)
        leave(supervisor, job);
    child_close(&watch->child);
    watch->phase = PHASE_OVER;
}

/* ---- starting ---- */

static void start(struct supervisor *supervisor, struct job *job, uint64_t now)
{
    struct job_watch *watch = job->watch;
    supervisor->waiting--;
    watch->started = now;
    watch->deadline = now + job->timeout_ns < supervisor->budget_end ? now + job->timeout_ns : supervisor->budget_end;
    if (job->deadline_text)
        (void)snprintf(job->deadline_text, DEADLINE_TEXT_SIZE, "DTKB_DEADLINE_MS=%llu",
                       (unsigned long long)(watch->deadline / CLOCK_NS_PER_MS));
    int error = child_start(&watch->child, job->argv, job->env, job->folder);
    if (error) {
        job->end = JOB_NOT_STARTED;
        job->code = error;
        watch->phase = PHASE_OVER;
        return;
    }
    watch->phase = PHASE_RUNNING;
    supervisor->running++;
    if (job->exclusive)
        supervisor->exclusive_runs = true;
}

static void start_waiting(struct supervisor *supervisor, bool cancelled, uint64_t now)
{
    for (size_t i = 0; i < supervisor->count && supervisor->waiting; i++) {
        struct job *job = &supervisor->jobs[i];
        if (job->watch->phase != PHASE_WAITING)
            continue;
        if (cancelled || now >= supervisor->budget_end) {
            job->end = cancelled ? JOB_CANCELLED : JOB_NO_TIME;
            job->watch->phase = PHASE_OVER;
            supervisor->waiting--;
        } else if (supervisor->running < WIDTH_MAX && !(job->exclusive && supervisor->exclusive_runs)) {
            start(supervisor, job, now);
        }
    }
}

/* ---- the loop ---- */

struct poll_set {
    struct pollfd fds[3 * WIDTH_MAX];
    nfds_t count;
    uint64_t wake;
};

static void poll_add(struct poll_set *set, int fd)
{
    if (fd >= 0 && set->count < sizeof set->fds / sizeof *set->fds)
        set->fds[set->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void poll_jobs(const struct supervisor *supervisor, uint64_t now)
{
    struct poll_set set = {.wake = now + (supervisor->options->cancelled ? POLL_TICK : 3600 * CLOCK_NS_PER_S)};
    for (size_t i = 0; i < supervisor->count; i++) {
        const struct job_watch *watch = supervisor->jobs[i].watch;
        if (watch->phase < PHASE_RUNNING || watch->phase > PHASE_KILLED)
            continue;
        poll_add(&set, watch->child.wire);
        poll_add(&set, watch->child.output);
        poll_add(&set, watch->child.pidfd);
        uint64_t due = watch->phase == PHASE_RUNNING ? watch->deadline : watch->escalate;
        if (watch->child.pidfd < 0 && due > now + NO_PIDFD_TICK)
            due = now + NO_PIDFD_TICK;
        if (due < set.wake)
            set.wake = due;
    }
    if (supervisor->waiting && supervisor->budget_end < set.wake)
        set.wake = supervisor->budget_end;
    uint64_t wait = set.wake > now ? set.wake - now : 0;
    struct timespec timeout = {.tv_sec = (time_t)(wait / CLOCK_NS_PER_S), .tv_nsec = (long)(wait % CLOCK_NS_PER_S)};
    (void)ppoll(set.fds, set.count, &timeout, NULL); /* an error is a reason to look at every job, as any event is */
}

static void attend(struct supervisor *supervisor, struct job *job, bool cancelled, uint64_t now)
{
    struct job_watch *watch = job->watch;
    if (watch->phase == PHASE_RUNNING && now >= watch->deadline)
        stop(supervisor, job, JOB_TIMED_OUT, now);
    else if (cancelled)
        stop(supervisor, job, JOB_CANCELLED, now);
    if (!drain(job, &watch->child.wire, true, READ_PER_TURN))
        stop(supervisor, job, JOB_REJECTED, now);
    (void)drain(job, &watch->child.output, false, READ_PER_TURN);
    int code = 0;
    enum child_fate fate = child_fate(&watch->child, &code);
    if (fate != CHILD_RUNS)
        conclude(supervisor, job, fate, code, now);
    else if (watch->phase != PHASE_RUNNING && now >= watch->escalate)
        escalate(supervisor, job, now);
}

static void abandon(struct job *job)
{
    struct job_watch *watch = job->watch;
    if (watch->phase != PHASE_ABANDONED)
        return;
    job->end = JOB_STUCK;
    child_close(&watch->child);
}

static void run(struct supervisor *supervisor)
{
    bool cancelled = false;
    while (supervisor->waiting || supervisor->running) {
        uint64_t now = clock_ns();
        const struct supervise_options *options = supervisor->options;
        cancelled = cancelled || (options->cancelled && options->cancelled(options->context));
        for (size_t i = 0; i < supervisor->count; i++)
            if (is_live(&supervisor->jobs[i]))
                attend(supervisor, &supervisor->jobs[i], cancelled, now);
        start_waiting(supervisor, cancelled, now);
        if (supervisor->running)
            poll_jobs(supervisor, clock_ns());
    }
}

dtkb_status supervise(struct job *jobs, size_t count, const struct supervise_options *options, struct err *err)
{
    struct job_watch *watches = calloc(count ? count : 1, sizeof *watches);
    if (!watches)
        return err_nomem(err);
    struct supervisor supervisor = {.jobs = jobs, .count = count, .waiting = count, .options = options};
    supervisor.send = options->send ? options->send : child_signal;
    supervisor.budget_end = clock_ns() + options->budget_ns;
    for (size_t i = 0; i < count; i++) {
        watches[i] = (struct job_watch){.child = CHILD_NONE, .line = {.maximum = JOB_LINE_MAX}};
        jobs[i].watch = &watches[i];
    }
    run(&supervisor);
    for (size_t i = 0; i < count; i++) {
        abandon(&jobs[i]);
        buf_free(&watches[i].line);
        jobs[i].watch = NULL;
    }
    free(watches);
    return DTKB_OK;
}

#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* After the job's end its children may hold the pipe open; a silence this long ends the waiting for them. */
#define DRAIN_MS 500
#define CHUNK ((size_t)256 << 10)
#define PIPE_SIZE (1 << 20)

/* One output of the job: where we read it and where it goes. */
struct stream {
    int from, to, child_end;
    bool terminal;
    bool pipes; /* both are pipes: the kernel passes the bytes on, we only read our copy of them */
    struct window *window;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static bool same_target(int left, int right)
{
    struct stat l, r;
    return fstat(left, &l) == 0 && fstat(right, &r) == 0 && l.st_dev == r.st_dev && l.st_ino == r.st_ino;
}

static bool is_pipe(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
}

/* A terminal stays a terminal for the job (progress bars, colours, line buffering): it writes to a pseudo terminal that we copy from. */
static bool open_stream(struct stream *stream, int to, struct window *window)
{
    *stream = (struct stream){.to = to, .window = window, .terminal = isatty(to)};
    if (stream->terminal) {
        struct winsize size = {0};
        struct termios modes;
        ioctl(to, TIOCGWINSZ, &size);
        if (openpty(&stream->from, &stream->child_end, NULL, NULL, &size) != 0)
            return false;
        /* Our own terminal does the line endings. */
        if (tcgetattr(stream->child_end, &modes) == 0) {
            modes.c_oflag &= ~(tcflag_t)OPOST;
            tcsetattr(stream->child_end, TCSANOW, &modes);
        }
    } else {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return false;
        stream->from = ends[0];
        stream->child_end = ends[1];
        fcntl(stream->from, F_SETPIPE_SZ, PIPE_SIZE);
        stream->pipes = is_pipe(to);
    }
    fcntl(stream->from, F_SETFD, FD_CLOEXEC);
    fcntl(stream->child_end, F_SETFD, FD_CLOEXEC);
    return window_open(window);
}

static int spawn(struct job *job, char **argv, const struct stream *out, const struct stream *err, const sigset_t *mask)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, out->child_end, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err->child_end, STDERR_FILENO);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, mask);
    int failed = posix_spawnp(&job->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (!failed)
        return 0;
    fprintf(stderr, "dtkb run: %s: %s\n", argv[0], strerror(failed));
    return failed == ENOENT ? 127 : 126;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return true;
}

/* Reads `length` bytes that are there, or up to CHUNK when it is 0, to where they are remembered. */
static ssize_t remember(struct stream *stream, size_t length, char **bytes)
{
    size_t room;
    *bytes = window_space(stream->window, &room);
    size_t wanted = length ? length : CHUNK;
    ssize_t got = read(stream->from, *bytes, room < wanted ? room : wanted);
    if (got > 0)
        window_grew(stream->window, (size_t)got);
    return got;
}

/* Hands the pages of our pipe on to the reader's, and reads our copy. False at the end of the stream; clears `pipes` where the kernel can't.
 */
static bool pass_pages_on(struct stream *stream)
{
    char *bytes;
    ssize_t passed = tee(stream->from, stream->to, CHUNK, 0);
    if (passed < 0 && errno == EAGAIN)
        poll(&(struct pollfd){.fd = stream->to, .events = POLLOUT}, 1, -1);
    else if (passed < 0 && errno == EINVAL)
        stream->pipes = false;
    else if (passed <= 0)
        return passed < 0 && errno == EINTR;
    while (passed > 0) {
        ssize_t got = remember(stream, (size_t)passed, &bytes);
        if (got > 0)
            passed -= got;
        else if (got == 0 || errno != EINTR)
            return false;
    }
    return true;
}

/* Passes on what there is. False at the end of the stream. When our reader is gone the job shall learn it as it would without us: its next
 * write fails. */
static bool pass_on(struct stream *stream)
{
    char *bytes;
    if (stream->pipes)
        return pass_pages_on(stream);
    ssize_t length = remember(stream, 0, &bytes);
    if (length < 0)
        return errno == EINTR || errno == EAGAIN;
    return length > 0 && write_all(stream->to, bytes, (size_t)length);
}

/* Signals that somebody sent to us are meant for the job. What the terminal sends reaches the job by itself: it is in our process group.
 * True when a child's state changed. */
static bool forward_signals(const struct job *job, int signals, const struct stream *streams, int count)
{
    struct signalfd_siginfo info;
    bool child = false;
    while (read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGWINCH) {
            struct winsize size;
            for (int i = 0; i < count; i++)
                if (streams[i].terminal && ioctl(streams[i].to, TIOCGWINSZ, &size) == 0)
                    ioctl(streams[i].from, TIOCSWINSZ, &size);
            kill(job->pid, SIGWINCH); /* the terminal's own may have come before the job's terminal had its new size */
        } else if (info.ssi_signo == SIGCHLD) {
            child = true;
        } else if (info.ssi_code != SI_KERNEL) {
            kill(job->pid, (int)info.ssi_signo);
        }
    }
    return child;
}

static int poll_timeout(const struct job *job, bool ended, double last_output)
{
    if (ended)
        return DRAIN_MS;
    if (job->stall <= 0)
        return -1;
    double left = last_output + job->stall - now();
    return left <= 0 ? 0 : (int)(left * 1000) + 1;
}

static void pump(struct job *job, struct stream *streams, int signals)
{
    bool ended = false, told = false;
    int open = job->streams;
    double last_output = now();
    while (open > 0 || !ended) {
        struct pollfd polls[3] = {{.fd = signals, .events = POLLIN}};
        for (int i = 0; i < job->streams; i++)
            polls[i + 1] = (struct pollfd){.fd = streams[i].from, .events = POLLIN};
        int ready = poll(polls, 1 + (nfds_t)job->streams, poll_timeout(job, ended, told ? now() : last_output));
        if (ready == 0 && ended)
            break;
        if (ready == 0 && !told) {
            told = true;
            job->stalled(job, now() - last_output, job->context);
        }
        bool child = polls[0].revents && forward_signals(job, signals, streams, job->streams);
        for (int i = 0; i < job->streams; i++) {
            if (!polls[i + 1].revents)
                continue;
            last_output = now();
            told = false;
            if (!pass_on(&streams[i])) {
                close(streams[i].from);
                streams[i].from = -1;
                open--;
            }
        }
        if (child && !ended && waitpid(job->pid, &job->wait_status, WNOHANG) == job->pid)
            ended = true;
    }
}

int job_run(struct job *job, char **argv)
{
    static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};
    struct stream streams[2] = {{0}, {0}};
    sigset_t block, before;
    job->streams = same_target(STDOUT_FILENO, STDERR_FILENO) ? 1 : 2;
    for (int i = 0; i < job->streams; i++)
        if (!open_stream(&streams[i], i == 0 ? STDOUT_FILENO : STDERR_FILENO, &job->windows[i])) {
            fprintf(stderr, "dtkb run: no pipe for the job's output: %s\n", strerror(errno));
            return 126;
        }
    sigemptyset(&block);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        sigaddset(&block, forwarded[i]);
    sigprocmask(SIG_BLOCK, &block, &before);
    int signals = signalfd(-1, &block, SFD_CLOEXEC | SFD_NONBLOCK);
    int failed = spawn(job, argv, &streams[0], &streams[job->streams - 1], &before);
    signal(SIGPIPE, SIG_IGN); /* only now: the job must not inherit it */
    for (int i = 0; i < job->streams; i++)
        close(streams[i].child_end);
    if (!failed)
        pump(job, streams, signals);
    for (int i = 0; i < job->streams; i++)
        if (streams[i].from >= 0)
            close(streams[i].from);
    close(signals);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return failed;
}

int job_exit_status(const struct job *job)
{
    return WIFSIGNALED(job->wait_status) ? 128 + WTERMSIG(job->wait_status) : WEXITSTATUS(job->wait_status);
}

void job_free(struct job *job)
{
    for (int i = 0; i < job->streams; i++)
        window_close(&job->windows[i]);
}

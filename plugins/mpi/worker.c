#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TAG "@dtkb "

static int start(struct worker *worker, const int *ends, char *const *argv, char *const *env)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < 2 && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, ends[i], STDOUT_FILENO + i);
    if (!error)
        error = posix_spawnp(&worker->pid, argv[0], &actions, NULL, argv, env);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

bool worker_start(struct worker *worker, char *const *argv, char *const *env)
{
    int ends[2] = {-1, -1};
    worker->streams[0].fd = worker->streams[1].fd = -1;
    for (int i = 0; i < 2 && !worker->code; i++) {
        int pipe_ends[2];
        if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
            worker->code = errno;
            break;
        }
        worker->streams[i].fd = pipe_ends[0];
        ends[i] = pipe_ends[1];
        (void)fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
    }
    if (!worker->code)
        worker->code = start(worker, ends, argv, env);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            (void)close(ends[i]);
    worker->ended = worker->code != 0;
    return !worker->ended;
}

size_t worker_polls(const struct worker *worker, struct pollfd *out)
{
    size_t count = 0;
    for (int i = 0; i < 2; i++)
        if (worker->streams[i].fd >= 0)
            out[count++] = (struct pollfd){.fd = worker->streams[i].fd, .events = POLLIN};
    return count;
}

static void keep_text(struct worker *worker, const char *line)
{
    size_t length = strlen(line);
    if (worker->text_length + length + 1 > WORKER_TEXT_MAX)
        return;
    memcpy(worker->text + worker->text_length, line, length);
    worker->text_length += length;
    worker->text[worker->text_length++] = '\n';
    worker->text[worker->text_length] = '\0';
}

static void take_line(struct worker *worker, char *line)
{
    struct worker_line parts;
    char *tag = strstr(line, TAG), *end;
    if (!tag) {
        keep_text(worker, line);
        return;
    }
    parts.rank = (int)strtol(tag + strlen(TAG), &end, 10);
    if (*end != ' ')
        return;
    parts.verb = ++end;
    end += strcspn(end, " ");
    parts.rest = *end ? end + 1 : end;
    *end = '\0';
    worker->take(worker->context, &parts);
}

static void read_stream(struct worker *worker, struct worker_stream *stream)
{
    char bytes[4096];
    ssize_t n;
    while (stream->fd >= 0 && (n = read(stream->fd, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        for (ssize_t i = 0; i < n; i++) {
            bool full = stream->length + 1 == sizeof stream->line;
            if (bytes[i] != '\n' && !full) {
                stream->line[stream->length++] = (char)(bytes[i] ? bytes[i] : ' ');
                continue;
            }
            stream->line[stream->length] = '\0';
            stream->length = 0;
            take_line(worker, stream->line);
        }
    }
    if (stream->fd >= 0)
        (void)close(stream->fd);
    stream->fd = -1;
}

void worker_turn(struct worker *worker)
{
    siginfo_t info = {0};
    for (int i = 0; i < 2; i++)
        read_stream(worker, &worker->streams[i]);
    if (worker->ended || !worker->pid || waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) != 0 ||
        !info.si_pid)
        return;
    worker->stopped = info.si_code == CLD_STOPPED;
    if (info.si_code == CLD_EXITED)
        worker->code = info.si_status;
    else if (info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED)
        worker->signal = info.si_status;
    worker->ended = info.si_code == CLD_EXITED || worker->signal;
    for (int i = 0; worker->ended && i < 2; i++)
        read_stream(worker, &worker->streams[i]); /* its last words */
}

/* Polite first: mpirun ends the ranks it started. */
void worker_end(struct worker *worker)
{
    const struct timespec tick = {.tv_nsec = 10000000};
    if (worker->pid && !worker->ended && !worker->stopped)
        (void)kill(worker->pid, SIGTERM);
    for (int i = 0; worker->pid && !worker->ended && i < 50; i++) {
        if (i == 40 || worker->stopped)
            (void)kill(worker->pid, SIGKILL);
        worker_turn(worker);
        if (!worker->ended)
            (void)nanosleep(&tick, NULL);
    }
    for (int i = 0; i < 2; i++)
        if (worker->streams[i].fd >= 0)
            (void)close(worker->streams[i].fd);
}

/* MPI frames its messages in rules and stars, and repeats at the end that all is lost. */
static bool says_something(const char *line, size_t length)
{
    size_t letters = 0;
    for (size_t i = 0; i < length; i++)
        letters += (line[i] | 0x20) >= 'a' && (line[i] | 0x20) <= 'z';
    return letters > 12 && strncmp(line, "***", 3) != 0 && !memmem(line, length, "ORTE_ERROR_LOG", 14);
}

const char *worker_complaint(struct worker *worker, char *out, size_t size)
{
    *out = '\0';
    for (const char *line = worker->text; *line;) {
        size_t length = strcspn(line, "\n");
        const char *arrow = memmem(line, length, "--> ", 4);
        if (says_something(line, length) && (!*out || arrow)) {
            const char *from = arrow ? arrow + 4 : line;
            (void)snprintf(out, size, "%.*s", (int)(length - (size_t)(from - line)), from);
            if (arrow)
                break;
        }
        line += length + (line[length] == '\n');
    }
    return out;
}

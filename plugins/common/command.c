#include "common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MARGIN_NS 300000000ull /* of the call's deadline, to report in */

struct running {
    struct kit *kit;
    const struct command *command;
    struct command_result *result;
    pid_t pid;
    int out, err; /* read ends; -1 once closed */
    size_t err_length;
    uint64_t deadline_ns;
};

static bool is_program(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode) && !access(path, X_OK);
}

static bool find(const struct kit *kit, const char *program, struct command_result *result)
{
    const char *path = kit_env(kit, "PATH");
    if (strchr(program, '/')) {
        (void)snprintf(result->path, sizeof result->path, "%s", program);
        if (is_program(program))
            return true;
        (void)snprintf(result->error, sizeof result->error, "%s is no executable file", program);
        return false;
    }
    if (!path || !*path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (const char *at = path; at; at = kit_after(at, ':')) {
        int folder = (int)strcspn(at, ":"), length = snprintf(result->path, sizeof result->path, "%.*s/%s", folder, at, program);
        if (folder && length > 0 && (size_t)length < sizeof result->path && is_program(result->path))
            return true;
    }
    (void)snprintf(result->error, sizeof result->error, "there is no %s in PATH", program);
    return false;
}

static int spawn(struct running *run, int out[2], int err[2])
{
    enum { WORDS_MAX = 16 };
    const char *words[WORDS_MAX + 2] = {run->result->path};
    for (size_t i = 0; i < WORDS_MAX && run->command->words[i]; i++)
        words[i + 1] = run->command->words[i];
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    if (!(error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) &&
        !(error = posix_spawn_file_actions_adddup2(&actions, out[1], 1)) &&
        !(error = posix_spawn_file_actions_adddup2(&actions, err[1], 2)))
        error = posix_spawn(&run->pid, run->result->path, &actions, NULL, (char *const *)words, (char *const *)run->kit->call->env);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static bool begin(struct running *run)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    int error = pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) ? errno : spawn(run, out, err);
    close_end(&out[1]);
    close_end(&err[1]);
    run->out = out[0];
    run->err = err[0];
    if (error) {
        (void)snprintf(run->result->error, sizeof run->result->error, "%s: %s", run->result->path, strerror(error));
        close_end(&run->out);
        close_end(&run->err);
        return false;
    }
    return true;
}

/* Reads once; false when the program has filled its measure. */
static bool take(struct running *run)
{
    struct command_result *result = run->result;
    size_t room = run->command->maximum - result->length;
    ssize_t n = read(run->out, result->output + result->length, room);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        close_end(&run->out);
    else
        result->length += (size_t)n;
    return result->length < run->command->maximum;
}

/* What does not fit is read and dropped: the program must not wait for us. */
static void take_errors(struct running *run)
{
    char piece[512];
    ssize_t n = read(run->err, piece, sizeof piece);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close_end(&run->err);
        return;
    }
    size_t room = sizeof run->result->error - 1 - run->err_length, length = (size_t)n < room ? (size_t)n : room;
    memcpy(run->result->error + run->err_length, piece, length);
    run->err_length += length;
    run->result->error[run->err_length] = '\0';
}

/* Until both pipes are closed, or patience or the measure ends. */
static enum command_end read_all(struct running *run)
{
    while (run->out >= 0 || run->err >= 0) {
        struct pollfd ends[] = {{.fd = run->out, .events = POLLIN}, {.fd = run->err, .events = POLLIN}};
        uint64_t now = run->kit->host->now_ns();
        if (now >= run->deadline_ns)
            return COMMAND_TOO_SLOW;
        if (poll(ends, 2, (int)((run->deadline_ns - now) / 1000000u) + 1) <= 0)
            continue;
        if (ends[0].revents && !take(run))
            return COMMAND_TOO_LOUD;
        if (ends[1].revents)
            take_errors(run);
    }
    return COMMAND_ENDED;
}

/* Waits for its end until `until_ns`; the first tries come quickly. */
static bool reap(struct running *run, uint64_t until_ns, int *status)
{
    for (long pause_ns = 200000;; pause_ns = pause_ns < 10000000 ? pause_ns * 2 : pause_ns) {
        pid_t got = waitpid(run->pid, status, WNOHANG);
        if (got == run->pid)
            return true;
        if ((got < 0 && errno != EINTR) || run->kit->host->now_ns() >= until_ns)
            return false;
        (void)nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
    }
}

bool command_run(struct kit *kit, const struct command *command, struct command_result *result)
{
    static char nothing[1];
    *result = (struct command_result){.end = COMMAND_NOT_FOUND, .output = nothing};
    if (!find(kit, command->program, result))
        return false;
    char *output = kit_memory(kit, command->maximum + 1);
    struct running run = {.kit = kit, .command = command, .result = result};
    uint64_t last = kit->call->deadline_ns - MARGIN_NS;
    run.deadline_ns = kit->host->now_ns() + (uint64_t)(command->seconds * 1e9);
    if (run.deadline_ns > last)
        run.deadline_ns = last;
    result->end = COMMAND_FAILED;
    if (!output || !begin(&run))
        return false;
    result->output = output;
    result->end = read_all(&run);
    int status = 0;
    if (result->end != COMMAND_ENDED || !reap(&run, run.deadline_ns, &status)) {
        if (result->end == COMMAND_ENDED) /* it closed its output and lives on */
            result->end = COMMAND_TOO_SLOW;
        (void)kill(run.pid, SIGKILL);
        (void)reap(&run, kit->host->now_ns() + 50000000u, &status); /* one that sits in the driver cannot die; leave it */
    }
    close_end(&run.out);
    close_end(&run.err);
    result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return result->end == COMMAND_ENDED && result->status == 0;
}

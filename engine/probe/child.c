#include "probe/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Keeps our descriptors above those that the child's file actions overwrite, also in a process that closed its stdin. */
static int lift(int *fd)
{
    if (*fd > CHILD_WIRE_FD)
        return 0;
    int higher = fcntl(*fd, F_DUPFD_CLOEXEC, CHILD_WIRE_FD + 1);
    if (higher < 0)
        return errno;
    (void)close(*fd);
    *fd = higher;
    return 0;
}

static int make_pipe(int *read_end, int *write_end)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    *read_end = ends[0];
    *write_end = ends[1];
    int error = lift(read_end);
    if (!error)
        error = lift(write_end);
    if (!error && fcntl(*read_end, F_SETFL, O_NONBLOCK) != 0)
        error = errno;
    return error;
}

static int set_actions(posix_spawn_file_actions_t *actions, int wire, int output, const char *folder)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, wire, CHILD_WIRE_FD);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(actions, CHILD_WIRE_FD + 1);
    if (!error && folder)
        error = posix_spawn_file_actions_addchdir_np(actions, folder);
    return error;
}

/* A new process group, and signals as after login, whatever the embedding program blocks or ignores. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    return error;
}

static int spawn(struct child *child, int wire, int output, char *const *argv, char *const *env, const char *folder)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_actions(&actions, wire, output, folder);
        if (!error)
            error = set_attributes(&attributes);
        if (!error)
            error = posix_spawn(&child->pid, argv[0], &actions, &attributes, argv, env);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

int child_start(struct child *child, char *const *argv, char *const *env, const char *folder)
{
    *child = CHILD_NONE;
    int wire = -1, output = -1;
    int error = make_pipe(&child->wire, &wire);
    if (!error)
        error = make_pipe(&child->output, &output);
    if (!error)
        error = spawn(child, wire, output, argv, env, folder);
    close_fd(&wire);
    close_fd(&output);
    if (error) {
        child->pid = 0;
        child_close(child);
        return error;
    }
    /* Close-on-exec by definition. Where the process ended already and nobody may wait for it, there is none; child_fate() tells. */
    child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
    return 0;
}

enum child_fate child_fate(const struct child *child, int *code)
{
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        if (errno != EINTR)
            return CHILD_LOST;
    if (!info.si_pid)
        return CHILD_RUNS;
    *code = info.si_status;
    return info.si_code == CLD_EXITED ? CHILD_EXITED : CHILD_KILLED;
}

void child_signal(const struct child *child, int signal)
{
    /* As long as the child is ours to reap, neither its id nor its group's can have become somebody else's. */
    siginfo_t info = {0};
    if (!child->pid || waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
        return;
    (void)kill(-child->pid, signal);
    (void)kill(child->pid, signal); /* it may have left its group */
}

bool child_is_unkillable(const struct child *child)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)child->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(text, ')'); /* "PID (name) STATE ..." */
    return name_end && name_end[1] == ' ' && name_end[2] == 'D';
}

void child_close(struct child *child)
{
    if (child->pid)
        while (waitpid(child->pid, NULL, WNOHANG) < 0 && errno == EINTR)
            continue;
    child->pid = 0;
    close_fd(&child->pidfd);
    close_fd(&child->wire);
    close_fd(&child->output);
}

#include "stall.h"

#include "ras.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 256
#define STACKS_MAX 16 /* a node runs 8 ranks; the launcher and loaders come beside them */
#define STACK_SECONDS 10
#define STACK_MAX ((size_t)256 << 10)

/* Reads a small file of /proc/PID, control bytes shown as blanks. "" when it can't be read. */
static const char *read_proc(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, out, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    out[length > 0 ? length : 0] = '\0';
    for (ssize_t i = 0; i < length; i++)
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
            out[i] = ' ';
    return out;
}

static pid_t parent_of(pid_t pid)
{
    char text[512];
    const char *end = strrchr(read_proc(pid, "stat", text, sizeof text), ')');
    int parent = 0;
    return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* `root` and its descendants, parents before children. */
static size_t collect(pid_t root, pid_t *pids)
{
    size_t count = 1;
    pids[0] = root;
    for (bool grown = true; grown && count < PROCESSES_MAX;) {
        DIR *proc = opendir("/proc");
        grown = false;
        for (struct dirent *entry; proc && (entry = readdir(proc)) && count < PROCESSES_MAX;) {
            pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0,
                  parent = pid ? parent_of(pid) : 0;
            bool known = false, child = false;
            for (size_t i = 0; pid && i < count; i++) {
                known = known || pids[i] == pid;
                child = child || pids[i] == parent;
            }
            if (child && !known) {
                pids[count++] = pid;
                grown = true;
            }
        }
        if (proc)
            closedir(proc);
    }
    return count;
}

/* RANK out of the process's environment, -1 if it has none. */
static int rank_of(pid_t pid)
{
    static char text[256 << 10];
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    for (const char *p = text; length > 0 && p < text + length; p += strlen(p) + 1) {
        static const char *const names[] = {"RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID="};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (!strncmp(p, names[i], strlen(names[i])))
                return atoi(p + strlen(names[i]));
    }
    return -1;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void stall_copy(int from, double seconds, size_t most, FILE *out)
{
    char chunk[4096];
    for (double deadline = now() + seconds; most;) {
        double left = deadline - now();
        ssize_t length;
        if (left <= 0 || poll(&(struct pollfd){.fd = from, .events = POLLIN}, 1, (int)(left * 1000)) <= 0)
            return;
        if ((length = read(from, chunk, most < sizeof chunk ? most : sizeof chunk)) <= 0)
            return;
        most -= (size_t)length;
        for (ssize_t i = 0; i < length; i++)
            if (chunk[i] != '\n' && chunk[i] != '\t' && ((unsigned char)chunk[i] < 0x20 || chunk[i] == 0x7f))
                chunk[i] = '?';
        fwrite(chunk, 1, (size_t)length, out);
    }
}

/* Runs a stack tool under a deadline; false when there is no such tool. */
static bool run_tool(char **argv, FILE *out)
{
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!failed) {
        stall_copy(ends[0], STACK_SECONDS, STACK_MAX, out);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    close(ends[0]);
    return !failed;
}

static void describe_stack(pid_t pid, FILE *out)
{
    char id[16];
    (void)snprintf(id, sizeof id, "%d", (int)pid);
    char *py_spy[] = {"py-spy", "dump", "--pid", id, NULL};
    char *gdb[] = {"gdb", "-p", id, "-batch", "-nx", "-ex", "thread apply all bt 12", NULL};
    if (!run_tool(py_spy, out))
        run_tool(gdb, out);
}

void stall_describe(pid_t root, FILE *out)
{
    static pid_t pids[PROCESSES_MAX];
    size_t count = collect(root, pids), stacks = 0;
    for (size_t i = 0; i < count; i++) {
        char name[64], wait[128], stat[512];
        int rank = rank_of(pids[i]);
        read_proc(pids[i], "comm", name, sizeof name);
        read_proc(pids[i], "wchan", wait, sizeof wait);
        const char *end = strrchr(read_proc(pids[i], "stat", stat, sizeof stat), ')');
        fprintf(out, "  pid %d (%.*s) state %c, waits in %s", (int)pids[i], (int)strcspn(name, " "), name, end && end[1] ? end[2] : '?',
                *wait && strcmp(wait, "0") != 0 ? wait : "user code");
        if (rank >= 0)
            fprintf(out, ", rank %d", rank);
        fputc('\n', out);
        if (rank >= 0 && stacks++ < STACKS_MAX)
            describe_stack(pids[i], out);
    }
    ras_describe(out);
}

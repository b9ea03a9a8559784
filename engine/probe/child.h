/* One child process in a process group of its own, with pipes for what it prints and for what it reports. Nothing here waits. */
#ifndef DTKB_PROBE_CHILD_H
#define DTKB_PROBE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* The descriptor on which a child finds its wire: JSON lines to us. */
#define CHILD_WIRE_FD 3

struct child {
    pid_t pid;  /* also its process group; 0: none */
    int pidfd;  /* -1 where the kernel has none */
    int wire;   /* read end, non-blocking; -1 once closed */
    int output; /* read end of stdout and stderr, likewise */
};
#define CHILD_NONE ((struct child){.pidfd = -1, .wire = -1, .output = -1})

enum child_fate { CHILD_RUNS, CHILD_EXITED, CHILD_KILLED, CHILD_LOST /* somebody else reaped it: how it ended is unknown */ };

/* Starts `argv[0]` without running any code of this process in the child. Returns 0 or an errno. */
int child_start(struct child *child, char *const *argv, char *const *env, const char *folder);

/* What became of it, with exit status or signal. It stays a zombie, so that its process group can still be signalled safely. */
enum child_fate child_fate(const struct child *child, int *code);

/* Signals the child and what it started in its group. */
void child_signal(const struct child *child, int signal);

/* Is it in a state that no signal ends (uninterruptible sleep)? */
bool child_is_unkillable(const struct child *child);

/* Collects the zombie if there is one, and closes the descriptors. */
void child_close(struct child *child);

#endif

/* Runs child processes side by side, each under a deadline, and never waits on one that cannot die nor on a pipe that somebody holds. */
#ifndef DTKB_PROBE_SUPERVISE_H
#define DTKB_PROBE_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "probe/child.h"

#define JOB_OUTPUT_MAX ((size_t)64 << 10) /* kept of stdout and stderr; the rest is read and dropped, so that a writer never blocks */
#define JOB_LINE_MAX ((size_t)64 << 10)   /* of a line on the wire */
#define JOB_WIRE_MAX ((size_t)4 << 20)    /* of all lines */

enum job_end {
    JOB_EXITED,    /* `code` is its exit status */
    JOB_KILLED,    /* `code` is the signal that ended it */
    JOB_LOST,      /* it ended, but somebody else reaped it */
    JOB_TIMED_OUT, /* ended at its deadline */
    JOB_STUCK,     /* did not even end after SIGKILL, and was abandoned */
    JOB_REJECTED,  /* ended because `line` returned false or its output broke a limit: see `mistake` */
    JOB_CANCELLED,
    JOB_NO_TIME,    /* the budget was used up before it could start */
    JOB_NOT_STARTED /* `code` is the errno */
};

struct job;
struct job_watch; /* supervise.c's own */

struct job {
    /* Set by the caller, who owns what they point to. */
    char *const *argv;
    char *const *env;
    const char *folder;  /* to run in; NULL: the caller's own */
    char *deadline_text; /* of DEADLINE_TEXT_SIZE, becomes DTKB_DEADLINE_MS=... at the start; NULL: not wanted */
    uint64_t timeout_ns;
    bool exclusive; /* no two exclusive jobs at a time */
    /* Takes one line of the wire, NUL-terminated and without its newline. False ends the job; `mistake` says why. */
    bool (*line)(struct job *job, const char *text, size_t length);
    /* Its process has ended, what it left in its group has not yet; may be NULL. */
    void (*ended)(struct job *job);
    void *context;
    /* Set by supervise(). */
    enum job_end end;
    int code;
    double seconds;
    bool unheeded;     /* it had to be ended with SIGKILL */
    struct buf output; /* the caller frees it */
    uint64_t output_bytes;
    char mistake[256]; /* also written by line() */
    struct job_watch *watch;
};
#define DEADLINE_TEXT_SIZE 48

struct supervise_options {
    uint64_t budget_ns; /* for all jobs together */
    int (*cancelled)(void *context);
    void *context;
    void (*send)(const struct child *child, int signal); /* NULL: child_signal; tests make it powerless */
};

/* Returns when every job has ended or was abandoned. */
dtkb_status supervise(struct job *jobs, size_t count, const struct supervise_options *options, struct err *err);

#endif

/* A job run unchanged: its output passed on byte by byte and remembered, its signals and its exit status its own. */
#ifndef DTKB_CLI_JOB_H
#define DTKB_CLI_JOB_H

#include <sys/types.h>

#include "window.h"

struct job {
    pid_t pid;
    int wait_status;          /* of waitpid() once it ended */
    struct window windows[2]; /* stdout and stderr; the first alone when both went to the same place */
    int streams;              /* 1 or 2 */
    double stall;             /* seconds without output after which `stalled` is called, 0: never */
    void (*stalled)(struct job *job, double seconds, void *context);
    void *context;
};

/* Starts argv, passes everything on, and returns when the job ended and its output is drained. 0; 126 or 127 (said on stderr) when it could
 * not be started, as shells say it. */
int job_run(struct job *job, char **argv);

/* The exit status a shell would see: the job's own, 128+N for a signal. */
int job_exit_status(const struct job *job);
void job_free(struct job *job);

#endif

/* The process that runs MPI: started, listened to, ended. */
#ifndef DTKB_MPI_WORKER_H
#define DTKB_MPI_WORKER_H

#include <poll.h>
#include <sys/types.h>

#include "common/kit.h"

#define WORKER_TEXT_MAX ((size_t)64 << 10)

/* One line of dtkb-mpi-rank, taken apart. */
struct worker_line {
    int rank;
    const char *verb, *rest;
};

struct worker_stream {
    int fd;
    size_t length;
    char line[1024];
};

struct worker {
    pid_t pid;
    bool stopped, ended; /* its state as last seen */
    int code, signal;    /* of one that ended */
    struct worker_stream streams[2];
    size_t text_length;
    char text[WORKER_TEXT_MAX + 1]; /* what MPI itself printed */
    void (*take)(void *context, const struct worker_line *line);
    void *context;
};

/* Starts a program; false with errno in `code`. */
bool worker_start(struct worker *worker, char *const *argv, char *const *env);
/* The descriptors to wait for; returns their number (at most 2). */
size_t worker_polls(const struct worker *worker, struct pollfd *out);
/* Takes what came, and looks how the process is. */
void worker_turn(struct worker *worker);
/* Ends it, and all it started. */
void worker_end(struct worker *worker);
/* The last line that MPI printed and that says something, "" for none. */
const char *worker_complaint(struct worker *worker, char *out, size_t size);

#endif

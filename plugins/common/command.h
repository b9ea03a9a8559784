/* Running another program from a probe: bounded in time and output, its death our own doing, never waited for when it cannot die. */
#ifndef DTKB_PLUGINS_COMMAND_H
#define DTKB_PLUGINS_COMMAND_H

#include "common/kit.h"

struct command {
    const char *program;      /* a path, or a name looked for in the job's PATH */
    const char *const *words; /* arguments behind the program's name, NULL-terminated */
    double seconds;           /* patience; the call's own deadline comes first where it is nearer */
    size_t maximum;           /* bytes of output kept; more ends the program */
};

enum command_end {
    COMMAND_ENDED,     /* by itself: see `status` */
    COMMAND_NOT_FOUND, /* nowhere in PATH, or not executable: `error` says where was looked */
    COMMAND_TOO_SLOW,  /* killed at its deadline */
    COMMAND_TOO_LOUD,  /* killed at `maximum` bytes; they are kept */
    COMMAND_FAILED     /* could not be started: `error` */
};

struct command_result {
    enum command_end end;
    int status;   /* exit status, or 128 + signal */
    char *output; /* NUL-terminated, never NULL */
    size_t length;
    char error[1024]; /* the beginning of what it wrote to stderr, or why it did not run */
    char path[512];   /* the program that ran */
};

/* Runs it with the job's environment, stdin at /dev/null, and waits. True when it ended by itself with status 0. */
bool command_run(struct kit *kit, const struct command *command, struct command_result *result);

#endif

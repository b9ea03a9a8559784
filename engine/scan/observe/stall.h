/* How far the job had come and where its processes wait; what was at fault in the source that the log shows. */
#ifndef DTKB_SCAN_OBSERVE_STALL_H
#define DTKB_SCAN_OBSERVE_STALL_H

#include "scan/observe/gpus.h"

enum wait_place {
    WAIT_NONE,
    WAIT_COLLECTIVE,
    WAIT_MEETING,
    WAIT_END,
    WAIT_LOADER,
    WAIT_DEVICE,
    WAIT_FILE,
    WAIT_LOCK,
    WAIT_TRACKER,
    WAIT_PLACES
};

enum job_stage { STAGE_UNKNOWN, STAGE_MEETING, STAGE_PREPARING, STAGE_TRAINING };

struct observe_stall {
    enum job_stage stage;                        /* what the job's last lines spoke of */
    bool moved;                                  /* a step was finished */
    bool begun;                                  /* a command that starts a job was seen */
    bool behind_prompt;                          /* the user has gone on to look at the job */
    bool watching;                               /* the last command only looks: its ^C ends nothing */
    bool asked_time;                             /* the last command was date(1) */
    bool interrupted;                            /* ^C while the job ran and had not made a step */
    bool failed;                                 /* an exception began before that: what stands still waits for whom it ended */
    bool stopped;                                /* ^C while the job ran */
    bool same_again;                             /* the last step was seen once more behind a prompt */
    bool done;                                   /* the last of its work was told */
    bool asked_processes;                        /* the last command was ps(1) */
    uint64_t last_step;                          /* hash of that line */
    unsigned defunct, listed, sleeping, running; /* processes; `sleeping`: surely, not between two moments of work */
    double last_time, clock;                     /* of the job's last line; of date(1) behind it; NAN */
    const char *earlier;                         /* where a run before this one stood still, NULL: none did */
    struct place at, defunct_at, listed_at, earlier_at;
};

#define STACK_POSITIONS_MAX 16

struct observe_stacks {
    enum wait_place waits; /* of the stack that is read */
    unsigned frames, read; /* still to read of it; read */
    bool headed;           /* it has a heading */
    bool comparable;       /* it is that of a process, not of some thread */
    bool idle;             /* a worker was shown that has nothing to do */
    bool attached;         /* the last command looks into a running process: its stack has no heading */
    uint64_t position, last_function;
    unsigned stacks[WAIT_PLACES];
    uint64_t positions[STACK_POSITIONS_MAX];
    unsigned at_position[STACK_POSITIONS_MAX], position_count;
    struct place at;
};

enum job_doing { DOING_NOTHING, DOING_PREPARATION, DOING_EVALUATION, DOING_SAVING };

#define WAIT_RANKS_MAX 8

struct wait_collective {
    int32_t rank;
    unsigned long number, size; /* elements that the rank brings, 0: may differ */
    char operation[24];
};

/* What the job was at when ranks' time ran out in a collective, and in which one each of them waited. */
struct observe_waits {
    enum job_doing doing;
    int percent; /* of the bar that told it, -1: none */
    bool over;   /* somebody's time ran out */
    unsigned count;
    struct wait_collective list[WAIT_RANKS_MAX], apart[2];
    struct place doing_at, apart_at;
};

/* Something that the log counts while it waits: "waiting for 2 reservations" */
struct observe_awaited {
    const char *what; /* one of a fixed list */
    double count;
    unsigned times; /* that the same number was told, one after the other */
    char name[64];  /* of a host that is looked up again and again */
    unsigned sought;
    double first, last; /* of its look-ups, in seconds of the day */
    struct place at, sought_at;
};

/* The package whose frame is the innermost of a trace, and what it asked for in vain. */
struct observe_packages {
    int32_t rank;
    char package[32], caller[32], name[64];
    bool handed_through; /* the frame's source passes on what it got */
    enum { PACKAGES_NOTHING, PACKAGES_ARGUMENT, PACKAGES_PRIVATE, PACKAGES_TRACKER } found;
    struct place at;
};

#define IMPORTS_COMMANDS 8
#define IMPORTS_MODULES 4
#define IMPORTS_NAME 32
#define IMPORTS_FRAMES 3 /* of a dumped stack that are looked at, innermost first */

struct imports_command {
    char modules[IMPORTS_MODULES][IMPORTS_NAME];
    unsigned count;
    bool crashed, raised; /* ended in a signal; in an exception */
};

/* What commands that only import libraries load, in which order, and how they ended. */
struct observe_imports {
    struct imports_command commands[IMPORTS_COMMANDS];
    unsigned count, frames;
    bool pending;               /* the end of the last command is not seen yet */
    char package[IMPORTS_NAME]; /* that a dumped stack shows being imported */
    struct place crashed_at, package_at;
};

/* Lines of source beside the log. */
struct observe_code {
    size_t indent; /* of the branch of one rank that is read */
    unsigned left; /* lines of it that are still looked at */
    bool alone;    /* a collective stands in it */
    struct place at;
};

void stall_line(struct observe_stall *stall, const struct line *line, const struct place *place, bool progress);
void stall_conclude(const struct observe_stall *stall, const struct observe_gpus *gpus, struct collect *collect);

/* False where the line belongs to no stack. */
bool stacks_line(struct observe_stacks *stacks, const char *text, const struct place *place);
void stacks_conclude(const struct observe_stacks *stacks, struct collect *collect);

void waits_line(struct observe_waits *waits, const struct line *line, const struct place *place, bool progress);
void waits_conclude(const struct observe_waits *waits, struct collect *collect);

void code_line(struct observe_code *code, const char *text, const struct place *place);
void code_conclude(const struct observe_code *code, struct collect *collect);

void packages_line(struct observe_packages *packages, const char *text, const struct place *place);
void packages_conclude(const struct observe_packages *packages, struct collect *collect);

void awaited_line(struct observe_awaited *awaited, const struct line *line, const struct place *place, bool progress);
void awaited_conclude(const struct observe_awaited *awaited, struct collect *collect);

void imports_line(struct observe_imports *imports, const char *text, const struct place *place);
void imports_conclude(const struct observe_imports *imports, struct collect *collect);

#endif

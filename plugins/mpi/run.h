/* One run of the probe: what it knows, and the two ways to run MPI. */
#ifndef DTKB_MPI_RUN_H
#define DTKB_MPI_RUN_H

#include "common/job.h"
#include "common/roll_call.h"
#include "steps.h"
#include "worker.h"

struct limits {
    uint64_t arrive_ns, init_ns, step_ns, silence_ns;
};

struct run {
    struct kit *kit;
    struct job job;
    struct limits limits;
    struct worker *worker;
    struct roll_call *roll; /* NULL: no launcher, rank 0 of its own small job */
    uint32_t ranks;         /* that take part */
    const char *trial;      /* the change on trial, NULL for none */
    const char *rounds;

    char step[48]; /* in words: "all-reduce of 8 B" */
    uint64_t step_began;
    bool step_is_init;
    size_t finished; /* ranks of the worker that are done */
    bool init_ok, told;
    enum trouble trouble; /* the first that this rank saw */
    char reason[304];
    const char *init_status;
    char status[COLLECTIVES][32];
    double seconds[COLLECTIVES][SIZES]; /* 0: not run */
    int current;                        /* collective under way, -1: none */
};

/* Reads a line of the worker. */
void run_take(void *context, const struct worker_line *line);
/* Notes trouble of this rank and tells the others. */
__attribute__((format(printf, 3, 4))) void run_trouble(struct run *run, enum trouble trouble, const char *format, ...);
void run_step(struct run *run, uint32_t number, const char *name);

/* MPI in the slot that the launcher gave this rank. */
void run_in_slot(struct run *run);
/* A fresh MPI job of `ranks` on this machine, started by rank 0; the others wait for what becomes of it. */
void run_fresh_job(struct run *run);
/* The facts, MPI's own output and the result. */
void run_report(struct run *run);

#endif

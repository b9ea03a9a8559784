/* One run of the probe "nccl": what its parts share. */
#ifndef DTKB_CUDA_PROBE_NCCL_RUN_H
#define DTKB_CUDA_PROBE_NCCL_RUN_H

#include "collectives.h"
#include "common/job.h"
#include "common/roll_call.h"
#include "transcript.h"

#define END_NS 300000000u /* what is left for the report when a step takes all the time there is */
#define STEP_SECONDS 10.0

/* Everything that a thread of NCCL or CUDA may still use after it was given up: allocated once, and freed only when none was. */
struct state {
    struct cuda_api cuda;
    struct nccl_api nccl;
    struct team team;
    struct collective_run collective;
    CUresult cuda_result;
    ncclResult_t id_result;
    int device_count;
    _Atomic uint64_t until; /* how long the step that runs is waited for */
};

struct run {
    struct kit kit;
    struct state *state;
    struct transcript transcript;
    struct job job;
    struct roll_call *roll;        /* NULL: no job, or not begun */
    uint32_t steps;                /* so far */
    int devices[TEAM_MEMBERS_MAX]; /* of the members, local ones */
    int device_count;
    uint64_t limit;
    bool given_up;   /* a thread did not come back */
    bool called_off; /* another rank's trouble ended this one's work */
    char fault[700]; /* what to report once NCCL's log has been read */
};

/* ---- nccl_run.c: steps with deadlines, and what became of them ---- */
double run_seconds(const struct run *run, const char *parameter, double otherwise);
/* True when work() came back. It has until the team's deadline by its own clock, and a moment more to come back. */
bool run_step(struct run *run, void (*work)(void *), void *context, double seconds);
/* Tells the other ranks what this one does now. */
__attribute__((format(printf, 2, 3))) void run_begins(struct run *run, const char *format, ...);
/* The same for work of the team, whose ending tells how it went. */
bool run_team_step(struct run *run, void (*work)(void *), void *context, double seconds);
/* Members from the devices whose bits are set in `subset`. */
void run_gather(struct run *run, uint32_t subset);
bool run_collective(struct run *run, enum collective kind, size_t bytes, int repeats, double seconds);
/* Ends the team, however it is. */
void run_disband(struct run *run);
/* NCCL refuses what it is asked for: no GPU, rank or link is at fault. */
bool run_is_refused(const struct ending *ending);
/* The first fault counts. */
__attribute__((format(printf, 2, 3))) void run_fault(struct run *run, const char *format, ...);
/* More words on the fault. */
__attribute__((format(printf, 2, 3))) void run_fault_more(struct run *run, const char *format, ...);
/* A status, marked as what the fault consists in unless it is "ok". */
__attribute__((format(printf, 4, 5))) void run_status(struct run *run, const char *status, const char *origin, const char *format, ...);

/* ---- nccl_meet.c: NCCL's unique id, made here or by rank 0 ---- */
void make_id(void *state); /* for run_step */
bool meet_locally(struct run *run);
bool meet_all(struct run *run);
/* What became of this rank's work goes to the others, and theirs into the report. */
void meet_conclude(struct run *run);

/* ---- nccl_check.c: the communicator and the collectives ---- */
void check_collectives(struct run *run);

/* ---- nccl_seek.c: which of the job's ranks, once all know that it failed ---- */
void seek_culprit(struct run *run);

/* ---- nccl_bisect.c: which of this host's GPUs ---- */
void bisect_devices(struct run *run, const struct ending *ending);

#endif

/* Tables and lists of GPUs and their processes, and what a full GPU says of others. */
#ifndef DTKB_SCAN_OBSERVE_GPUS_H
#define DTKB_SCAN_OBSERVE_GPUS_H

#include "scan/observe/text.h"

struct observer;

#define GPUS_MAX 16
#define GPU_PROCESSES_MAX 64
#define GPU_COLUMNS_MAX 12

struct gpu_row {
    int index;
    double used, total, util, power, cap; /* MiB, per cent, watts; NAN where not shown */
};

struct gpu_process {
    int gpu;
    long pid;
    double used;
};

/* Lists whose heading says what the columns hold. */
enum gpu_list { GPU_LIST_NONE, GPU_LIST_QUERY, GPU_LIST_APPS, GPU_LIST_DMON, GPU_LIST_PMON };

struct observe_gpus {
    struct gpu_row rows[GPUS_MAX];
    struct gpu_process processes[GPU_PROCESSES_MAX];
    unsigned row_count, process_count;
    int pending;        /* GPU of the row whose second half comes, -1: none */
    bool listed;        /* processes follow behind all rows: the next row begins a table */
    bool fresh;         /* the tool was called again: likewise */
    enum gpu_list list; /* what the lines that come are rows of */
    char columns
        [GPU_COLUMNS_MAX]; /* of it: i(ndex), u(tilisation), m(emory), t(otal), p(ower), l(imit), g(PU's name), d (process), - (else) */
    unsigned column_count;
    bool counted;             /* uniq(1) puts the number of equal rows in front of each */
    unsigned misses;          /* lines since the last row of the list */
    uint64_t names[GPUS_MAX]; /* of GPUs that are told by bus or number, in the order in which they came */
    unsigned name_count;
    unsigned unnamed;                   /* processes without a number */
    unsigned samples, high, low, turns; /* tables of the same GPUs, one after another: all at work, none, changes from one to the other */
    bool last_high, was_sampled;
    uint32_t asked;   /* GPUs that a command names, one bit each */
    unsigned visible; /* the most GPUs that a command lets a program see; 0: not told */
    uint32_t wanted;  /* GPUs that CUDA_VISIBLE_DEVICES names, one bit each; 0: none, or not by small numbers */
    uint32_t given;   /* GPUs of which each program got one, one bit each */
    struct place at;  /* the last line of the last table */
};

/* What the message of a GPU without memory says of others on the card, in GiB. */
struct observe_oom {
    double total, others;            /* 0: nothing */
    double start_total, start_taken; /* as the program began */
    bool ran_out;                    /* it has run out since */
    struct place start_at;
    struct place at;
};

void gpus_line(struct observe_gpus *gpus, const char *text, const struct place *place);
/* A row of the table that is read (`index` -1: the next one), NULL where it is full; a process on a GPU. */
struct gpu_row *gpus_row(struct observe_gpus *gpus, int index, const struct place *place);
void gpus_process(struct observe_gpus *gpus, int gpu, long pid, double used, const struct place *place);
/* gpu_lists.c: a heading or a row of a list with columns; false where it is none. */
bool gpu_list_line(struct observe_gpus *gpus, const char *text, const struct place *place);
/* "[0] Tesla V100 | 45'C,  98 % |  1234 / 16160 MB | 4711/1000M user(1000M)" */
void gpustat_line(struct observe_gpus *gpus, const char *text, const struct place *place);
void gpus_conclude(const struct observe_gpus *gpus, const struct observer *observer, struct collect *collect);
/* Do all GPUs of the last table spin? */
bool gpus_all_busy(const struct observe_gpus *gpus);

void oom_line(struct observe_oom *oom, const char *text, const struct place *place);
void oom_conclude(const struct observe_oom *oom, struct collect *collect);

#endif

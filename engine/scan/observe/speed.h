/* Throughput of runs under several settings; what a trainer plans to do. */
#ifndef DTKB_SCAN_OBSERVE_SPEED_H
#define DTKB_SCAN_OBSERVE_SPEED_H

#include "scan/observe/rates.h"
#include "scan/observe/text.h"

#define SETTINGS_MAX 6

enum speed_kind { SPEED_STEP, SPEED_SAMPLE, SPEED_EPOCH, SPEED_BUS, SPEED_KINDS };

struct setting {
    unsigned gpus, nodes; /* 0: not told */
    char version[24];
    uint64_t program; /* hash of the script's name; 0: no command line was seen */
    bool per_gpu;     /* the throughput was said to be that of one GPU */
    unsigned long epoch_steps;
    struct readings speed[SPEED_KINDS]; /* steps and samples a second, seconds an epoch, GB/s */
    double first_step, first_time, last_step, last_time;
    double accuracy; /* the last one of an evaluation, as a share of 1; 0: none */
    struct readings train_accuracy;
    double rate, rate_step; /* the last learning rate, and at which step; 0: none */
    double loss;            /* the first, */
    uint64_t loss_step;     /* and the hash of what stands in front of it */
    double last_loss;       /* the last, of so many */
    unsigned losses;
    bool diverged;      /* ... is no number */
    double norm, shown; /* the first gradient norm; the first loss that was logged beside another one; 0: none */
    struct place accuracy_at, stamped_at, rate_at, loss_at, last_loss_at, norm_at, shown_at;
};

#define TABLE_COLUMNS 12

struct observe_speed {
    struct setting settings[SETTINGS_MAX];
    unsigned count;
    unsigned runs;               /* commands that started a job */
    char columns[TABLE_COLUMNS]; /* of a table in text: what each holds, see table.c */
    unsigned column_count;
    double data_seconds, step_seconds; /* without the first line, */
    double first_share, first_step;    /* which is this one; */
    double longest_step;               /* of the others */
    unsigned data_lines;
    double link_gbytes; /* what a test of the bare link measured, 0: none */
    struct place data_at;
};

/* What a trainer announces: how much there is, and in how many steps it wants to see it. */
struct observe_plan {
    double examples, epochs, batch, steps, per_device, accumulated; /* 0: not told */
    struct place at;
};

/* PyTorch/XLA's metrics: how many graphs were compiled and executed, and how long that took. */
struct observe_xla {
    enum { XLA_OTHER, XLA_COMPILES, XLA_EXECUTES } metric; /* whose numbers follow */
    double compiled, executed, compile_seconds, execute_seconds;
    struct place at;
};

void speed_line(struct observe_speed *speed, const struct line *line, const struct place *place);
void speed_conclude(const struct observe_speed *speed, struct collect *collect);
/* speed.c: the setting of that many GPUs and nodes (0: as before), made where there is none. */
struct setting *speed_setting(struct observe_speed *speed, unsigned gpus, unsigned nodes);
/* table.c: a row of a table in text; false where it is none. */
bool table_row(struct observe_speed *speed, const char *text, const struct place *place);

void plan_line(struct observe_plan *plan, const char *text, const struct place *place);
void plan_conclude(const struct observe_plan *plan, struct collect *collect);
/* How many devices make the total batch of so many a device; 0: not told. */
unsigned plan_devices(const struct observe_plan *plan);

void xla_line(struct observe_xla *xla, const struct line *line, const struct place *place);
void xla_conclude(const struct observe_xla *xla, struct collect *collect);

#endif

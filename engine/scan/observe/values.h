/* Values as training goes on: losses, norms and memory, learning rates, evaluations, what changes behind a checkpoint. */
#ifndef DTKB_SCAN_OBSERVE_VALUES_H
#define DTKB_SCAN_OBSERVE_VALUES_H

#include "scan/observe/text.h"

#define SERIES_MAX 6

struct series {
    char name[24];
    struct readings values;
    char first_text[24];
    unsigned count, nans, zeros, same; /* `same`: readings printed like the first */
    bool finite_first;
    struct place nan_at;
};

struct observe_series {
    struct series list[SERIES_MAX];
    unsigned count;
    unsigned runs;                      /* of the transcript, so far: values are compared within one */
    struct series kept, kept_memory;    /* of a run before that told something */
    bool memory_header;                 /* the next "Mem:" line is of free(1) */
    double host_share;                  /* of the host's memory that is used, as free(1) tells it last; 0: not told */
    double resident;                    /* GB that the last process holds */
    unsigned residents, most_residents; /* processes, one after the other, that hold as much */
    unsigned shares_above;              /* lines with an accuracy above 1 in training */
    struct place resident_at, share_at;
};

/* A learning rate as training goes on, against the steps that are planned. */
struct observe_schedule {
    unsigned runs;
    bool decays;         /* to zero, as an option or a setting says */
    double first, most;  /* the rate that was asked for, and the highest that was seen; 0: none */
    double planned;      /* steps that a command asks for; 0: not told */
    double ended, total; /* the step at which it was zero first, of so many; 0: not yet */
    double last_rate, last_share;
    double peak, before; /* of all rates, also where no steps are told */
    unsigned fell;       /* times that it fell */
    bool bottom, again;  /* it was 0 then; it has risen since */
    struct place again_at;
    bool went_on; /* beyond that step */
    struct place at;
};

#define SCORES_MAX 24

struct score {
    uint64_t shape; /* hash of the words of its line */
    uint64_t program;
    double value;
    unsigned width; /* of the run: GPUs times nodes */
};

/* Scores of a model that is only evaluated. */
struct observe_scores {
    struct score list[SCORES_MAX];
    unsigned count, width;
    uint64_t program; /* of the run that goes on */
    bool evaluating;
    struct score one, other; /* the pair that differs most */
    double apart;
    struct place at;
};

/* The last values before a checkpoint was loaded, and the first behind it. */
struct observe_resume {
    bool resumed; /* since the last values */
    double step, rate, last[3];
    unsigned losses;
    double norms[3]; /* the last gradient norms before */
    unsigned norm_count;
    unsigned behind; /* lines of the resumed run in which they are looked at */
    double told_norm, before_norm, norm_step;
    double told_rate, before_rate, rate_step, told_loss, before_loss, loss_step; /* 0: nothing */
    double names;                                                                /* that are missing, and as many others in their place */
    struct place norm_at;
    struct place rate_at, loss_at, names_at;
};

void series_line(struct observe_series *series, const struct line *line, const struct place *place, unsigned runs);
void series_conclude(const struct observe_series *series, struct collect *collect);

/* `runs`: jobs that were begun so far; the schedule of one that told something is kept */
void schedule_line(struct observe_schedule *schedule, const char *text, const struct place *place, unsigned runs);
void schedule_conclude(const struct observe_schedule *schedule, unsigned started, struct collect *collect);

void scores_line(struct observe_scores *scores, const struct line *line, const struct place *place);
void scores_conclude(const struct observe_scores *scores, struct collect *collect);

void resume_line(struct observe_resume *resume, const struct line *line, const struct place *place);
void resume_conclude(const struct observe_resume *resume, struct collect *collect);

#endif

/* What ranks say of themselves, of their data and values; lines that each of them prints. */
#ifndef DTKB_SCAN_OBSERVE_RANKS_H
#define DTKB_SCAN_OBSERVE_RANKS_H

#include "scan/observe/text.h"

#define CLAIM_ORIGINS_MAX 8
#define RANK_VALUES_MAX 24
#define LIST_CYCLE_MAX 8

struct rank_value {
    uint64_t shape, value; /* hashes of the words and of the numbers; of counts, the number */
    int32_t rank;
    unsigned seen, numbers; /* which such line of the rank this is; how many numbers are in it */
    char kind;              /* p(arameters), d(ata), m(etric), r(andom numbers), c(ount of batches) */
};

/* Lists one below the other, "0 [3, 1, 2]" of each rank or "epoch 3: ['a', 'b', 'c']" of each epoch. */
struct list_run {
    long last; /* number of the last list; -1: none */
    uint64_t first_hash;
    unsigned count;
    bool same;
};

/* Bare lists one below the other: of each batch, whichever epoch it belongs to. */
struct list_cycle {
    uint64_t hashes[LIST_CYCLE_MAX]; /* of the first ones */
    unsigned count;                  /* lines so far */
    unsigned period, repeats;        /* how many lists come again, and how often they came in full; 0: not yet */
    bool shuffled;                   /* something said that they are to be shuffled */
    struct place at;
};

#define ORDERS_MAX 8

/* Data that come in one epoch after the other. */
struct order {
    uint64_t what;
    struct list_run epochs;
};

struct observe_ranks {
    unsigned alone;  /* lines that say "rank 0 of 1" */
    bool asked_size; /* a launcher was told to print how many there are */
    uint64_t origins[CLAIM_ORIGINS_MAX];
    unsigned origin_count;
    struct rank_value values[RANK_VALUES_MAX];
    unsigned value_count;
    unsigned differing, equal, unequal; /* pairs of ranks whose parameters differ; whose data are the same, or not */
    unsigned judging;                   /* ... that go by unlike values of a metric */
    char heading;                       /* what the numbers below are, as `kind` of a value says; 0: not told */
    bool early;                         /* ... and that nothing was trained yet */
    unsigned heading_left;              /* lines below it */
    unsigned early_differing;           /* pairs of ranks that begin with unlike parameters */
    unsigned drawing;                   /* ... that draw the same random numbers */
    unsigned counting, agreeing;        /* ... that count unlike, or the same, numbers of batches */
    struct list_run lists;
    struct order orders[ORDERS_MAX];
    unsigned order_next;
    struct list_cycle cycle;
    struct list_run sets; /* of the samples of one rank, whatever their order */
    uint64_t set_order;   /* in which they came first */
    bool set_shuffled;    /* they came in another order since */
    unsigned same_sets;
    struct place sets_at;
    unsigned same_lists, same_epochs; /* lists in the longest run of equal ones */
    unsigned syncing, most_syncing;   /* wandb's runs that were begun and have not ended; the most at a time */
    bool trials;                      /* an agent begins the runs */
    struct place alone_at, differing_at, equal_at, judging_at, syncing_at, drawing_at, counting_at, lists_at, epochs_at;
};

/* Equal lines, one after the other. */
struct observe_repeats {
    uint64_t line, first;            /* hash of the block that is read; of the first block */
    unsigned count;                  /* of the lines in it */
    bool works, bar;                 /* it is a line of training; a bar */
    unsigned times;                  /* lines in the first block; */
    unsigned lines, working, others; /* blocks as long, those of training among them, and others */
    struct place at;
};

/* A value that is printed by ranks in turn, at one moment. */
struct measured {
    int32_t rank;
    double moment, value;
    unsigned ranks, unlike, most; /* that printed it; values unlike the one before; the most ranks that did */
    struct place at;
};

/* Of one moment, by rank: whose loss is a number, and whose is none. */
struct measured_loss {
    double moment;
    unsigned numbers, none;
    int32_t last, none_rank; /* the rank that printed last; one whose loss is none */
    bool alone;
    struct place at;
};

struct observe_measures {
    struct measured norm, score;
    struct measured_loss loss;
};

/* How many samples runs go through, and the batch that failed. */
struct observe_samples {
    unsigned width;     /* of the run: GPUs times nodes */
    double one, padded; /* samples of a run on one GPU; more than those on several; 0: not told */
    uint64_t whole;     /* ranks of a wider run that went through as many as one GPU did, one bit each */
    double told;        /* the last count of this run, of all ranks together */
    bool growing;       /* counts of one run differ: they are of training as it goes */
    bool several;       /* the model is on several GPUs */
    double batch, left; /* samples of a batch; of the epoch that is being trained */
    double last_left;   /* of the last batch, which failed; 0: none did */
    struct place at, padded_at, last_at;
};

#define LEAVERS_RANKS 64
/* Ranks that are gone while the others only say that they lost them. */
struct observe_leavers {
    uint64_t losers;      /* ranks that lost a peer, one bit each */
    bool others;          /* something else went wrong, too */
    bool root, no_others; /* below "Root Cause" of torchrun's table; no rank failed but the one there */
    int32_t rank, code;   /* of that one */
    struct place at;
};

void ranks_line(struct observe_ranks *ranks, const struct line *line, const struct place *place);
void ranks_conclude(const struct observe_ranks *ranks, unsigned started, struct collect *collect);
/* lists.c: lists of ranks and of epochs without the ranks' names */
void lists_line(struct observe_ranks *ranks, const struct line *line, const struct place *place);
void lists_conclude(const struct observe_ranks *ranks, struct collect *collect);

void repeats_line(struct observe_repeats *repeats, const struct line *line, const struct place *place, bool progress);
void repeats_conclude(const struct observe_repeats *repeats, unsigned started, struct collect *collect);

void measures_line(struct observe_measures *measures, const struct line *line, const struct place *place);
void measures_conclude(const struct observe_measures *measures, struct collect *collect);

void leavers_line(struct observe_leavers *leavers, const struct line *line, const struct place *place);
void leavers_conclude(const struct observe_leavers *leavers, struct collect *collect);

void samples_line(struct observe_samples *samples, const struct line *line, const struct place *place);
void samples_conclude(const struct observe_samples *samples, struct collect *collect);

#endif

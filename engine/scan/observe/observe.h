/*
 * What a log shows without saying it: numbers of several lines, compared. A hang, a slow run or a wrong placement often leaves no error line;
 * what tells is a table of GPUs of which one works, a throughput that falls with more ranks, a loss that is NaN, a stack that was dumped, a
 * prompt behind ^C. Each stream has one observer, which reads the lines of the samples (a short log as a whole; of a long one beginning, end
 * and parts between). At the stream's end it tells what it found as EV_OBSERVED evidence in words of our own, on which signatures are tried
 * (told.c).
 *
 * The parts are independent: `gpus` (nvidia-smi, gpustat, rocm-smi and lists of processes), `cpu`, `disk` and `net` (the host), `speed`
 * (throughput under several settings, growing step times, data loading), `series` (loss, gradient norm, memory), `schedule` (learning rates),
 * `scores` (evaluations), `ranks` and `measures` (what the ranks say of themselves and of their values), `repeats` (equal lines), `stacks` and `stall` (where processes wait, prompts,
 * clocks), `machine` (answers to what was asked of it), `setup` (the environment against what happened), `waits` (what the job was at when
 * ranks gave up waiting), `code` (source that was pasted beside the log), `oom` (whose memory fills a GPU), `resume` (values behind a checkpoint).
 * A rule tells nothing that a healthy job shows, too; its limits stand beside it.
 */
#ifndef DTKB_SCAN_OBSERVE_OBSERVE_H
#define DTKB_SCAN_OBSERVE_OBSERVE_H

#include "scan/collect.h"
#include "scan/line.h"
#include "scan/trace.h"

struct observer;

struct observer *observer_new(void);
struct observer *observer_clone(const struct observer *observer);
void observer_free(struct observer *observer);
/* `progress`: the line shows training go on. */
void observer_line(struct observer *observer, const struct line *line, const struct place *place, bool progress);
void observer_conclude(const struct observer *observer, struct collect *collect);

/* ---- inside ---- */

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
    unsigned misses;          /* lines since the last row of the list */
    uint64_t names[GPUS_MAX]; /* of GPUs that are told by bus or number, in the order in which they came */
    unsigned name_count;
    unsigned unnamed;                   /* processes without a number */
    unsigned samples, high, low, turns; /* tables of the same GPUs, one after another: all at work, none, changes from one to the other */
    bool last_high, was_sampled;
    uint32_t asked;   /* GPUs that a command names, one bit each */
    unsigned visible; /* the most GPUs that a command lets a program see; 0: not told */
    uint32_t given;   /* GPUs of which each program got one, one bit each */
    struct place at;  /* the last line of the last table */
};

#define SETTINGS_MAX 6
#define READINGS_MAX 32

enum speed_kind { SPEED_STEP, SPEED_SAMPLE, SPEED_EPOCH, SPEED_BUS, SPEED_KINDS };

/* Readings in order; where they are too many, every second one is kept. */
struct readings {
    double values[READINGS_MAX];
    unsigned count, stride, skipped;
    struct place last;
};

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
    struct place accuracy_at, stamped_at, rate_at, loss_at, last_loss_at;
};

#define TABLE_COLUMNS 12

/* A learning rate as training goes on, against the steps that are planned. */
struct observe_schedule {
    unsigned runs;
    bool decays;         /* to zero, as an option or a setting says */
    double first, most;  /* the rate that was asked for, and the highest that was seen; 0: none */
    double ended, total; /* the step at which it was zero first, of so many; 0: not yet */
    double last_rate, last_share;
    double peak, before; /* of all rates, also where no steps are told */
    unsigned fell;       /* times that it fell */
    bool bottom, again;  /* it was 0 then; it has risen since */
    struct place again_at;
    bool went_on; /* beyond that step */
    struct place at;
};

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
    unsigned drawing;                   /* ... that draw the same random numbers */
    unsigned counting, agreeing;        /* ... that count unlike, or the same, numbers of batches */
    struct list_run lists;
    struct order orders[ORDERS_MAX];
    unsigned order_next;
    struct list_cycle cycle;
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

struct observe_measures {
    struct measured norm, score;
};

enum wait_place { WAIT_NONE, WAIT_COLLECTIVE, WAIT_MEETING, WAIT_END, WAIT_LOADER, WAIT_DEVICE, WAIT_FILE, WAIT_PLACES };

enum job_stage { STAGE_UNKNOWN, STAGE_MEETING, STAGE_PREPARING, STAGE_TRAINING };

struct observe_stall {
    enum job_stage stage;                        /* what the job's last lines spoke of */
    bool moved;                                  /* a step was finished */
    bool begun;                                  /* a command that starts a job was seen */
    bool behind_prompt;                          /* the user has gone on to look at the job */
    bool watching;                               /* the last command only looks: its ^C ends nothing */
    bool asked_time;                             /* the last command was date(1) */
    bool interrupted;                            /* ^C while the job ran and had not made a step */
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
    uint64_t position, last_function;
    unsigned stacks[WAIT_PLACES];
    uint64_t positions[STACK_POSITIONS_MAX];
    unsigned at_position[STACK_POSITIONS_MAX], position_count;
    struct place at;
};

/* What a trainer announces: how much there is, and in how many steps it wants to see it. */
struct observe_plan {
    double examples, epochs, batch, steps, per_device, accumulated; /* 0: not told */
    struct place at;
};

/* ls(1) of a folder of checkpoints. */
struct observe_files {
    bool listing; /* lines of it follow */
    unsigned entries, weights;
    bool empty;                     /* a listing is over and had no weights in it */
    long seconds;                   /* of the day that the folder before names, -1: none */
    unsigned folders, most_folders; /* one after the other that are seconds apart */
    struct place folders_at;
    struct place at;
};

/* What top(1), ps(1) and their like tell of the processor. */
enum cpu_question { CPU_OTHER, CPU_PROCESSORS, CPU_THREADS, CPU_QUOTA };

struct observe_cpu {
    enum cpu_question asked[3]; /* by the last command, in the order in which its answers come */
    unsigned asked_count;
    double load, processors, quota; /* 0: not told */
    double threads, own_threads;    /* of all processes together, of one */
    double system_share, throttled; /* per cent; times */
    struct place at;
};

/* iostat(1): the disk that is busiest, and for how long. */
struct observe_disk {
    char name[16];
    double busy; /* per cent */
    bool listing;
    struct place at;
};

struct observe_net {
    bool sockets, verbs; /* NCCL goes over sockets; over InfiniBand's verbs */
    bool adapter;        /* the machine has such an adapter */
    bool library;        /* the verbs library could not be loaded */
    bool direct, staged; /* GPUDirect RDMA is possible; channels over verbs without it, and none with it */
    bool any_direct;
    uint64_t local_gids; /* indices of the GID table that hold a link-local address; and the one in use */
    bool gid_told;
    unsigned gid;
    struct place at, staged_at, gid_at;
};

enum machine_question {
    ASKED_NOTHING,
    ASKED_FABRIC,
    ASKED_MEMLOCK,
    ASKED_WIDTH,
    ASKED_LSPCI,
    ASKED_DRIVERS,
    ASKED_SPEED,
    ASKED_PEERS,
    ASKED_PEER_MEMORY
};

#define MACHINE_PACKAGES 16 /* nvidia-nccl-cu11, -cu12, ...: by that number */

struct observe_machine {
    enum machine_question asked;
    int answers;     /* lines in which the answer may still come */
    unsigned column; /* of the query's rows */
    bool fabric_down, fabric_failed, cuda_refused, verbs, nccl_differs;
    bool one_core;
    bool peer_memory_asked, peer_memory_loaded, peer_memory_missing; /* of lsmod: nvidia_peermem or the older nv_peer_mem */
    double memlock, link, width_least, width_most;                   /* kB, Mb/s, lanes; 0: not told */
    double peer_fastest, own_slowest;                                /* GB/s of copies between GPUs, and within one */
    char driver[24], other_driver[24], nccl[MACHINE_PACKAGES][16];
    struct place fabric_at, memlock_at, link_at, width_at, driver_at, nccl_at, core_at, peer_at, peer_memory_at;
};

#define SETUP_RANKS 64

struct observe_setup {
    bool proxy, proxy_echoed, refused; /* a proxy is set; the last command asks for it; a connection failed */
    uint64_t ranks_with_port;
    unsigned ports_differ;
    bool rank_seen_twice, has_rank, devices_replaced;
    bool cut, restarted; /* the terminal's connection ended; behind it the machine had been up for minutes only */
    double port, rank, world;
    char devices[64];
    double nccl_package, nccl_loaded, toolkit, driver; /* major releases of CUDA: that NCCL was built for, that is there */
    bool nccl_failed;                                  /* by an error of CUDA */
    struct place refused_at, port_at, rank_at, devices_at, restarted_at, nccl_at;
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

/* What the message of a GPU without memory says of others on the card, in GiB. */
struct observe_oom {
    double total, others; /* 0: nothing */
    struct place at;
};

/* The last values before a checkpoint was loaded, and the first behind it. */
struct observe_resume {
    bool resumed; /* since the last values */
    double step, rate, last[3];
    unsigned losses;
    double told_rate, before_rate, rate_step, told_loss, before_loss, loss_step; /* 0: nothing */
    struct place rate_at, loss_at;
};

/* The package whose frame is the innermost of a trace, and what it asked for in vain. */
struct observe_packages {
    int32_t rank;
    char package[32], caller[32], name[64];
    bool handed_through; /* the frame's source passes on what it got */
    enum { PACKAGES_NOTHING, PACKAGES_ARGUMENT, PACKAGES_PRIVATE } found;
    struct place at;
};

/* Lines of source beside the log. */
struct observe_code {
    size_t indent; /* of the branch of one rank that is read */
    unsigned left; /* lines of it that are still looked at */
    bool alone;    /* a collective stands in it */
    struct place at;
};

struct observer {
    struct observe_plan plan;
    struct observe_files files;
    struct observe_net net;
    struct observe_machine machine;
    struct observe_setup setup;
    struct observe_cpu cpu;
    struct observe_disk disk;
    struct observe_gpus gpus;
    struct observe_speed speed;
    struct observe_series series;
    struct observe_schedule schedule;
    struct observe_scores scores;
    struct observe_ranks ranks;
    struct observe_repeats repeats;
    struct observe_measures measures;
    struct observe_stacks stacks;
    struct observe_stall stall;
    struct observe_waits waits;
    struct observe_code code;
    struct observe_packages packages;
    struct observe_oom oom;
    struct observe_resume resume;
    unsigned visible; /* GPUs that the program says it sees */
    unsigned started; /* the most processes, or GPUs, that a command line asks for */
    bool launched;    /* by a launcher that starts a process for each */
};

/* Evidence with these words at `at`. */
__attribute__((format(printf, 3, 4))) void observe_tell(struct collect *collect, const struct place *at, const char *format, ...);

/* text.c: what was hashed so far, and `length` more bytes of text (FNV-1a). Equal texts are meant, nothing is kept of it. */
#define OBSERVE_HASH UINT64_C(0xcbf29ce484222325) /* of nothing */
uint64_t observe_hash(uint64_t hash, const char *text, size_t length);
/* Is one of the words, up to a NULL, in the text, in any case? */
bool observe_any(const char *text, const char *const *words);
/* A number at `*p` ("-1.5e3", "nan", "-inf"); moves behind it. */
bool observe_number(const char **p, double *value);
/* Behind the first `word` (any case) that does not stand within a longer word; NULL when there is none. */
const char *observe_behind(const char *text, const char *word);
/* The number that follows `word` and a few separators. `at` (may be NULL) gets where it begins. */
bool observe_after(const char *text, const char *word, double *value, const char **at);
void readings_add(struct readings *readings, double value, const struct place *place);
double readings_median(const struct readings *readings, unsigned from, unsigned to);
/* rates.c: what one line says of speed (NAN where nothing), of the steps that a bar counts (0: none), of quality (NAN). */
void rates_read(const char *text, double *rates);
double rates_epoch_seconds(const char *text);
unsigned long rates_bar_total(const char *text);
unsigned long rates_batches_told(const char *text);
double rates_accuracy(const char *text);
double rates_train_accuracy(const char *text);
double rates_loss(const char *text, const char **at);

/* How many processes, GPUs and nodes a command or a heading speaks of; 0 where it does not. */
void observe_counts(const char *text, unsigned *gpus, unsigned *nodes);

void gpus_line(struct observe_gpus *gpus, const char *text, const struct place *place);
/* A row of the table that is read (`index` -1: the next one), NULL where it is full; a process on a GPU. */
struct gpu_row *gpus_row(struct observe_gpus *gpus, int index, const struct place *place);
void gpus_process(struct observe_gpus *gpus, int gpu, long pid, double used, const struct place *place);
/* gpu_lists.c: a heading or a row of a list with columns; false where it is none. */
bool gpu_list_line(struct observe_gpus *gpus, const char *text, const struct place *place);
/* "[0] Tesla V100 | 45'C,  98 % |  1234 / 16160 MB | 4711/1000M user(1000M)" */
void gpustat_line(struct observe_gpus *gpus, const char *text, const struct place *place);
void gpus_conclude(const struct observe_gpus *gpus, const struct observer *observer, struct collect *collect);
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
void files_line(struct observe_files *files, const char *text, const struct place *place);
void files_conclude(const struct observe_files *files, struct collect *collect);
void cpu_line(struct observe_cpu *cpu, const char *text, const struct place *place);
void cpu_conclude(const struct observe_cpu *cpu, struct collect *collect);
void disk_line(struct observe_disk *disk, const char *text, const struct place *place);
void disk_conclude(const struct observe_disk *disk, struct collect *collect);
void net_line(struct observe_net *net, const char *text, const struct place *place);
void net_conclude(const struct observe_net *net, struct collect *collect);
void machine_line(struct observe_machine *machine, const char *text, const struct place *place);
void machine_conclude(const struct observe_machine *machine, struct collect *collect);
void setup_line(struct observe_setup *setup, const char *text, const struct place *place);
void setup_conclude(const struct observe_setup *setup, struct collect *collect);
void series_line(struct observe_series *series, const char *text, const struct place *place, unsigned runs);
void series_conclude(const struct observe_series *series, struct collect *collect);
/* `runs`: jobs that were begun so far; the schedule of one that told something is kept */
void schedule_line(struct observe_schedule *schedule, const char *text, const struct place *place, unsigned runs);
void schedule_conclude(const struct observe_schedule *schedule, unsigned started, struct collect *collect);
void scores_line(struct observe_scores *scores, const struct line *line, const struct place *place);
void scores_conclude(const struct observe_scores *scores, struct collect *collect);
/* speed.c: hash of the name of the script that a command line starts, 0 for other lines */
uint64_t program_of(const char *text);
void ranks_line(struct observe_ranks *ranks, const struct line *line, const struct place *place);
void repeats_line(struct observe_repeats *repeats, const struct line *line, const struct place *place, bool progress);
void repeats_conclude(const struct observe_repeats *repeats, unsigned started, struct collect *collect);
void measures_line(struct observe_measures *measures, const struct line *line, const struct place *place);
void measures_conclude(const struct observe_measures *measures, struct collect *collect);
/* lists.c: lists of ranks and of epochs without the ranks' names */
void lists_line(struct observe_ranks *ranks, const char *text, const struct place *place);
void lists_conclude(const struct observe_ranks *ranks, struct collect *collect);
void ranks_conclude(const struct observe_ranks *ranks, unsigned started, struct collect *collect);
/* False where the line belongs to no stack. */
bool stacks_line(struct observe_stacks *stacks, const char *text, const struct place *place);
void stacks_conclude(const struct observe_stacks *stacks, struct collect *collect);
void stall_line(struct observe_stall *stall, const struct line *line, const struct place *place, bool progress);
void stall_conclude(const struct observe_stall *stall, const struct observe_gpus *gpus, struct collect *collect);
void oom_line(struct observe_oom *oom, const char *text, const struct place *place);
void oom_conclude(const struct observe_oom *oom, struct collect *collect);
void resume_line(struct observe_resume *resume, const char *text, const struct place *place);
void resume_conclude(const struct observe_resume *resume, struct collect *collect);
void waits_line(struct observe_waits *waits, const struct line *line, const struct place *place, bool progress);
void waits_conclude(const struct observe_waits *waits, struct collect *collect);
void code_line(struct observe_code *code, const char *text, const struct place *place);
void code_conclude(const struct observe_code *code, struct collect *collect);
void packages_line(struct observe_packages *packages, const char *text, const struct place *place);
void packages_conclude(const struct observe_packages *packages, struct collect *collect);
/* Do all GPUs of the last table spin? */
bool gpus_all_busy(const struct observe_gpus *gpus);

#endif

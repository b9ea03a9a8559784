/* All that one stream's observer keeps. */
#ifndef DTKB_SCAN_OBSERVE_OBSERVER_H
#define DTKB_SCAN_OBSERVE_OBSERVER_H

#include "scan/observe/gpus.h"
#include "scan/observe/host.h"
#include "scan/observe/observe.h"
#include "scan/observe/ranks.h"
#include "scan/observe/speed.h"
#include "scan/observe/stall.h"
#include "scan/observe/values.h"

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
    struct observe_samples samples;
    struct observe_leavers leavers;
    struct observe_stacks stacks;
    struct observe_stall stall;
    struct observe_waits waits;
    struct observe_code code;
    struct observe_packages packages;
    struct observe_awaited awaited;
    struct observe_xla xla;
    struct observe_imports imports;
    struct observe_oom oom;
    struct observe_resume resume;
    unsigned visible; /* GPUs that the program says it sees */
    unsigned started; /* the most processes, or GPUs, that a command line asks for */
    bool launched;    /* by a launcher that starts a process for each */
};

#endif

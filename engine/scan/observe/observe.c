#include "scan/observe/commands.h"
#include "scan/observe/observer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct observer *observer_new(void)
{
    struct observer *observer = calloc(1, sizeof *observer);
    if (observer) {
        observer->files.seconds = -1;
        observer->gpus.pending = -1;
        observer->stall.last_time = observer->stall.clock = NAN;
    }
    return observer;
}

struct observer *observer_clone(const struct observer *observer)
{
    struct observer *copy = malloc(sizeof *copy);
    if (copy)
        *copy = *observer;
    return copy;
}

void observer_free(struct observer *observer)
{
    free(observer);
}

/* "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1,2,3]": members of the list */
static double visible(const char *text)
{
    double members = 1;
    for (const char *p = strchr(text, '['); p && *p && *p != ']'; p++)
        members += *p == ',';
    return members;
}

void observer_line(struct observer *observer, const struct line *line, const struct place *place, bool progress)
{
    const char *text = line->text;
    unsigned gpus = 0, nodes = 0;
    if (*text == '$' || !strncmp(text, "#SBATCH", 7) || strstr(text, "nproc") || strstr(text, "run -np") || strstr(text, "mpirun"))
        commands_counts(text, &gpus, &nodes);
    static const char *const launchers[] = {"nproc",      "torchrun", "mpirun",     "mpiexec", "horovodrun", "accelerate launch",
                                            "deepspeed ", "srun ",    "distributed"};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && gpus > 1; i++)
        observer->launched = observer->launched || strstr(text, launchers[i]);
    unsigned started = (gpus ? gpus : 1) * (nodes ? nodes : 1);
    double told;
    plan_line(&observer->plan, text, place);
    if (observe_after(text, "n_gpu", &told, NULL) && told >= 0 && told < 1024)
        started = (unsigned)told > started ? (unsigned)told : started;
    if ((strstr(text, "distributed_type: MULTI_GPU") || strstr(text, "multi_gpu")) && started < 2)
        started = 2;
    started = plan_devices(&observer->plan) > started ? plan_devices(&observer->plan) : started;
    observer->started = started > observer->started ? started : observer->started;
    if ((observe_after(text, "Num GPUs Available", &told, NULL) && told >= 0 && told < 1024) ||
        (strstr(text, "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [") && (told = visible(text)) > 1))
        observer->visible = (unsigned)told;
    files_line(&observer->files, text, place);
    net_line(&observer->net, text, place);
    machine_line(&observer->machine, text, place);
    setup_line(&observer->setup, text, place);
    cpu_line(&observer->cpu, text, place);
    disk_line(&observer->disk, text, place);
    gpus_line(&observer->gpus, text, place);
    speed_line(&observer->speed, line, place);
    series_line(&observer->series, line, place, observer->speed.runs + observer->speed.count);
    schedule_line(&observer->schedule, text, place, observer->speed.runs);
    scores_line(&observer->scores, line, place);
    ranks_line(&observer->ranks, line, place);
    repeats_line(&observer->repeats, line, place, progress);
    measures_line(&observer->measures, line, place);
    samples_line(&observer->samples, line, place);
    leavers_line(&observer->leavers, line, place);
    if (!stacks_line(&observer->stacks, text, place))
        stall_line(&observer->stall, line, place, progress);
    waits_line(&observer->waits, line, place, progress);
    code_line(&observer->code, text, place);
    packages_line(&observer->packages, text, place);
    awaited_line(&observer->awaited, line, place, progress);
    xla_line(&observer->xla, line, place);
    imports_line(&observer->imports, text, place);
    oom_line(&observer->oom, text, place);
    resume_line(&observer->resume, line, place);
}

void observer_conclude(const struct observer *observer, struct collect *collect)
{
    plan_conclude(&observer->plan, collect);
    files_conclude(&observer->files, collect);
    net_conclude(&observer->net, collect);
    machine_conclude(&observer->machine, collect);
    setup_conclude(&observer->setup, collect);
    cpu_conclude(&observer->cpu, collect);
    disk_conclude(&observer->disk, collect);
    gpus_conclude(&observer->gpus, observer, collect);
    speed_conclude(&observer->speed, collect);
    series_conclude(&observer->series, collect);
    schedule_conclude(&observer->schedule, observer->started, collect);
    scores_conclude(&observer->scores, collect);
    ranks_conclude(&observer->ranks, observer->started, collect);
    repeats_conclude(&observer->repeats, observer->started, collect);
    measures_conclude(&observer->measures, collect);
    samples_conclude(&observer->samples, collect);
    leavers_conclude(&observer->leavers, collect);
    stacks_conclude(&observer->stacks, collect);
    stall_conclude(&observer->stall, &observer->gpus, collect);
    waits_conclude(&observer->waits, collect);
    code_conclude(&observer->code, collect);
    packages_conclude(&observer->packages, collect);
    awaited_conclude(&observer->awaited, collect);
    xla_conclude(&observer->xla, collect);
    imports_conclude(&observer->imports, collect);
    oom_conclude(&observer->oom, collect);
    resume_conclude(&observer->resume, collect);
}

void observe_tell(struct collect *collect, const struct place *at, const char *format, ...)
{
    char text[EVIDENCE_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    struct evidence evidence = {.kind = EV_OBSERVED,
                                .role = ROLE_INITIATING,
                                .signature = SIGNATURE_NONE,
                                .file = at->file,
                                .line = at->line,
                                .sequence = at->sequence,
                                .rank = RANK_UNKNOWN,
                                .time = NAN,
                                .text = text,
                                .observed = true};
    collect_add(collect, &evidence, text_key(text, strlen(text)));
}

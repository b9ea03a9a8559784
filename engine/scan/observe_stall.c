/*
 * A job that stands still, seen from outside: stacks that somebody dumped (py-spy, faulthandler, gdb), ^C while it ran, a clock that went on
 * without it, GPUs that spin before the first step, dead processes that nobody reaped.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scan/observe.h"

#define FRAMES 14   /* of a stack that are looked at, innermost first */
#define STILL 900.0 /* seconds without a line */
#define DAY 86400.0 /* beyond that the clocks are of different runs */

struct frame_mark {
    const char *text;
    enum wait_place place;
};

/* Where a frame says that a process waits. Earlier marks weigh more: a barrier inside of init_process_group belongs to the meeting. */
static const struct frame_mark marks[] = {{"init_process_group", WAIT_MEETING},
                                          {"rendezvous", WAIT_MEETING},
                                          {"TCPStore", WAIT_MEETING},
                                          {"ncclCommInit", WAIT_MEETING},
                                          {"bootstrapInit", WAIT_MEETING},
                                          {"hvd.init", WAIT_MEETING},
                                          {"_verify_param_shape_across_processes", WAIT_MEETING}, /* the wrapper's first exchange */
                                          {"_sync_module_states", WAIT_MEETING},
                                          {"distributed_c10d.py", WAIT_COLLECTIVE},
                                          {"horovod/torch/mpi_ops", WAIT_COLLECTIVE},
                                          {"ncclAllReduce", WAIT_COLLECTIVE},
                                          {"ncclAllGather", WAIT_COLLECTIVE},
                                          {"ncclBroadcast", WAIT_COLLECTIVE},
                                          {"ncclReduce", WAIT_COLLECTIVE},
                                          {"ncclGroupEnd", WAIT_COLLECTIVE},
                                          {"ncclKernel", WAIT_COLLECTIVE},
                                          {"ncclDevKernel", WAIT_COLLECTIVE},
                                          {"PMPI_", WAIT_COLLECTIVE},
                                          {"opal_progress", WAIT_COLLECTIVE},
                                          {"ucp_worker_progress", WAIT_COLLECTIVE},
                                          {"WorkNCCL", WAIT_COLLECTIVE},
                                          {"dataloader.py", WAIT_LOADER},
                                          {"multiprocessing/queues.py", WAIT_LOADER},
                                          {"serialization.py", WAIT_FILE},
                                          {"StreamSynchronize", WAIT_DEVICE},
                                          {"DeviceSynchronize", WAIT_DEVICE},
                                          {"EventSynchronize", WAIT_DEVICE},
                                          {"synchronize (torch/cuda", WAIT_DEVICE},
                                          {"autograd/graph.py", WAIT_DEVICE},
                                          {"autograd/__init__.py", WAIT_DEVICE}};

static void close_stack(struct observe_stall *stall)
{
    if (stall->frames && stall->waits != WAIT_NONE)
        stall->stacks[stall->waits]++;
    stall->frames = 0;
    stall->waits = WAIT_NONE;
}

/* "Thread 0x7F.. (idle): "MainThread"", "Thread 1 (Thread 0x.. (LWP 4711)):", "Current thread 0x.. (most recent call first):" */
static bool opens_stack(const char *text)
{
    return (!strncmp(text, "Thread ", 7) && (strstr(text, "MainThread") || strstr(text, "(LWP ") || strstr(text, "call first"))) ||
           (!strncmp(text, "Current thread 0x", 17) && strstr(text, "call first"));
}

static bool read_stack(struct observe_stall *stall, const char *text, const struct place *place)
{
    if (opens_stack(text)) {
        close_stack(stall);
        stall->frames = FRAMES + 1;
        stall->stack_at = *place;
        return true;
    }
    if (!stall->frames)
        return false;
    const char *p = text + strspn(text, " ");
    bool frame = *p == '#' || !strncmp(p, "File \"", 6) || (p > text && *p && p[strlen(p) - 1] == ')');
    if (!frame || stall->frames == 1) {
        close_stack(stall);
        return frame;
    }
    stall->frames--;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(p, marks[i].text)) {
            if (stall->waits == WAIT_NONE || (marks[i].place == WAIT_MEETING && stall->waits == WAIT_COLLECTIVE) ||
                (marks[i].place == WAIT_COLLECTIVE && stall->waits == WAIT_DEVICE))
                stall->waits = marks[i].place;
            break;
        }
    stall->stack_at = *place;
    return true;
}

static enum job_stage stage_of(const char *text)
{
    static const struct {
        const char *word;
        enum job_stage stage;
    } words[] = {{"rendezvous", STAGE_MEETING},
                 {"init_process_group", STAGE_MEETING},
                 {"distributed init", STAGE_MEETING},
                 {"initializing distributed", STAGE_MEETING},
                 {"initializing ddp", STAGE_MEETING},
                 {"initializing process group", STAGE_MEETING},
                 {"initializing torchbackend", STAGE_MEETING},
                 {"master_addr", STAGE_MEETING},
                 {"world_size", STAGE_MEETING},
                 {"bootstrap", STAGE_MEETING},
                 {"waiting for", STAGE_MEETING},
                 {"loading", STAGE_PREPARING},
                 {"loaded", STAGE_PREPARING},
                 {"dataset", STAGE_PREPARING},
                 {"prefetch", STAGE_PREPARING},
                 {"tokeniz", STAGE_PREPARING},
                 {"preprocess", STAGE_PREPARING},
                 {"pretrained", STAGE_PREPARING},
                 {"broadcast", STAGE_PREPARING},
                 {"building", STAGE_PREPARING},
                 {"creating", STAGE_PREPARING},
                 {"index created", STAGE_PREPARING},
                 {"checks passed", STAGE_PREPARING},
                 {"init complete", STAGE_TRAINING},
                 {"training start", STAGE_TRAINING},
                 {"start training", STAGE_TRAINING},
                 {"starting training", STAGE_TRAINING},
                 {"start train", STAGE_TRAINING},
                 {"running training", STAGE_TRAINING},
                 {"validat", STAGE_TRAINING},
                 {"evaluat", STAGE_TRAINING},
                 {"epoch", STAGE_TRAINING}};
    for (size_t i = sizeof words / sizeof *words; i-- > 0;)
        if (strcasestr(text, words[i].word))
            return words[i].stage;
    return STAGE_UNKNOWN;
}

/* "$ nvidia-smi", "user@host:~/x$ py-spy dump": what stands behind the prompt; NULL for the job's own lines */
static const char *command_of(const char *text)
{
    if (!strncmp(text, "$ ", 2))
        return text + 2;
    const char *p = strstr(text, "$ ");
    if (p && p > text && p - text < 24 && strcspn(text, " ") == (size_t)(p - text) + 1 && isalpha((unsigned char)*text))
        return p + 2; /* "node1$ " */
    return p && strchr(text, '@') && strchr(text, '@') < p && p - text < 80 && strchr(text, ':') ? p + 2 : NULL;
}

static void read_command(struct observe_stall *stall, const char *command)
{
    static const char *const looks[] = {"nvidia-smi",  "watch",   "tail",    "top",    "htop", "ps ",   "date", "py-spy",
                                        "sudo py-spy", "gdb",     "strace",  "squeue", "free", "dmesg", "cat",  "kill",
                                        "uptime",      "sleep",   "netstat", "ss ",    "ls",   "du",    "df",   "pstack",
                                        "nvtop",       "gpustat", "echo",    "grep",   "wc"};
    stall->watching = false;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        stall->watching = stall->watching || !strncmp(command, looks[i], strlen(looks[i]));
    stall->asked_time = !strncmp(command, "date", 4);
    stall->behind_prompt = stall->watching;
    if (!stall->watching) { /* another run */
        stall->stage = STAGE_UNKNOWN;
        stall->moved = stall->interrupted = stall->same_again = false;
        stall->last_time = stall->clock = NAN;
    }
}

static uint64_t text_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* The job's own lines: how far it has come. */
static void read_job(struct observe_stall *stall, const struct line *line, const struct place *place, bool progress)
{
    bool first_step = strstr(line->text, " 0/") || strstr(line->text, "|0/") || strstr(line->text, "<?");
    enum job_stage stage = progress ? STAGE_TRAINING : stage_of(line->text);
    bool announced = strcasestr(line->text, "start") || strcasestr(line->text, "begin");
    stall->moved = stall->moved || (progress && !first_step && !announced && stage_of(line->text) != STAGE_PREPARING);
    stall->stage = stage != STAGE_UNKNOWN ? stage : stall->stage;
    stall->last_time = isnan(line->time) ? stall->last_time : line->time;
    stall->last_step = progress ? text_hash(line->text) : stall->last_step;
    stall->interrupted = stall->interrupted && !stall->moved;
    stall->at = stall->interrupted ? stall->at : *place;
}

void stall_line(struct observe_stall *stall, const struct line *line, const struct place *place, bool progress)
{
    const char *command = command_of(line->bare);
    if (strstr(line->text, "<defunct>")) {
        stall->defunct++;
        stall->defunct_at = *place;
        return;
    }
    if (read_stack(stall, line->text, place))
        return;
    /* Who stops a job that has made steps may just have seen enough. */
    if (!strncmp(line->text, "^C", 2) || !strcmp(line->text, "KeyboardInterrupt")) {
        stall->interrupted = stall->interrupted || (!stall->watching && !stall->moved && stall->stage != STAGE_UNKNOWN);
    } else if (command) {
        read_command(stall, command);
    } else if (stall->asked_time && !isnan(line->time)) {
        stall->clock = line->time;
        stall->asked_time = false;
    } else if (stall->behind_prompt && progress && text_hash(line->text) == stall->last_step) {
        stall->same_again = true; /* tail(1), some time later */
    } else if (!stall->behind_prompt && line->length && (progress || !stall->interrupted)) {
        read_job(stall, line, place, progress);
    }
}

static const char *until(const struct observe_stall *stall)
{
    if (stall->moved)
        return "in the midst of training";
    static const char *const words[] = {[STAGE_UNKNOWN] = "before the first step",
                                        [STAGE_MEETING] = "while its processes meet",
                                        [STAGE_PREPARING] = "while data and model are prepared",
                                        [STAGE_TRAINING] = "at the first step"};
    return words[stall->stage];
}

void stall_conclude(const struct observe_stall *stall, const struct observe_gpus *gpus, struct collect *collect)
{
    static const char *const places[] = {[WAIT_COLLECTIVE] = "in a collective",
                                         [WAIT_MEETING] = "for the other ranks to meet",
                                         [WAIT_LOADER] = "for the data loader",
                                         [WAIT_DEVICE] = "for its GPU",
                                         [WAIT_FILE] = "for a file"};
    struct observe_stall last = *stall;
    double still = stall->clock - stall->last_time;
    close_stack(&last);
    for (int place = WAIT_NONE + 1; place < WAIT_PLACES; place++)
        if (last.stacks[place])
            observe_tell(collect, &stall->stack_at, "stack: a process waits %s", places[place]);
    if (stall->defunct)
        observe_tell(collect, &stall->defunct_at, "processes: %u are dead (defunct) while the job goes on waiting", stall->defunct);
    if (still > STILL && still < DAY)
        observe_tell(collect, &stall->at, "stands still %s: no line for %.0f minutes", until(stall), still / 60);
    else if (stall->same_again)
        observe_tell(collect, &stall->at, "stands still %s: no line for a while", until(stall));
    else if (stall->interrupted)
        observe_tell(collect, &stall->at, "stands still %s: interrupted by hand", until(stall));
    else if (!stall->moved && stall->stage != STAGE_UNKNOWN && gpus_all_busy(gpus))
        observe_tell(collect, &stall->at, "stands still %s: all GPUs at full utilisation", until(stall));
}

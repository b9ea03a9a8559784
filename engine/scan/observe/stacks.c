/*
 * Stacks that somebody dumped (py-spy, faulthandler, gdb, ray): where each process waits, and whether one of them stands elsewhere than the
 * others, which is what keeps a job from going on.
 */
#include <ctype.h>
#include <string.h>

#include "scan/observe/stall.h"

#define FRAMES 14    /* of a stack that are looked at, innermost first */
#define MANY_ALIKE 3 /* so many at one place, and one elsewhere, tell even where the place is unknown */

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
                                          {"destroy_process_group", WAIT_END},
                                          {"_shutdown_backend", WAIT_END},
                                          {"distributed_c10d.py", WAIT_COLLECTIVE},
                                          {"deepspeed/comm/torch.py", WAIT_COLLECTIVE},
                                          {"__all_gather_params", WAIT_COLLECTIVE},
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
                                          {"filelock/", WAIT_LOCK},
                                          {"fasteners/", WAIT_LOCK},
                                          {"portalocker/", WAIT_LOCK},
                                          {"wandb/sdk", WAIT_TRACKER},
                                          {"mlflow/", WAIT_TRACKER},
                                          {"comet_ml/", WAIT_TRACKER},
                                          {"clearml/", WAIT_TRACKER},
                                          {"neptune/", WAIT_TRACKER},
                                          {"swanlab/", WAIT_TRACKER},
                                          {"StreamSynchronize", WAIT_DEVICE},
                                          {"DeviceSynchronize", WAIT_DEVICE},
                                          {"EventSynchronize", WAIT_DEVICE},
                                          {"synchronize (torch/cuda", WAIT_DEVICE},
                                          {"autograd/graph.py", WAIT_DEVICE},
                                          {"autograd/__init__.py", WAIT_DEVICE}};

static void count_position(struct observe_stacks *stacks, uint64_t position)
{
    unsigned i = 0;
    while (i < stacks->position_count && stacks->positions[i] != position)
        i++;
    if (i == STACK_POSITIONS_MAX)
        return;
    if (i == stacks->position_count) {
        stacks->positions[stacks->position_count++] = position;
        stacks->at_position[i] = 0;
    }
    stacks->at_position[i]++;
}

static void close_stack(struct observe_stacks *stacks)
{
    if (stacks->frames && stacks->waits != WAIT_NONE)
        stacks->stacks[stacks->waits]++;
    if (stacks->frames && stacks->read && stacks->comparable)
        count_position(stacks, stacks->position);
    stacks->frames = stacks->read = 0;
    stacks->waits = WAIT_NONE;
    stacks->last_function = 0;
}

static void open_stack(struct observe_stacks *stacks, bool headed, bool comparable)
{
    close_stack(stacks);
    stacks->frames = FRAMES + 1;
    stacks->headed = headed;
    stacks->comparable = comparable;
    stacks->position = OBSERVE_HASH;
}

/* "Thread 0x7F.. (idle): "MainThread"", "Thread 1 (Thread 0x.. (LWP 4711)):", "Current thread 0x.. (most recent call first):" */
static bool opens_stack(const char *text)
{
    return (!strncmp(text, "Thread ", 7) && (strstr(text, "MainThread") || strstr(text, "(LWP ") || strstr(text, "call first"))) ||
           (!strncmp(text, "Current thread 0x", 17) && strstr(text, "call first"));
}

/* "    barrier (torch/distributed/distributed_c10d.py:4811)", also behind the number that grep(1) puts before a line. Length of
 * "barrier (torch/distributed/distributed_c10d.py", 0: no such frame. `text` gets where it begins. */
static size_t bare_frame(const char **text)
{
    const char *p = *text + strspn(*text, " ");
    size_t digits = strspn(p, "0123456789");
    if (digits && digits < 4 && p[digits] == ':')
        p += digits + 1 + strspn(p + digits + 1, " ");
    size_t length = strlen(p), name = strcspn(p, " ");
    const char *open = strstr(p, " ("), *colon = strrchr(p, ':');
    if (length < 8 || p[length - 1] != ')' || !open || open != p + name || !colon || colon < open + 5 ||
        strncmp(colon - 3, ".py", 3) != 0 || strspn(colon + 1, "0123456789") != length - (size_t)(colon + 1 - p) - 1)
        return 0;
    *text = p;
    return (size_t)(colon - p);
}

static void read_frame(struct observe_stacks *stacks, const char *frame)
{
    stacks->frames--;
    stacks->position = observe_hash(stacks->position, frame, strlen(frame));
    /* A wrapped model that waits itself, not the model inside of it, exchanges buffers or gradients. */
    if (!stacks->read++ && strstr(frame, "torch/nn/parallel/distributed.py"))
        stacks->waits = WAIT_COLLECTIVE;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(frame, marks[i].text)) {
            if (stacks->waits == WAIT_NONE || (marks[i].place == WAIT_MEETING && stacks->waits == WAIT_COLLECTIVE) ||
                (marks[i].place == WAIT_END && stacks->waits == WAIT_COLLECTIVE) ||
                (marks[i].place == WAIT_COLLECTIVE && stacks->waits == WAIT_DEVICE))
                stacks->waits = marks[i].place;
            break;
        }
}

/* "$ gdb -p 4127 -batch -ex bt", "$ pstack 4127": the process runs, so its stack tells where it waits; that of a core does not. */
static bool attaches(const char *text)
{
    return strstr(text, "pstack ") || strstr(text, "eu-stack -p") ||
           (strstr(text, "gdb ") && (strstr(text, " -p ") || strstr(text, "attach")));
}

bool stacks_line(struct observe_stacks *stacks, const char *text, const struct place *place)
{
    if (*text == '$')
        stacks->attached = attaches(text);
    if (stacks->attached && !strncmp(text, "#0 ", 3) && (!stacks->frames || stacks->read))
        open_stack(stacks, true, false);
    if (opens_stack(text)) {
        open_stack(stacks, true, strstr(text, "MainThread") != NULL);
        stacks->at = *place;
        return true;
    }
    if (strstr(text, "ray::IDLE")) { /* `ray stack`: a worker that has left its task */
        close_stack(stacks);
        count_position(stacks, 0);
        stacks->idle = true;
        return true;
    }
    const char *bare = text;
    size_t function = bare_frame(&bare);
    if (!stacks->frames && !function)
        return false;
    uint64_t hash = observe_hash(0, bare, function);
    if (!stacks->frames || (!stacks->headed && function && hash == stacks->last_function))
        open_stack(stacks, false, true); /* without headings; the same function again is that of the next process */
    const char *p = text + strspn(text, " ");
    bool frame = function || (stacks->headed && (*p == '#' || !strncmp(p, "File \"", 6) || (p > text && *p && p[strlen(p) - 1] == ')')));
    if (!frame || stacks->frames == 1) {
        close_stack(stacks);
        return frame;
    }
    stacks->last_function = hash;
    read_frame(stacks, function ? bare : p);
    stacks->at = *place;
    return true;
}

/* How many stand elsewhere than where most of them are. */
static unsigned elsewhere(const struct observe_stacks *stacks, unsigned *total)
{
    unsigned most = 0;
    *total = 0;
    for (unsigned i = 0; i < stacks->position_count; i++) {
        *total += stacks->at_position[i];
        most = stacks->at_position[i] > most ? stacks->at_position[i] : most;
    }
    bool waiting = stacks->stacks[WAIT_COLLECTIVE] || stacks->stacks[WAIT_MEETING] || (stacks->idle && stacks->stacks[WAIT_DEVICE]);
    return waiting || (stacks->position_count == 2 && most >= MANY_ALIKE) ? *total - most : 0;
}

void stacks_conclude(const struct observe_stacks *stacks, struct collect *collect)
{
    static const char *const places[] = {[WAIT_COLLECTIVE] = "in a collective",
                                         [WAIT_MEETING] = "for the other ranks to meet",
                                         [WAIT_END] = "for its group to be taken down",
                                         [WAIT_LOADER] = "for the data loader",
                                         [WAIT_DEVICE] = "for its GPU",
                                         [WAIT_FILE] = "for a file",
                                         [WAIT_LOCK] = "for the lock of a file",
                                         [WAIT_TRACKER] = "for the tracker of the experiment"};
    struct observe_stacks last = *stacks;
    unsigned total;
    close_stack(&last);
    for (int place = WAIT_NONE + 1; place < WAIT_PLACES; place++)
        if (last.stacks[place])
            observe_tell(collect, &stacks->at, "stack: a process waits %s", places[place]);
    unsigned others = elsewhere(&last, &total);
    if (others)
        observe_tell(collect, &stacks->at, "stack: %u of %u processes stand elsewhere than the rest", others, total);
}

/*
 * A job that stands still, seen from outside: ^C while it ran, a clock that went on without it, GPUs that spin before the first step, dead
 * processes that nobody reaped, processes that sleep, an end of the work that is not the end of the job.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scan/observe/stall.h"
#include "scan/words.h"

#define STILL 900.0 /* seconds without a line */
#define DAY 86400.0 /* beyond that the clocks are of different runs */

static enum job_stage stage_of(const struct line *line)
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
                 {"init method", STAGE_MEETING},
                 {"init_method", STAGE_MEETING},
                 {"add_node", STAGE_MEETING},
                 {"role=scheduler", STAGE_MEETING},
                 {"bootstrap", STAGE_MEETING},
                 {"torch distributed", STAGE_MEETING},
                 {"distributed service", STAGE_MEETING},
                 {"nccl info", STAGE_MEETING},
                 {"dist_url", STAGE_MEETING},
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
        if (line_find(line, words[i].word))
            return words[i].stage;
    return STAGE_UNKNOWN;
}

/* "$ nvidia-smi", "user@host:~/x$ py-spy dump": what stands behind the prompt; NULL for the job's own lines */
static const char *command_of(const char *text)
{
    if (!strncmp(text, "$ ", 2))
        return text + 2;
    const char *bracket = *text == '[' && isalpha((unsigned char)text[1]) ? strstr(text, "]$ ") : NULL;
    if (bracket && bracket - text < 60)
        return bracket + 3; /* "[user@node-0 ~]$ " */
    const char *p = strstr(text, "$ ");
    if (p && p > text && p - text < 24 && strcspn(text, " ") == (size_t)(p - text) + 1 && isalpha((unsigned char)*text))
        return p + 2; /* "node1$ " */
    return p && strchr(text, '@') && strchr(text, '@') < p && p - text < 80 && strchr(text, ':') ? p + 2 : NULL;
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

static bool stood_still(const struct observe_stall *stall)
{
    double still = stall->clock - stall->last_time;
    return stall->same_again || (still > STILL && still < DAY);
}

static void read_command(struct observe_stall *stall, const char *command)
{
    /* Whatever starts no job looks at something, or prepares. */
    static const char *const starts[] = {"python",  "torchrun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "accelerate",
                                         "srun",    "sbatch",   "bash ",  "sh ",     "./",         "docker",    "ray job",
                                         "make",    "composer", "train",  "launch",  "yolo ",      "llama",     "swift",
                                         "kubectl", "apply -f", "jsrun",  "aprun",   "nohup ",     "time "};
    static const char *const looks[] = {"nvidia-smi", "watch",       "tail",   "top",    "htop",     "ps ",          "date",
                                        "py-spy",     "sudo py-spy", "gdb",    "strace", "squeue",   "free",         "dmesg",
                                        "cat",        "kill",        "uptime", "sleep",  "netstat",  "ss ",          "ls",
                                        "du",         "df",          "pstack", "nvtop",  "gpustat",  "echo",         "grep",
                                        "wc",         "pgrep",       "for ",   "lsof",   "sed",      "head",         "stat ",
                                        "iostat",     "ray s",       "mount",  "sar",    "scontrol", "srun --jobid", "srun --overlap",
                                        "rocm-smi",   "iftop",       "ssh ",   "sudo ",  "yarn ",    "awk"};
    bool starting = false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        starting = starting || strstr(command, starts[i]);
    stall->watching = !starting;
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        stall->watching = stall->watching || !strncmp(command, looks[i], strlen(looks[i]));
    stall->asked_time = !strncmp(command, "date", 4);
    stall->asked_processes = strstr(command, "ps ") != NULL;
    stall->behind_prompt = stall->watching;
    stall->begun = stall->begun || starting;
    if (!stall->watching) { /* another run: often with the change that helped */
        if (stood_still(stall) && !stall->done) {
            stall->earlier = until(stall);
            stall->earlier_at = stall->at;
        }
        stall->stage = STAGE_UNKNOWN;
        stall->moved = stall->failed = stall->interrupted = stall->same_again = stall->done = stall->stopped = false;
        stall->last_time = stall->clock = NAN;
    }
}

/* "iteration     2000/    2000", " 100%|##########| 990/990 [", "done training in 162 s": the last of the work */
static bool is_last(const struct line *line, bool progress)
{
    const char *text = line->text;
    static const char *const words[] = {"done training",         "finished training", "training finished",     "training is finished",
                                        "training complete",     "training done",     "`Trainer.fit` stopped", "saving final",
                                        "last_model_checkpoint", "wandb: Synced"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (line_find(line, words[i]))
            return true;
    for (const char *slash = progress ? strchr(text, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
        const char *begin = slash, *total = slash + 1 + strspn(slash + 1, " ");
        while (begin > text && isdigit((unsigned char)begin[-1]))
            begin--;
        size_t digits = strspn(total, "0123456789");
        if (digits > 1 && digits == (size_t)(slash - begin) && !strncmp(begin, total, digits) && !strcasestr(text, "epoch"))
            return true;
    }
    return false;
}

/* A row of ps(1) that shows a job's process: in which state, and for what it waits. */
static bool read_process(struct observe_stall *stall, const char *text, const struct place *place)
{
    if (!stall->asked_processes || !isdigit((unsigned char)text[strspn(text, " ")]) || (!strstr(text, "python") && !strstr(text, ".py")))
        return false;
    static const char *const states = "RSDZTI";
    char state = 0;
    bool rests = strstr(text, " 0.0 ") || strstr(text, "futex_") || strstr(text, "pipe_") || strstr(text, "poll_");
    for (const char *p = text; *p && !state; p += strcspn(p, " ")) {
        p += strspn(p, " ");
        if (*p && strchr(states, *p) && strcspn(p, " ") == 1 + strspn(p + 1, "<NLsl+"))
            state = *p;
    }
    if (!state)
        return false;
    stall->listed++;
    stall->sleeping += state == 'S' && rests;
    stall->running += state == 'R';
    stall->listed_at = *place;
    return true;
}

#define REMARK_INDENT 3

/* "(still here after an hour)", "<- nothing for 3 h", "-- silence --": a remark of somebody who waits. In which stage, the lines before tell. */
static bool is_remark(const char *text, size_t length)
{
    static const char *const words[] = {"still here",
                                        "still there",
                                        "still that line",
                                        "nothing more",
                                        "nothing for",
                                        "no more output",
                                        "no line more",
                                        "no line after",
                                        "(stands",
                                        "no output",
                                        "no further",
                                        "print nothing",
                                        "prints nothing",
                                        "processes stay",
                                        "processes remain",
                                        "(stuck",
                                        "(hangs",
                                        "(hang)",
                                        "(hung",
                                        "silence --",
                                        "stays so",
                                        "stays like",
                                        "stay like this",
                                        "stays here",
                                        "same picture",
                                        "not touched",
                                        "not move any",
                                        "does not move",
                                        "nothing happens",
                                        "(freezes",
                                        "(frozen",
                                        "prompt is not back",
                                        "prompt does not come",
                                        "is printed)",
                                        "is printed,",
                                        "is ever reported",
                                        "also hangs",
                                        "stands here",
                                        "stops here",
                                        "sits here",
                                        "waits here",
                                        "last line after",
                                        "still the last line",
                                        "no loss after",
                                        "no loss is printed",
                                        "no progress any more"};
    const char *p = text + strspn(text, " "), *bracket = strstr(text, "... (");
    if (!bracket && p - text > REMARK_INDENT) /* a comment within a program, a bracket that goes on in a text */
        return false;
    p = bracket ? bracket + 4 : p;
    if (!*p || !strchr("(#<[-.", *p) || length > 160)
        return false;
    if (*p == '[' && text[length - 1] != ']') /* "[LightGBM] [Warning] No further splits", a program's own heading */
        return false;
    if (*p == '(' && !strchr(p, ')'))
        return false;
    if (*p == '<' && isalpha((unsigned char)p[1]) && (text[length - 1] != '>' || strstr(p, "</"))) /* a page of a manual */
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(p, words[i]))
            return true;
    return false;
}

static bool is_failure(const char *text)
{
    struct span type, message;
    if (!exception_read(text, false, &type, &message))
        return false;
    char name[160];
    (void)snprintf(name, sizeof name, "%.*s", (int)type.length, type.text);
    return exception_role(name, message.text) == ROLE_INITIATING;
}

/* The job's own lines: how far it has come. */
static void read_job(struct observe_stall *stall, const struct line *line, const struct place *place, bool progress)
{
    bool first_step = strstr(line->text, " 0/") || strstr(line->text, "|0/") || strstr(line->text, "<?");
    enum job_stage stage = progress ? STAGE_TRAINING : stage_of(line);
    bool announced = line_find(line, "start") || line_find(line, "begin");
    stall->moved = stall->moved || (progress && !first_step && !announced && stage_of(line) != STAGE_PREPARING);
    stall->done = is_last(line, progress) || (stall->done && !progress);
    stall->stage = stage != STAGE_UNKNOWN ? stage : stall->stage;
    stall->last_time = isnan(line->time) ? stall->last_time : line->time;
    stall->last_step = progress ? observe_hash(OBSERVE_HASH, line->text, line->length) : stall->last_step;
    stall->failed = stall->failed || is_failure(line->text);
    stall->interrupted = stall->interrupted && !stall->moved;
    stall->at = stall->interrupted ? stall->at : *place;
}

/* "[ssh] <defunct>": a launcher's errand that has ended, and no worker. */
static bool is_errand(const char *text)
{
    static const char *const errands[] = {"[ssh]", "[sh]", "[bash]", "[sshd]", "[sleep]", "[tee]", "[srun]"};
    for (size_t i = 0; i < sizeof errands / sizeof *errands; i++)
        if (strstr(text, errands[i]))
            return true;
    return false;
}

void stall_line(struct observe_stall *stall, const struct line *line, const struct place *place, bool progress)
{
    const char *command = command_of(line->bare);
    if (strstr(line->text, "<defunct>")) {
        if (is_errand(line->text))
            return;
        stall->defunct++;
        stall->defunct_at = *place;
        return;
    }
    if (read_process(stall, line->text, place))
        return;
    if (is_remark(line->text, line->length) && (stall->begun || stall->moved || stall->done || stall->stage != STAGE_UNKNOWN)) {
        stall->same_again = true;
        return;
    }
    /* Who stops a job that has made steps may just have seen enough. */
    if (!strncmp(line->text, "^C", 2) || !strcmp(line->text, "KeyboardInterrupt")) {
        stall->stopped = stall->stopped || !stall->watching;
        stall->interrupted = stall->interrupted || (!stall->watching && !stall->moved && !stall->failed && stall->stage != STAGE_UNKNOWN);
    } else if (command) {
        read_command(stall, command);
    } else if (stall->asked_time && !isnan(line->time)) {
        stall->clock = line->time;
        stall->asked_time = false;
    } else if (stall->behind_prompt && progress && observe_hash(OBSERVE_HASH, line->text, line->length) == stall->last_step) {
        stall->same_again = true; /* tail(1), some time later */
    } else if (!stall->behind_prompt && line->length && (progress || !stall->interrupted)) {
        read_job(stall, line, place, progress);
    }
}

/* Where the job stood when somebody remarked on it and had made no step, be it the run before the last; NULL: it did not. */
static const char *stood_before_step(const struct observe_stall *stall)
{
    if (stall->same_again)
        return !stall->moved && !stall->done && stall->stage != STAGE_UNKNOWN ? until(stall) : NULL;
    return stall->earlier && stall->moved && strncmp(stall->earlier, "in the midst", 12) != 0 ? stall->earlier : NULL;
}

void stall_conclude(const struct observe_stall *stall, const struct observe_gpus *gpus, struct collect *collect)
{
    double still = stall->clock - stall->last_time;
    if (stall->sleeping > 0 && stall->listed > 1 && !stall->running)
        observe_tell(collect, &stall->listed_at, "processes: the %u of the job all sleep", stall->listed);
    if (stall->defunct && stall->stopped && stall->moved)
        observe_tell(collect, &stall->defunct_at, "processes: %u are left, dead or not, of a job that was stopped", stall->defunct);
    else if (stall->defunct)
        observe_tell(collect, &stall->defunct_at, "processes: %u are dead (defunct) while the job goes on waiting", stall->defunct);
    if (stall->done && still > STILL && still < DAY)
        observe_tell(collect, &stall->at, "stands still after its work is done: no line for %.0f minutes", still / 60);
    else if (stall->done && stall->same_again)
        observe_tell(collect, &stall->at, "stands still after its work is done: no line for a while");
    else if (still > STILL && still < DAY)
        observe_tell(collect, &stall->at, "stands still %s: no line for %.0f minutes", until(stall), still / 60);
    else if (stall->same_again)
        observe_tell(collect, &stall->at, "stands still %s: no line for a while", until(stall));
    else if (stall->interrupted)
        observe_tell(collect, &stall->at, "stands still %s: interrupted by hand", until(stall));
    else if (!stall->moved && stall->stage != STAGE_UNKNOWN && gpus_all_busy(gpus))
        observe_tell(collect, &stall->at, "stands still %s: all GPUs at full utilisation", until(stall));
    else if (stall->earlier)
        observe_tell(collect, &stall->earlier_at, "stands still %s: no line for a while", stall->earlier);
    const char *before = stood_before_step(stall);
    if (before && gpus_all_busy(gpus))
        observe_tell(collect, stall->same_again ? &stall->at : &stall->earlier_at, "stands still %s: all GPUs at full utilisation", before);
}

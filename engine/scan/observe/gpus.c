/* Tables of GPUs as nvidia-smi and gpustat print them: which ones work, whose processes are where. Only the last table counts: the ones
 * before it may be of a machine at rest. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/commands.h"
#include "scan/observe/observer.h"

#define BUSY 20.0            /* per cent: surely computing, or spinning in a collective */
#define SPINNING 95.0        /* per cent */
#define IDLE 5.0             /* per cent */
#define HELD 300.0           /* MiB: a context and a model, not a desktop */
#define NEXT_TO_NOTHING 0.02 /* of what the fullest GPU holds */
#define COLD 0.42            /* of the power limit, at full utilisation: no arithmetic goes on */
#define EXTRA 3.0            /* a process's own GPU holds that many times what its stray contexts hold */

#define HIGH 60.0 /* per cent: at work, where samples are compared */
#define LOW 15.0
#define BURST_SAMPLES 5
#define BURST_LOW 0.3 /* of the samples */

/* A table is over: do its GPUs work now, or rest? */
static void close_table(struct observe_gpus *gpus)
{
    unsigned high = 0, low = 0;
    for (unsigned i = 0; i < gpus->row_count; i++) {
        high += gpus->rows[i].util >= HIGH;
        low += gpus->rows[i].util <= LOW;
    }
    gpus->listed = gpus->fresh = false;
    gpus->row_count = gpus->process_count = 0;
    if (!high == !low)
        return;
    gpus->samples++;
    gpus->high += high > 0;
    gpus->low += low > 0;
    gpus->turns += gpus->was_sampled && gpus->last_high != (high > 0);
    gpus->last_high = high > 0;
    gpus->was_sampled = true;
}

struct gpu_row *gpus_row(struct observe_gpus *gpus, int index, const struct place *place)
{
    bool again = gpus->listed || gpus->fresh;
    for (unsigned i = 0; i < gpus->row_count; i++)
        again = again || gpus->rows[i].index == index;
    if (again)
        close_table(gpus);
    if (gpus->row_count == GPUS_MAX)
        return NULL;
    gpus->at = *place;
    struct gpu_row *row = &gpus->rows[gpus->row_count];
    *row = (struct gpu_row){index < 0 ? (int)gpus->row_count : index, NAN, NAN, NAN, NAN, NAN};
    gpus->row_count++;
    return row;
}

void gpus_process(struct observe_gpus *gpus, int gpu, long pid, double used, const struct place *place)
{
    if (gpus->process_count == GPU_PROCESSES_MAX)
        return;
    gpus->processes[gpus->process_count++] = (struct gpu_process){gpu, pid, used};
    gpus->at = *place;
}

/* "| N/A   41C    P0    95W / 400W |  28471MiB / 81920MiB |    100%      Default |": what stands before and behind a slash with a unit */
static void fraction(const char *text, const char *mark, double *above, double *below)
{
    const char *p = strstr(text, mark), *begin = p;
    if (!p)
        return;
    while (begin > text && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.'))
        begin--;
    if (begin < p)
        *above = strtod(begin, NULL);
    p += strlen(mark);
    p += strspn(p, " ");
    if (isdigit((unsigned char)*p))
        *below = strtod(p, NULL);
}

static double percent(const char *text)
{
    const char *p = text ? strchr(text, '%') : NULL, *begin = p;
    while (begin && begin > text && begin[-1] == ' ')
        begin--;
    const char *end = begin;
    while (begin && begin > text && isdigit((unsigned char)begin[-1]))
        begin--;
    return begin && begin < end ? strtod(begin, NULL) : NAN;
}

static bool table_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    const char *p = text + 1 + strspn(text + 1, " ");
    int index = -1;
    if (isdigit((unsigned char)*p) && (strchr(p, ':') || strstr(p, "MiB /"))) {
        char *end;
        long value = strtol(p, &end, 10);
        if (value >= 0 && value < 1024 && *end == ' ' && isalpha((unsigned char)end[strspn(end, " ")]))
            index = (int)value;
    }
    const char *memory = strstr(text, "MiB /"), *bar = memory ? strchr(memory, '|') : NULL;
    if (!bar) {
        gpus->pending = index;
        return index >= 0;
    }
    /* Of what grep(1) leaves, the second halves of the rows, or tables with one line a GPU. */
    struct gpu_row *row = isnan(percent(bar)) ? NULL : gpus_row(gpus, index >= 0 ? index : gpus->pending, place);
    gpus->pending = -1;
    if (!row)
        return true;
    fraction(text, "MiB /", &row->used, &row->total);
    fraction(text, "W /", &row->power, &row->cap);
    row->util = percent(bar);
    return true;
}

/* "|    0   N/A  N/A     41206      C   python3.8      531MiB |", also without the instance columns of older drivers */
static void process_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    char copy[200], *save = NULL, *words[10];
    unsigned count = 0;
    (void)snprintf(copy, sizeof copy, "%s", text + 1);
    for (char *word = strtok_r(copy, " |", &save); word && count < 10; word = strtok_r(NULL, " |", &save))
        words[count++] = word;
    unsigned pid_at = count > 3 && !strcmp(words[1], "N/A") ? 3 : 1;
    if (count < pid_at + 4 || !isdigit((unsigned char)words[0][0]) || !isdigit((unsigned char)words[pid_at][0]) ||
        (strcmp(words[pid_at + 1], "C") != 0 && strcmp(words[pid_at + 1], "M+C") != 0))
        return;
    const char *memory = words[count - 1];
    if (!strstr(memory, "MiB"))
        return;
    gpus_process(gpus, (int)strtol(words[0], NULL, 10), strtol(words[pid_at], NULL, 10), strtod(memory, NULL), place);
    gpus->listed = true;
}

/* "  0    40211     C    77.2GiB    python main.py": the same without bars */
static bool bare_process_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    int gpu;
    long pid;
    double used;
    char type[4], unit[4];
    if (sscanf(text, " %4d %18ld %3s %lf%3s", &gpu, &pid, type, &used, unit) != 5 || strcmp(type, "C") != 0 || gpu < 0 || pid < 2 ||
        (strcmp(unit, "MiB") != 0 && strcmp(unit, "GiB") != 0))
        return false;
    gpus_process(gpus, gpu, pid, *unit == 'G' ? used * 1024 : used, place);
    gpus->listed = true;
    return true;
}

/* "CUDA_VISIBLE_DEVICES=4,5", and as a setting "CUDA_VISIBLE_DEVICES: 4,5" */
static void read_wanted(struct observe_gpus *gpus, const char *text)
{
    const char *p = strstr(text, "CUDA_VISIBLE_DEVICES");
    if (!p)
        return;
    p += strlen("CUDA_VISIBLE_DEVICES");
    for (p += strspn(p, " =:'\"["); isdigit((unsigned char)*p);) {
        char *end;
        unsigned long index = strtoul(p, &end, 10);
        gpus->wanted |= index < 32 ? UINT32_C(1) << index : 0;
        p = *end == ',' ? end + 1 + strspn(end + 1, " ") : end;
        if (p == end)
            break;
    }
}

/* GPUs that a command names by number: "--gpu=2,3", "Using GPUs 2,3". Where CUDA is told which ones it sees, numbers mean others. */
static void read_asked(struct observe_gpus *gpus, const char *text)
{
    read_wanted(gpus, text);
    static const char *const names[] = {"--gpu=", "--gpus=", "--gpu ", "--gpus ", "--gpu_ids ", "--gpu-ids ", "--device=", "GPUs "};
    if (strstr(text, "CUDA_VISIBLE_DEVICES=")) {
        unsigned count = commands_listed(text, "CUDA_VISIBLE_DEVICES", true);
        gpus->asked = 1;
        gpus->visible = count > gpus->visible ? count : gpus->visible;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names && gpus->asked != 1; i++) {
        const char *p = strstr(text, names[i]);
        uint32_t asked = 0;
        for (p = p ? p + strlen(names[i]) : NULL; p && isdigit((unsigned char)*p);) {
            char *end;
            long index = strtol(p, &end, 10);
            asked |= index < 32 ? UINT32_C(1) << index : 0;
            p = *end == ',' ? end + 1 : NULL;
        }
        if (asked & (asked - 1)) /* a single number may be how many */
            gpus->asked = asked;
    }
    static const char *const single[] = {"--gpu_id ", "--gpu_id=", "--gpu-id ", "--gpu-id=", "--device cuda:", "--device=cuda:"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        const char *p = strstr(text, single[i]);
        unsigned long index = p && isdigit((unsigned char)p[strlen(single[i])]) ? strtoul(p + strlen(single[i]), NULL, 10) : 32;
        gpus->given |= index < 32 ? UINT32_C(1) << index : 0;
    }
}

void gpus_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    const char *begin = text + strspn(text, " ");
    if (strstr(text, "gpu") || strstr(text, "GPU") || strstr(text, "CUDA_VIS") || strstr(text, "cuda:"))
        read_asked(gpus, text);
    if (strstr(text, "nvidia-smi") && !strstr(text, "--query") && strchr(text, '$'))
        gpus->fresh = true;
    if (*text == '|') {
        if (!table_line(gpus, text, place) && strstr(text, "MiB"))
            process_line(gpus, text, place);
    } else if (*text == '[' && isdigit((unsigned char)text[1])) {
        gpustat_line(gpus, text, place);
    } else if (isdigit((unsigned char)*begin) && bare_process_line(gpus, text, place)) {
        return;
    } else {
        (void)gpu_list_line(gpus, text, place);
    }
}

/* ---- what a table says ---- */

struct tally {
    unsigned busy, spinning, idle, held, idle_held, unknown, cold, powered;
    int a_busy, an_idle;
    uint32_t at_work;
};

static struct tally tally_of(const struct observe_gpus *gpus)
{
    struct tally tally = {.a_busy = -1, .an_idle = -1};
    for (unsigned i = 0; i < gpus->row_count; i++) {
        const struct gpu_row *row = &gpus->rows[i];
        bool held = row->used >= HELD, idle = row->util <= IDLE;
        tally.busy += row->util >= BUSY;
        tally.spinning += row->util >= SPINNING;
        tally.idle += idle;
        tally.held += held;
        tally.idle_held += idle && held;
        tally.unknown += isnan(row->used) ? 1U : 0U;
        tally.at_work |= row->util >= BUSY && row->index < 32 ? UINT32_C(1) << row->index : 0;
        tally.powered += isnan(row->power) ? 0U : 1U;
        /* Where the limit is not told: less than large GPUs draw at work, more than small ones can. */
        bool cold = row->power <= COLD * row->cap || (isnan(row->cap) && row->power < 125 && row->power > 80);
        tally.cold += cold && row->util >= SPINNING;
        tally.a_busy = row->util >= BUSY ? row->index : tally.a_busy;
        tally.an_idle = idle && !(row->used < HELD) ? row->index : tally.an_idle;
    }
    return tally;
}

bool gpus_all_busy(const struct observe_gpus *gpus)
{
    struct tally tally = tally_of(gpus);
    return gpus->row_count > 1 && tally.spinning == gpus->row_count && (tally.held == gpus->row_count || tally.unknown == gpus->row_count);
}

/* Two GPUs with the same model in them, of which one spins and the other rests: replicas, one of which waits for the other. A library that
 * reserves whatever it sees fills both to the brim. */
static bool one_waits(const struct observe_gpus *gpus, const struct tally *tally)
{
    const struct gpu_row *a = &gpus->rows[0], *b = &gpus->rows[1];
    return gpus->row_count == 2 && tally->spinning == 1 && tally->idle_held == 1 && fmax(a->util, b->util) >= 99 &&
           fabs(a->used - b->used) < 0.1 * a->used && a->used < 0.9 * a->total && b->used < 0.9 * b->total;
}

/* Do others than the GPUs that were asked for work? Neither by chance nor in part. */
static bool others_work(const struct observe_gpus *gpus, const struct tally *tally)
{
    return gpus->asked & (gpus->asked - 1) && tally->at_work && !(tally->at_work & gpus->asked) &&
           __builtin_popcount(tally->at_work) == __builtin_popcount(gpus->asked) && tally->busy + tally->idle == gpus->row_count;
}

/* Do the GPUs that CUDA was to see rest, all of which the table shows, while as many others work? */
static bool wanted_rest(const struct observe_gpus *gpus, const struct tally *tally)
{
    uint32_t shown = 0;
    for (unsigned i = 0; i < gpus->row_count; i++)
        shown |= gpus->rows[i].index >= 0 && gpus->rows[i].index < 32 ? UINT32_C(1) << gpus->rows[i].index : 0;
    return gpus->wanted && (gpus->wanted & shown) == gpus->wanted && tally->at_work && !(tally->at_work & gpus->wanted) &&
           __builtin_popcount(tally->at_work) == __builtin_popcount(gpus->wanted) && tally->busy + tally->idle == gpus->row_count &&
           !tally->idle_held;
}

/* Do all GPUs of the machine work, among them the few that were asked for? */
static bool more_work(const struct observe_gpus *gpus, const struct tally *tally)
{
    uint32_t asked = gpus->asked;
    return asked & (asked - 1) && (tally->at_work & asked) == asked && tally->busy == gpus->row_count &&
           (unsigned)__builtin_popcount(asked) * 2 <= gpus->row_count;
}

static void tell_use(const struct observe_gpus *gpus, unsigned started, struct collect *collect)
{
    struct tally tally = tally_of(gpus);
    unsigned count = gpus->row_count;
    if (count < 2)
        return;
    if (others_work(gpus, &tally) || wanted_rest(gpus, &tally))
        observe_tell(collect, &gpus->at, "GPU table: others than the GPUs that were asked for work");
    else if (more_work(gpus, &tally))
        observe_tell(collect, &gpus->at, "GPU table: more than the GPUs that were asked for work");
    else if (one_waits(gpus, &tally))
        observe_tell(collect, &gpus->at, "GPU table: 1 GPU at full utilisation waits for GPU %d, which stands at 0 %%", tally.an_idle);
    else if (tally.busy == 1 && tally.idle == count - 1 && tally.idle_held > 0)
        observe_tell(collect, &gpus->at, "GPU table: GPU %d alone works, %u others hold memory and stand at 0 %%", tally.a_busy,
                     tally.idle_held);
    else if (tally.busy == 1 && tally.idle == count - 1 && started > 1)
        observe_tell(collect, &gpus->at, "GPU table: GPU %d alone is in use though %u processes or GPUs were asked for", tally.a_busy,
                     started);
    else if (tally.spinning == count && tally.powered == count && tally.cold == count)
        observe_tell(collect, &gpus->at, "GPU table: all %u GPUs show full utilisation at little power: they wait in a collective", count);
    else if (tally.spinning >= 2 && tally.spinning + tally.idle == count && tally.idle == 1 && started != tally.spinning &&
             (tally.idle_held == 1 || tally.unknown == count))
        observe_tell(collect, &gpus->at, "GPU table: %u GPUs at full utilisation wait for GPU %d, which stands at 0 %%", tally.spinning,
                     tally.an_idle);
    else if (tally.idle_held >= 2 && tally.spinning > 2 * tally.idle_held && tally.spinning + tally.idle_held == count)
        observe_tell(collect, &gpus->at, "GPU table: %u GPUs at full utilisation wait for %u GPUs, which stand at 0 %%", tally.spinning,
                     tally.idle_held);
    else if (tally.idle_held == count)
        observe_tell(collect, &gpus->at, "GPU table: all %u GPUs hold memory and stand at 0 %%", count);
}

/* Does this process hold much more on another GPU? */
static bool is_stray(const struct observe_gpus *gpus, const struct gpu_process *process)
{
    for (unsigned i = 0; i < gpus->process_count; i++) {
        const struct gpu_process *other = &gpus->processes[i];
        if (other->pid == process->pid && other->gpu != process->gpu && other->used >= EXTRA * process->used)
            return true;
    }
    return false;
}

static bool is_first_of_pid(const struct observe_gpus *gpus, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (gpus->processes[k].pid == gpus->processes[i].pid)
            return false;
    return true;
}

static unsigned gpus_of(const struct observe_gpus *gpus, long pid)
{
    unsigned count = 0;
    for (unsigned i = 0; i < gpus->process_count; i++)
        count += gpus->processes[i].pid == pid;
    return count;
}

/* One GPU holds memory, the others next to nothing: what a driver keeps on a large card is more than some models need. */
static bool one_gpu_holds_all(const struct observe_gpus *gpus)
{
    double most = 0, second = 0;
    for (unsigned i = 0; i < gpus->row_count; i++) {
        double used = gpus->rows[i].used;
        second = used > most ? most : fmax(second, used);
        most = fmax(most, used);
    }
    return most >= HELD && second < fmax(HELD, most * NEXT_TO_NOTHING);
}

/* One process holds a good part of what it holds at most on more GPUs than it was to see. */
static unsigned beyond_visible(const struct observe_gpus *gpus)
{
    unsigned most = 0;
    for (unsigned i = 0; i < gpus->process_count; i++) {
        double largest = 0;
        unsigned held = 0;
        for (unsigned k = 0; k < gpus->process_count; k++)
            if (gpus->processes[k].pid == gpus->processes[i].pid)
                largest = fmax(largest, gpus->processes[k].used);
        for (unsigned k = 0; k < gpus->process_count; k++)
            held += gpus->processes[k].pid == gpus->processes[i].pid && gpus->processes[k].used >= fmax(HELD, largest / 2);
        most = held > most ? held : most;
    }
    return gpus->visible && most > gpus->visible ? most : 0;
}

/* Where each process should have one GPU of its own. One process on all GPUs is DataParallel, or a library that reserves all it sees. */
static bool tell_processes(const struct observe_gpus *gpus, unsigned started, struct collect *collect)
{
    unsigned pids = 0, stray = 0, everywhere = 0, places = 0, shared = 0, guests = 0, crowded = 0;
    unsigned on_gpu[GPUS_MAX] = {0}, guests_of[GPUS_MAX] = {0};
    int stray_gpu = -1, host = -1;
    for (unsigned i = 0; i < gpus->process_count; i++) {
        const struct gpu_process *process = &gpus->processes[i];
        bool first = is_first_of_pid(gpus, i);
        pids += first;
        everywhere += first && gpus_of(gpus, process->pid) > 1;
        if (is_stray(gpus, process)) {
            stray++;
            stray_gpu = process->gpu;
        }
        if (process->gpu >= 0 && process->gpu < GPUS_MAX) {
            places += !on_gpu[process->gpu]++;
            shared += on_gpu[process->gpu] == 2;
            guests_of[process->gpu] += gpus_of(gpus, process->pid) > 1;
        }
    }
    for (int gpu = 0; gpu < GPUS_MAX; gpu++) {
        crowded += guests_of[gpu] > 1;
        host = guests_of[gpu] > guests ? gpu : host;
        guests = guests_of[gpu] > guests ? guests_of[gpu] : guests;
    }
    bool told = true;
    unsigned beyond = beyond_visible(gpus);
    if (beyond)
        observe_tell(collect, &gpus->at, "GPU table: one process is on %u GPUs though it was to see %u", beyond, gpus->visible);
    else if (guests > 1 && crowded == 1) /* whatever each holds there: a model loaded in the wrong place may be the larger part */
        observe_tell(collect, &gpus->at, "GPU table: %u of %u processes keep memory on GPU %d, too, besides that on their own", guests,
                     pids, host);
    else if (pids > 1 && stray > 0)
        observe_tell(collect, &gpus->at, "GPU table: %u of %u processes keep memory on GPU %d, too, besides that on their own", stray, pids,
                     stray_gpu);
    else if (pids > 1 && everywhere == pids)
        observe_tell(collect, &gpus->at, "GPU table: each of %u processes holds memory on several GPUs", pids);
    else if (pids > 1 && places == 1 && (gpus->row_count > 1 ? one_gpu_holds_all(gpus) : started > 1 || (gpus->given & (gpus->given - 1))))
        observe_tell(collect, &gpus->at, "GPU table: all %u processes are on GPU %d", pids, gpus->processes[0].gpu);
    else if (places > 1 && shared == places && pids >= 2 * places && !everywhere)
        observe_tell(collect, &gpus->at, "GPU table: %u processes share %u GPUs", pids, places);
    else
        told = false;
    return told;
}

/* Memory that is much larger on the first GPU than on all others, which agree with one another: one process drives them all and gathers
 * there. Where each GPU has a process of its own, a launcher's say, the first may well do more. */
static void tell_imbalance(const struct observe_gpus *gpus, bool launched, struct collect *collect)
{
    double least = INFINITY, most = 0;
    unsigned pids = 0;
    for (unsigned i = 0; i < gpus->process_count; i++)
        pids += is_first_of_pid(gpus, i);
    if (pids > 1 || (pids == 0 && launched))
        return;
    for (unsigned i = 1; i < gpus->row_count; i++) {
        least = fmin(least, gpus->rows[i].used);
        most = fmax(most, gpus->rows[i].used);
    }
    bool at_work = tally_of(gpus).busy > 1 || isnan(gpus->rows[0].util);
    if (gpus->row_count > 1 && least >= HELD && most <= 1.15 * least && gpus->rows[0].used >= 1.6 * most && at_work)
        observe_tell(collect, &gpus->at, "GPU table: GPU %d holds %.1f times the memory of each other GPU", gpus->rows[0].index,
                     gpus->rows[0].used / most);
}

void gpus_conclude(const struct observe_gpus *gpus, const struct observer *observer, struct collect *collect)
{
    struct observe_gpus over = *gpus;
    close_table(&over);
    tell_imbalance(gpus, observer->launched, collect);
    if (tell_processes(gpus, observer->started, collect))
        return;
    if (over.samples >= BURST_SAMPLES && over.turns > 1 && over.low >= BURST_LOW * over.samples)
        observe_tell(collect, &gpus->at, "GPU table: the GPUs work in bursts, %u of %u samples show them at rest", over.low, over.samples);
    else
        tell_use(gpus, observer->started > observer->visible ? observer->started : observer->visible, collect);
}

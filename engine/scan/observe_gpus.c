/* Tables of GPUs as nvidia-smi and gpustat print them: which ones work, whose processes are where. Only the last table counts: the ones
 * before it may be of a machine at rest. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe.h"

#define BUSY 20.0     /* per cent: surely computing, or spinning in a collective */
#define SPINNING 95.0 /* per cent */
#define IDLE 5.0      /* per cent */
#define HELD 300.0    /* MiB: a context and a model, not a desktop */
#define COLD 0.42     /* of the power limit, at full utilisation: no arithmetic goes on */
#define EXTRA 3.0     /* a process's own GPU holds that many times what its stray contexts hold */

static struct gpu_row *row_of(struct observe_gpus *gpus, int index, const struct place *place)
{
    bool again = false;
    for (unsigned i = 0; i < gpus->row_count; i++)
        again = again || gpus->rows[i].index == index;
    if (again || (gpus->row_count && gpus->process_count)) { /* a new table */
        gpus->row_count = 0;
        gpus->process_count = 0;
    }
    if (gpus->row_count == GPUS_MAX)
        return NULL;
    gpus->at = *place;
    struct gpu_row *row = &gpus->rows[gpus->row_count++];
    *row = (struct gpu_row){index, NAN, NAN, NAN, NAN, NAN};
    return row;
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
    if (isdigit((unsigned char)*p) && strchr(p, ':') && !strstr(p, "MiB")) {
        char *end;
        long index = strtol(p, &end, 10);
        if (index >= 0 && index < 1024 && *end == ' ' && isalpha((unsigned char)end[strspn(end, " ")])) {
            gpus->pending = (int)index;
            return true;
        }
    }
    if (gpus->pending >= 0 && strstr(text, "MiB /")) {
        struct gpu_row *row = row_of(gpus, gpus->pending, place);
        gpus->pending = -1;
        if (!row)
            return true;
        fraction(text, "MiB /", &row->used, &row->total);
        fraction(text, "W /", &row->power, &row->cap);
        const char *memory = strstr(text, "MiB /");
        row->util = percent(strchr(memory, '|'));
        return true;
    }
    return false;
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
        (strcmp(words[pid_at + 1], "C") != 0 && strcmp(words[pid_at + 1], "M+C") != 0) || gpus->process_count == GPU_PROCESSES_MAX)
        return;
    const char *memory = words[count - 1];
    if (!strstr(memory, "MiB"))
        return;
    gpus->processes[gpus->process_count++] =
        (struct gpu_process){(int)strtol(words[0], NULL, 10), strtol(words[pid_at], NULL, 10), strtod(memory, NULL)};
    gpus->at = *place;
}

/* `end`: where the list is over */
static void read_columns(struct observe_gpus *gpus, const char *text, const char *end)
{
    static const struct {
        const char *name;
        char letter;
    } known[] = {{"index", 'i'},        {"utilization.gpu", 'u'}, {"memory.used", 'm'},
                 {"memory.total", 't'}, {"power.draw", 'p'},      {"power.limit", 'l'}};
    gpus->column_count = 0;
    for (const char *p = text; p && p < end && gpus->column_count < GPU_COLUMNS_MAX; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        p += strspn(p, " ");
        char letter = '-';
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (!strncmp(p, known[i].name, strlen(known[i].name)))
                letter = known[i].letter;
        gpus->columns[gpus->column_count++] = letter;
    }
}

static void query_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    struct gpu_row read = {(int)gpus->row_count, NAN, NAN, NAN, NAN, NAN};
    unsigned column = 0;
    for (const char *p = text; p && column < gpus->column_count; column++) {
        p += strspn(p, " ");
        double value = isdigit((unsigned char)*p) ? strtod(p, NULL) : NAN;
        switch (gpus->columns[column]) {
        case 'i':
            read.index = value < 1024 ? (int)value : -1;
            break;
        case 'u':
            read.util = value;
            break;
        case 'm':
            read.used = value;
            break;
        case 't':
            read.total = value;
            break;
        case 'p':
            read.power = value;
            break;
        case 'l':
            read.cap = value;
            break;
        default:
            break;
        }
        p = strchr(p, ',');
        p = p ? p + 1 : NULL;
    }
    if (column != gpus->column_count || isnan(read.util)) {
        gpus->column_count = 0;
        return;
    }
    struct gpu_row *row = row_of(gpus, read.index, place);
    if (row)
        *row = read;
}

/* "[0] Tesla V100-SXM2-16GB | 45'C,  98 % |  1234 / 16160 MB | user(1000M)" */
static void gpustat_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    const char *heat = strstr(text, "'C,");
    char *end;
    long index = strtol(text + 1, &end, 10);
    if (!heat || *end != ']' || index < 0 || index > 1023)
        return;
    struct gpu_row *row = row_of(gpus, (int)index, place);
    if (!row)
        return;
    row->util = percent(heat);
    fraction(heat, " /", &row->used, &row->total);
}

void gpus_line(struct observe_gpus *gpus, const char *text, const struct place *place)
{
    if (*text == '|') {
        if (!table_line(gpus, text, place) && strstr(text, "MiB"))
            process_line(gpus, text, place);
    } else if (*text == '[' && isdigit((unsigned char)text[1])) {
        gpustat_line(gpus, text, place);
    } else if (strstr(text, "utilization.gpu") && strchr(text, ',')) {
        const char *query = strstr(text, "--query-gpu="); /* where no heading is asked for, the command itself is one */
        read_columns(gpus, query ? query + 12 : text, query ? query + 12 + strcspn(query + 12, " ") : text + strlen(text));
    } else if (gpus->column_count) {
        query_line(gpus, text, place);
    }
}

/* ---- what a table says ---- */

struct tally {
    unsigned busy, spinning, idle, held, idle_held, cold, powered;
    int a_busy, an_idle;
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
        tally.powered += isnan(row->power) ? 0U : 1U;
        /* Where the limit is not told: less than large GPUs draw at work, more than small ones can. */
        bool cold = row->power <= COLD * row->cap || (isnan(row->cap) && row->power < 125 && row->power > 80);
        tally.cold += cold && row->util >= SPINNING;
        tally.a_busy = row->util >= BUSY ? row->index : tally.a_busy;
        tally.an_idle = idle && held ? row->index : tally.an_idle;
    }
    return tally;
}

bool gpus_all_busy(const struct observe_gpus *gpus)
{
    struct tally tally = tally_of(gpus);
    return gpus->row_count > 1 && tally.spinning == gpus->row_count && tally.held == gpus->row_count;
}

static void tell_use(const struct observe_gpus *gpus, unsigned started, struct collect *collect)
{
    struct tally tally = tally_of(gpus);
    unsigned count = gpus->row_count;
    if (count < 2)
        return;
    if (tally.busy == 1 && tally.idle == count - 1 && tally.idle_held > 0)
        observe_tell(collect, &gpus->at, "GPU table: GPU %d alone works, %u others hold memory and stand at 0 %%", tally.a_busy,
                     tally.idle_held);
    else if (tally.busy == 1 && tally.idle == count - 1 && started > 1)
        observe_tell(collect, &gpus->at, "GPU table: GPU %d alone is in use though %u processes or GPUs were asked for", tally.a_busy,
                     started);
    else if (tally.spinning == count && tally.powered == count && tally.cold == count)
        observe_tell(collect, &gpus->at, "GPU table: all %u GPUs show full utilisation at little power: they wait in a collective", count);
    else if (tally.spinning >= 2 && tally.idle_held == 1 && tally.spinning + tally.idle_held == count)
        observe_tell(collect, &gpus->at, "GPU table: %u GPUs at full utilisation wait for GPU %d, which stands at 0 %%", tally.spinning,
                     tally.an_idle);
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

/* Where each process should have one GPU of its own. One process on all GPUs is DataParallel, or a library that reserves all it sees. */
static void tell_processes(const struct observe_gpus *gpus, unsigned started, struct collect *collect)
{
    unsigned pids = 0, stray = 0, everywhere = 0, places = 0, on_gpu[GPUS_MAX] = {0};
    int stray_gpu = -1;
    for (unsigned i = 0; i < gpus->process_count; i++) {
        const struct gpu_process *process = &gpus->processes[i];
        bool first = is_first_of_pid(gpus, i);
        pids += first;
        everywhere += first && gpus_of(gpus, process->pid) > 1;
        if (is_stray(gpus, process)) {
            stray++;
            stray_gpu = process->gpu;
        }
        if (process->gpu >= 0 && process->gpu < GPUS_MAX)
            places += !on_gpu[process->gpu]++;
    }
    if (pids > 1 && stray > 0)
        observe_tell(collect, &gpus->at, "GPU table: %u of %u processes keep memory on GPU %d, too, besides that on their own", stray, pids,
                     stray_gpu);
    else if (pids > 1 && everywhere == pids)
        observe_tell(collect, &gpus->at, "GPU table: each of %u processes holds memory on several GPUs", pids);
    else if (pids > 1 && places == 1 && (gpus->row_count > 1 ? tally_of(gpus).held == 1 : started > 1))
        observe_tell(collect, &gpus->at, "GPU table: all %u processes are on GPU %d", pids, gpus->processes[0].gpu);
}

/* Memory that is much larger on the first GPU than on all others, which agree with one another: one process drives them all and gathers
 * there. Where each GPU has a process of its own, a launcher's say, the first may well do more. */
static void tell_imbalance(const struct observe_gpus *gpus, unsigned started, struct collect *collect)
{
    double least = INFINITY, most = 0;
    unsigned pids = 0;
    for (unsigned i = 0; i < gpus->process_count; i++)
        pids += is_first_of_pid(gpus, i);
    if (pids > 1 || (pids == 0 && started > 1))
        return;
    for (unsigned i = 1; i < gpus->row_count; i++) {
        least = fmin(least, gpus->rows[i].used);
        most = fmax(most, gpus->rows[i].used);
    }
    if (gpus->row_count > 1 && least >= HELD && most <= 1.15 * least && gpus->rows[0].used >= 1.6 * most && tally_of(gpus).busy > 1)
        observe_tell(collect, &gpus->at, "GPU table: GPU %d holds %.1f times the memory of each other GPU", gpus->rows[0].index,
                     gpus->rows[0].used / most);
}

void gpus_conclude(const struct observe_gpus *gpus, const struct observer *observer, struct collect *collect)
{
    tell_use(gpus, observer->started, collect);
    tell_processes(gpus, observer->started, collect);
    tell_imbalance(gpus, observer->started, collect);
}

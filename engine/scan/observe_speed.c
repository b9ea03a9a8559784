/*
 * How fast it goes: under several settings in one transcript (1 GPU and 8, one node and two, two versions), over time, and how much of it is
 * waiting for data. A setting begins with a command line or a heading that says how many GPUs or nodes; readings belong to the last one.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe.h"
#include "scan/words.h"

#define STEP_LONGER 1.25   /* a step with more ranks takes that many times as long; a little longer is usual */
#define SAMPLES_FEWER 0.85 /* more ranks yield that share of the samples a second: less than one alone */
#define PER_GPU_FEWER 0.6
#define LINEAR 0.55 /* of what so many ranks should yield, where the sum is told */
#define EPOCH_SAME 0.9
#define VERSION_SLOWER 0.8
#define GROWN 1.6 /* the last third of the times over the first */
#define GROWN_COUNT 7
#define DATA_SHARE 0.5
#define DATA_LINES 4
#define LINK_SHARE 0.35
#define ACCURACY_LOST 0.02

/* ---- one line's readings ---- */

struct unit {
    const char *text;
    enum speed_kind kind;
    double scale; /* to units a second; negative: seconds of `-scale` a unit */
};

static const struct unit units[] = {
    {"it/s", SPEED_STEP, 1},         {"iter/s", SPEED_STEP, 1},     {"iters/s", SPEED_STEP, 1},       {"step/s", SPEED_STEP, 1},
    {"steps/s", SPEED_STEP, 1},      {"batch/s", SPEED_STEP, 1},    {"batches/s", SPEED_STEP, 1},     {"s/it", SPEED_STEP, -1},
    {"s/step", SPEED_STEP, -1},      {"s/iter", SPEED_STEP, -1},    {"sec/step", SPEED_STEP, -1},     {"sec/batch", SPEED_STEP, -1},
    {"sec/iter", SPEED_STEP, -1},    {"s/batch", SPEED_STEP, -1},   {"ms/step", SPEED_STEP, -0.001},  {"ms/it", SPEED_STEP, -0.001},
    {"samples/s", SPEED_SAMPLE, 1},  {"sample/s", SPEED_SAMPLE, 1}, {"img/s", SPEED_SAMPLE, 1},       {"imgs/s", SPEED_SAMPLE, 1},
    {"images/s", SPEED_SAMPLE, 1},   {"image/s", SPEED_SAMPLE, 1},  {"examples/s", SPEED_SAMPLE, 1},  {"tokens/s", SPEED_SAMPLE, 1},
    {"token/s", SPEED_SAMPLE, 1},    {"tok/s", SPEED_SAMPLE, 1},    {"sentences/s", SPEED_SAMPLE, 1}, {"seq/s", SPEED_SAMPLE, 1},
    {"sequences/s", SPEED_SAMPLE, 1}};

static const struct unit keys[] = {{"train_samples_per_second", SPEED_SAMPLE, 1},
                                   {"samples_per_second", SPEED_SAMPLE, 1},
                                   {"samples per second", SPEED_SAMPLE, 1},
                                   {"examples per second", SPEED_SAMPLE, 1},
                                   {"images per second", SPEED_SAMPLE, 1},
                                   {"tokens per second", SPEED_SAMPLE, 1},
                                   {"throughput", SPEED_SAMPLE, 1},
                                   {"global_step/sec", SPEED_STEP, 1},
                                   {"elapsed time per iteration (ms)", SPEED_STEP, -0.001},
                                   {"train_step_timing in s", SPEED_STEP, -1},
                                   {"iter_time", SPEED_STEP, -1},
                                   {"step_time", SPEED_STEP, -1},
                                   {"step time", SPEED_STEP, -1},
                                   {"batch_time", SPEED_STEP, -1},
                                   {"batch time", SPEED_STEP, -1},
                                   {"time per step", SPEED_STEP, -1},
                                   {"avg bus bandwidth", SPEED_BUS, 1},
                                   {"train_runtime", SPEED_EPOCH, 1}};

static double scaled(const struct unit *unit, double value)
{
    return unit->scale > 0 ? value * unit->scale : value > 0 ? 1.0 / (-unit->scale * value) : NAN;
}

/* The number in front of a unit ("14.19s/it", "812 images/sec"), or behind it ("images/sec: 812", "(iter/s)': 0.19"). */
static bool beside(const char *text, const char *unit, size_t length, double *value)
{
    const char *end = unit;
    while (end > text && end[-1] == ' ')
        end--;
    const char *begin = end;
    while (begin > text && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.' || begin[-1] == ','))
        begin--;
    begin += strspn(begin, ",.");
    if (begin < end)
        return observe_number(&begin, value);
    const char *p = unit + length;
    size_t gap = strcspn(p, ":=");
    if (!p[gap] || gap > 24)
        return false;
    p += gap + 1;
    p += strspn(p, " '\"=");
    return observe_number(&p, value);
}

/* Units begin behind a blank, a digit or a bracket: the "s/it" of "units/iteration" is none. */
static bool by_unit(const char *text, const struct unit *unit, double *value)
{
    size_t length = strlen(unit->text);
    for (const char *p = text; (p = strstr(p, unit->text)); p += length) {
        bool begins = p > text && !isalpha((unsigned char)p[-1]) && p[-1] != '_' && p[-1] != '/';
        if (begins && (!isalpha((unsigned char)p[length]) || !strncmp(p + length, "ec", 2)) && beside(text, p, length, value))
            return true;
    }
    return false;
}

/* One reading of each kind at most. */
static void read_rates(const char *text, double *rates)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double value;
        if (isnan(rates[keys[i].kind]) && observe_after(text, keys[i].text, &value, NULL))
            rates[keys[i].kind] = scaled(&keys[i], value);
    }
    if (!strstr(text, "/s") && !strstr(text, "s/"))
        return;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double value;
        if (isnan(rates[units[i].kind]) && by_unit(text, &units[i], &value))
            rates[units[i].kind] = scaled(&units[i], value);
    }
}

/* "Epoch 3: time: 812.5", "epoch 3 took 12 min", "Epoch 1: ..., 1482.1 sec": seconds, or NAN */
static double epoch_seconds(const char *text)
{
    double value;
    if (!observe_behind(text, "epoch") || strstr(text, "/s") || strstr(text, "s/") || observe_behind(text, "eta"))
        return NAN;
    for (const char *p = text; *p; p++) {
        if (!isdigit((unsigned char)*p) || (p > text && (isalnum((unsigned char)p[-1]) || strchr(".:-/", p[-1]))))
            continue;
        const char *q = p;
        if (!observe_number(&q, &value))
            continue;
        const char *unit = q + strspn(q, " ");
        size_t n = strspn(unit, "abcdefghijklmnopqrstuvwxyz");
        bool fraction = memchr(p, '.', (size_t)(q - p)) != NULL;
        if ((n == 1 && *unit == 's' && (fraction || unit == q)) || (n == 3 && !strncmp(unit, "sec", 3)) ||
            (n == 4 && !strncmp(unit, "secs", 4)) || (n == 7 && !strncmp(unit, "seconds", 7)))
            return value;
        if ((n == 3 && !strncmp(unit, "min", 3)) || (n == 4 && !strncmp(unit, "mins", 4)) || (n == 7 && !strncmp(unit, "minutes", 7)))
            return value * 60;
        p = q - 1;
    }
    /* A time without a unit counts where no step counter says that it is one of a step. */
    return !strstr(text, "loss") && !strchr(text, '[') && observe_after(text, "time", &value, NULL) ? value : NAN;
}

/* "12/1556 [": how many steps a progress bar counts; 0: none */
static unsigned long bar_total(const char *text)
{
    const char *slash = strchr(text, '/');
    for (; slash; slash = strchr(slash + 1, '/')) {
        size_t n = strspn(slash + 1, "0123456789");
        if (slash > text && isdigit((unsigned char)slash[-1]) && n && n < 10 && !strncmp(slash + 1 + n, " [", 2))
            return strtoul(slash + 1, NULL, 10);
    }
    return 0;
}

/* "5460 batches of 200": the same in words */
static unsigned long batches_told(const char *text)
{
    const char *p = strstr(text, " batches");
    const char *begin = p;
    while (begin && begin > text && isdigit((unsigned char)begin[-1]))
        begin--;
    return begin && p - begin > 0 && p - begin < 10 ? strtoul(begin, NULL, 10) : 0;
}

/* The accuracy of an evaluation as a share of 1; NAN where there is none. */
static double accuracy_of(const char *text)
{
    static const char *const names[] = {"accuracy @ 1 =", "val_accuracy",  "val_acc",  "val acc",       "validation accuracy",
                                        "test accuracy",  "test_accuracy", "test_acc", "eval_accuracy", "acc@1"};
    double value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (observe_after(text, names[i], &value, NULL) && value >= 0 && value <= 100)
            return value > 1 ? value / 100 : value;
    return NAN;
}

/* ---- settings ---- */

/* Does this line say how what follows is run? Commands, headings, remarks; not lines of training. */
static bool is_heading(const char *text)
{
    static const char *const launchers[] = {"torchrun",   "torch.distributed", "mpirun ", "horovodrun ",
                                            "deepspeed ", "accelerate launch", "srun ",   "mpiexec "};
    if (*text == '$' || *text == '#' || *text == '>')
        return true;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (strstr(text, launchers[i]))
            return true;
    return strlen(text) < 90 && !strchr(text, '[') && !observe_behind(text, "loss") && !strstr(text, "INFO");
}

struct found_version {
    char text[24];
};

static void on_version(void *context, const char *component, const char *version, size_t length)
{
    struct found_version *found = context;
    static const char *const named[] = {"torch", "nccl", "tensorflow", "deepspeed", "horovod", "transformers", "lightning", "accelerate"};
    for (size_t i = 0; i < sizeof named / sizeof *named && !found->text[0]; i++)
        if (!strcmp(component, named[i]))
            (void)snprintf(found->text, sizeof found->text, "%s %.*s", component, (int)(length < 10 ? length : 10), version);
}

/* "torch 2.9.0" somewhere, or a line that is a version: what `python -c 'print(torch.__version__)'` prints */
static bool read_version(const struct line *line, struct found_version *found)
{
    const char *text = line->text;
    versions_read(line, on_version, found);
    size_t digits = strspn(text, "0123456789.");
    if (!found->text[0] && digits >= 5 && digits < 12 && (!text[digits] || text[digits] == '+') && strlen(text) < 24 &&
        strchr(text, '.') != strrchr(text, '.'))
        (void)snprintf(found->text, sizeof found->text, "version %.*s", (int)digits, text);
    return found->text[0] != '\0';
}

static bool has_readings(const struct setting *setting)
{
    for (int kind = 0; kind < SPEED_KINDS; kind++)
        if (setting->speed[kind].count)
            return true;
    return setting->last_step > setting->first_step;
}

static struct setting *current(struct observe_speed *speed)
{
    if (!speed->count)
        speed->settings[speed->count++] = (struct setting){.first_step = -1, .last_step = -1};
    return &speed->settings[speed->count - 1];
}

/* A setting of its own once the one before has been measured; until then several lines may describe one. */
static struct setting *next_setting(struct observe_speed *speed)
{
    struct setting *now = current(speed);
    if (!has_readings(now) || speed->count == SETTINGS_MAX)
        return now;
    struct setting *next = &speed->settings[speed->count++];
    *next = (struct setting){.gpus = now->gpus, .nodes = now->nodes, .first_step = -1, .last_step = -1};
    memcpy(next->version, now->version, sizeof next->version);
    return next;
}

static void read_setting(struct observe_speed *speed, const struct line *line)
{
    const char *text = line->text;
    unsigned gpus = 0, nodes = 0;
    struct found_version version = {0};
    if (is_heading(text)) {
        observe_counts(text, &gpus, &nodes);
        bool plain = !strncmp(text, "$ python ", 9) && !strstr(text, " -m ") && !gpus && !nodes;
        gpus = plain ? 1 : gpus;
    }
    bool versioned = read_version(line, &version);
    const struct setting *now = current(speed);
    if (versioned && strcmp(version.text, now->version) != 0) {
        struct setting *next = next_setting(speed);
        memcpy(next->version, version.text, sizeof next->version);
    }
    now = current(speed);
    if ((gpus && gpus != now->gpus) || (nodes && nodes != now->nodes)) {
        struct setting *next = next_setting(speed);
        next->gpus = gpus ? gpus : nodes && !now->nodes ? next->gpus : next->gpus;
        next->nodes = nodes ? nodes : next->nodes;
    }
}

/* ---- data loading ---- */

/* "Time 3.062 (10.060)  Data 2.995 (9.807)", "time: 0.500, data_time: 0.049", "iter_time: 0.472s, data_time: 0.160s" */
static void read_data_share(struct observe_speed *speed, const char *text, const struct place *place)
{
    double data, step;
    if (!observe_after(text, "data_time", &data, NULL) && !observe_after(text, "DataLoadingTime", &data, NULL) &&
        !observe_after(text, "data", &data, NULL))
        return;
    if (!observe_after(text, "iter_time", &step, NULL) && !observe_after(text, "batch_time", &step, NULL) &&
        !observe_after(text, "time", &step, NULL))
        return;
    if (!(data >= 0) || !(step > 0) || data > 1.05 * step || speed->data_lines++ == 0) /* the first batch always waits */
        return;
    speed->data_seconds += data;
    speed->step_seconds += step;
    speed->data_at = *place;
}

/* A test of the link alone: the line of numbers that ib_write_bw ends with, in Gb/s */
static void read_link(struct observe_speed *speed, const char *text)
{
    double size, rounds, peak, average;
    if (strstr(text, "BW average[Gb/sec]"))
        speed->link_gbytes = -1;
    else if (speed->link_gbytes < 0 && sscanf(text, " %lf %lf %lf %lf", &size, &rounds, &peak, &average) == 4)
        speed->link_gbytes = average / 8;
}

static void read_stamped_step(struct setting *setting, const struct line *line, const struct place *place)
{
    double step;
    if (isnan(line->time) || strstr(line->text, "/s") || strstr(line->text, "s/") ||
        (!observe_after(line->text, "step", &step, NULL) && !observe_after(line->text, "iter", &step, NULL) &&
         !observe_after(line->text, "iteration", &step, NULL)))
        return;
    if (setting->first_step < 0) {
        setting->first_step = setting->last_step = step;
        setting->first_time = setting->last_time = line->time;
    } else if (step > setting->last_step && line->time >= setting->last_time) {
        setting->last_step = step;
        setting->last_time = line->time;
        setting->stamped_at = *place;
    }
}

void speed_line(struct observe_speed *speed, const struct line *line, const struct place *place)
{
    const char *text = line->text;
    double rates[SPEED_KINDS] = {NAN, NAN, NAN, NAN};
    bool digits = strpbrk(text, "0123456789") != NULL;
    read_link(speed, text);
    if (!digits && !is_heading(text))
        return;
    read_setting(speed, line);
    if (!digits)
        return;
    struct setting *setting = current(speed);
    unsigned long total = bar_total(text);
    unsigned long batches = total ? total : batches_told(text);
    if (batches && !setting->epoch_steps && observe_behind(text, "epoch"))
        setting->epoch_steps = batches;
    read_rates(text, rates);
    if (isnan(rates[SPEED_EPOCH]))
        rates[SPEED_EPOCH] = epoch_seconds(text);
    double time;
    if (isnan(rates[SPEED_STEP]) && isnan(rates[SPEED_EPOCH]) && (observe_behind(text, "loss") || observe_behind(text, "err")) &&
        observe_after(text, "time", &time, NULL) && time > 0)
        rates[SPEED_STEP] = 1 / time;
    if (strcasestr(text, "per gpu") || strcasestr(text, "/gpu") || strcasestr(text, "per_gpu"))
        setting->per_gpu = true;
    for (int kind = 0; kind < SPEED_KINDS; kind++)
        if (rates[kind] > 0 && isfinite(rates[kind]) && (!total || !setting->epoch_steps || total == setting->epoch_steps))
            readings_add(&setting->speed[kind], rates[kind], place);
    double accuracy = accuracy_of(text);
    if (!isnan(accuracy)) {
        setting->accuracy = accuracy;
        setting->accuracy_at = *place;
    }
    read_stamped_step(setting, line, place);
    read_data_share(speed, text, place);
}

/* ---- what the readings say ---- */

static double middle(const struct setting *setting, enum speed_kind kind)
{
    const struct readings *readings = &setting->speed[kind];
    if (kind == SPEED_STEP && !readings->count && setting->last_step > setting->first_step && setting->last_time > setting->first_time)
        return (setting->last_step - setting->first_step) / (setting->last_time - setting->first_time);
    return readings_median(readings, 0, readings->count);
}

static const struct place *place_of(const struct setting *setting)
{
    const struct place *at = &setting->stamped_at;
    for (int kind = 0; kind < SPEED_KINDS; kind++)
        if (setting->speed[kind].count && setting->speed[kind].last.sequence >= at->sequence)
            at = &setting->speed[kind].last;
    return at;
}

static unsigned width(const struct setting *setting)
{
    return (setting->gpus ? setting->gpus : 1) * (setting->nodes ? setting->nodes : 1);
}

static const char *named(const struct setting *setting, char *out, size_t size)
{
    const char *nodes = setting->nodes == 1 ? "node" : "nodes", *gpus = setting->gpus == 1 ? "GPU" : "GPUs";
    if (setting->nodes && setting->gpus)
        (void)snprintf(out, size, "%u %s of %u %s", setting->nodes, nodes, setting->gpus, gpus);
    else
        (void)snprintf(out, size, "%u %s", width(setting), setting->nodes ? nodes : gpus);
    return out;
}

static void compare_widths(const struct setting *few, const struct setting *many, struct collect *collect)
{
    char a[64], b[64];
    const struct place *at = place_of(many);
    double step = middle(few, SPEED_STEP) / middle(many, SPEED_STEP), samples = middle(many, SPEED_SAMPLE) / middle(few, SPEED_SAMPLE);
    double epoch = middle(many, SPEED_EPOCH) / middle(few, SPEED_EPOCH), ideal = (double)width(many) / width(few);
    named(few, a, sizeof a);
    named(many, b, sizeof b);
    if (many->accuracy > 0 && few->accuracy - many->accuracy > ACCURACY_LOST)
        observe_tell(collect, &many->accuracy_at, "accuracy: %.4g with %s, %.4g with %s", many->accuracy, b, few->accuracy, a);
    if (few->epoch_steps && few->epoch_steps == many->epoch_steps && few->epoch_steps >= 10)
        observe_tell(collect, at, "speed: an epoch has %lu steps with %s as with %s: the data are not shared out", many->epoch_steps, b, a);
    if (samples < (few->per_gpu || many->per_gpu ? PER_GPU_FEWER : SAMPLES_FEWER))
        observe_tell(collect, at, "speed: throughput with %s is %.0f %% of that with %s", b, samples * 100, a);
    else if (samples > 1.1 && samples < LINEAR * ideal && !few->per_gpu)
        observe_tell(collect, at, "speed: throughput with %s is %.1f times that with %s, of %.0f times possible", b, samples, a, ideal);
    else if (step > STEP_LONGER)
        observe_tell(collect, at, "speed: a step with %s takes %.1f times as long as with %s", b, step, a);
    else if (epoch > EPOCH_SAME)
        observe_tell(collect, at, "speed: an epoch with %s takes %.1f times as long as with %s", b, epoch, a);
}

static void compare_versions(const struct setting *before, const struct setting *after, struct collect *collect)
{
    for (int kind = 0; kind < SPEED_KINDS; kind++) {
        double share = middle(after, kind) / middle(before, kind);
        share = kind == SPEED_EPOCH ? 1 / share : share;
        if (share < VERSION_SLOWER) {
            observe_tell(collect, place_of(after), "speed: with %s it is %.0f %% of that with %s", after->version, share * 100,
                         before->version);
            return;
        }
    }
}

/* Is every reading of the last third slower than every one of the first? Single times that leap are another matter. */
static bool parted(const struct readings *readings, unsigned third, bool rises)
{
    double most = -INFINITY, least = INFINITY;
    for (unsigned i = 0; i < third; i++) {
        double first = readings->values[1 + i], last = readings->values[readings->count - 1 - i];
        most = fmax(most, rises ? first : -first);
        least = fmin(least, rises ? last : -last);
    }
    return least > most;
}

/* Times that grow as training goes on; the first reading is left out, it warms up. */
static void tell_growth(const struct setting *setting, struct collect *collect)
{
    static const struct {
        enum speed_kind kind;
        const char *thing;
    } kinds[] = {{SPEED_EPOCH, "an epoch"}, {SPEED_STEP, "a step"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct readings *readings = &setting->speed[kinds[k].kind];
        unsigned n = readings->count, third = (n - 1) / 3;
        if (n < GROWN_COUNT)
            continue;
        double first = readings_median(readings, 1, 1 + third), last = readings_median(readings, n - third, n);
        double grown = kinds[k].kind == SPEED_EPOCH ? last / first : first / last;
        double half = readings_median(readings, n / 2 - third / 2, n / 2 - third / 2 + third);
        bool steady = kinds[k].kind == SPEED_EPOCH ? half >= first && last >= half : half <= first && last <= half;
        if (grown > GROWN && steady && parted(readings, third, kinds[k].kind == SPEED_EPOCH))
            observe_tell(collect, &readings->last, "speed: %s takes %.1f times as long at the end as at the beginning", kinds[k].thing,
                         grown);
    }
}

void speed_conclude(const struct observe_speed *speed, struct collect *collect)
{
    for (unsigned i = 0; i < speed->count; i++) {
        const struct setting *one = &speed->settings[i];
        tell_growth(one, collect);
        for (unsigned k = i + 1; k < speed->count; k++) {
            const struct setting *other = &speed->settings[k];
            bool told = (one->gpus || one->nodes) && (other->gpus || other->nodes);
            if (told && width(one) < width(other))
                compare_widths(one, other, collect);
            else if (told && width(other) < width(one))
                compare_widths(other, one, collect);
            else if (*one->version && *other->version && strcmp(one->version, other->version) != 0)
                compare_versions(one, other, collect);
        }
        double bus = middle(one, SPEED_BUS);
        if (speed->link_gbytes > 1 && bus < LINK_SHARE * speed->link_gbytes)
            observe_tell(collect, place_of(one), "speed: the collective reaches %.1f GB/s of %.1f GB/s that the link alone carries", bus,
                         speed->link_gbytes);
    }
    if (speed->data_lines > DATA_LINES && speed->data_seconds > DATA_SHARE * speed->step_seconds)
        observe_tell(collect, &speed->data_at, "speed: %.0f %% of a step is waiting for data",
                     100 * speed->data_seconds / speed->step_seconds);
}

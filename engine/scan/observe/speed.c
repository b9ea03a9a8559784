/*
 * Settings: the parts of a transcript that were run alike. One begins with a command line or a heading that says how many GPUs or nodes, or with
 * another version; the readings of the lines behind it are its own. compare.c says what settings tell about one another.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/commands.h"
#include "scan/observe/speed.h"
#include "scan/words.h"

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
    return setting->last_step > setting->first_step || setting->train_accuracy.count || setting->accuracy > 0 || setting->rate > 0 ||
           setting->loss > 0;
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

/* A remark such as "# one node, 2 GPUs: time: 0.3427" */
static bool counts_told(const char *text)
{
    unsigned gpus = 0, nodes = 0;
    if (is_heading(text))
        commands_counts(text, &gpus, &nodes);
    return gpus || nodes;
}

struct setting *speed_setting(struct observe_speed *speed, unsigned gpus, unsigned nodes)
{
    for (unsigned i = 0; i < speed->count; i++)
        if (speed->settings[i].gpus == gpus && speed->settings[i].nodes == nodes)
            return &speed->settings[i];
    struct setting *setting = next_setting(speed);
    setting->gpus = gpus;
    setting->nodes = nodes;
    return setting;
}

static void read_setting(struct observe_speed *speed, const struct line *line)
{
    const char *text = line->text;
    unsigned gpus = 0, nodes = 0;
    struct found_version version = {0};
    if (is_heading(text)) {
        commands_counts(text, &gpus, &nodes);
        bool plain = !strncmp(text, "$ python ", 9) && !strstr(text, " -m ") && !gpus && !nodes;
        gpus = plain ? 1 : gpus;
    }
    const char *mirrored = strstr(text, "MirroredStrategy with devices (");
    for (const char *p = mirrored; p && (p = strstr(p, "GPU:")); p += 4)
        gpus++;
    bool versioned = read_version(line, &version);
    const struct setting *now = current(speed);
    if (versioned && strcmp(version.text, now->version) != 0) {
        struct setting *next = next_setting(speed);
        memcpy(next->version, version.text, sizeof next->version);
    }
    now = current(speed);
    if ((gpus && gpus != now->gpus) || (nodes && nodes != now->nodes)) {
        struct setting *next = next_setting(speed);
        next->gpus = gpus ? gpus : next->gpus;
        next->nodes = nodes ? nodes : next->nodes;
    }
    uint64_t program = commands_program(text);
    if (program) {
        next_setting(speed)->program = program;
        speed->runs++;
    }
}

static void read_rate(struct setting *setting, const struct line *line, const struct place *place)
{
    double step, rate;
    if ((observe_value(line, "step", &step, NULL) || observe_value(line, "iter", &step, NULL)) &&
        (observe_value(line, "lr", &rate, NULL) || observe_value(line, "learning_rate", &rate, NULL)) && rate > 0) {
        setting->rate = rate;
        setting->rate_step = step;
        setting->rate_at = *place;
    }
}

/* The first loss of a setting, and what stands in front of it, epoch and step; and the last. */
static void read_losses(struct setting *setting, const struct line *line, const struct place *place)
{
    const char *text = line->text, *at = text;
    double loss = rates_loss(line, &at), value;
    if (isnan(loss)) {
        setting->diverged = setting->diverged || (observe_value(line, "loss", &value, NULL) && isnan(value));
        return;
    }
    if (!(setting->norm > 0) && (observe_value(line, "grad_norm", &value, NULL) || observe_value(line, "grad norm", &value, NULL)) &&
        value > 0 && isfinite(value)) {
        setting->norm = value;
        setting->norm_at = *place;
    }
    if (!(setting->shown > 0) && observe_value(line, "train_loss_step", &value, NULL) && value > 0 && isfinite(value)) {
        setting->shown = value;
        setting->shown_at = *place;
    }
    setting->diverged = false;
    setting->losses++;
    setting->last_loss = loss;
    setting->last_loss_at = *place;
    if (setting->loss > 0)
        return;
    setting->loss = loss;
    setting->loss_step = OBSERVE_HASH;
    for (const char *p = text; p < at; p++) /* numbers are padded to one width */
        setting->loss_step = *p == ' ' ? setting->loss_step : observe_hash(setting->loss_step, p, 1);
    setting->loss_at = *place;
}

/* ---- data loading ---- */

/* "Time 3.062 (10.060)  Data 2.995 (9.807)", "time: 0.500, data_time: 0.049", "iter_time: 0.472s, data_time: 0.160s" */
static void read_data_share(struct observe_speed *speed, const struct line *line, const struct place *place)
{
    double data, step;
    if (!observe_value(line, "data_time", &data, NULL) && !observe_value(line, "DataLoadingTime", &data, NULL) &&
        !observe_value(line, "data", &data, NULL))
        return;
    if (!observe_value(line, "iter_time", &step, NULL) && !observe_value(line, "batch_time", &step, NULL) &&
        !observe_value(line, "time", &step, NULL))
        return;
    if (!(data >= 0) || !(step > 0) || data > 1.05 * step)
        return;
    if (speed->data_lines++ == 0) {                                                 /* the first batch always waits */
        speed->first_share = observe_behind(line->text, "epoch") ? data / step : 0; /* means of many steps, most often */
        speed->first_step = step;
        speed->data_at = *place;
        return;
    }
    speed->data_seconds += data;
    speed->step_seconds += step;
    speed->longest_step = fmax(speed->longest_step, step);
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
        (!observe_value(line, "step", &step, NULL) && !observe_value(line, "iter", &step, NULL) &&
         !observe_value(line, "iteration", &step, NULL)))
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
    if (*text == '|') {
        (void)table_row(speed, text, place);
        return;
    }
    read_setting(speed, line);
    if (!digits)
        return;
    struct setting *setting = current(speed);
    double ranks;
    if (!setting->gpus && observe_value(line, "nranks", &ranks, NULL) && ranks >= 1 && ranks < 100000)
        setting->gpus = (unsigned)ranks;
    unsigned long total = rates_bar_total(text);
    unsigned long batches = total ? total : rates_batches_told(text);
    if (batches && !setting->epoch_steps && observe_behind(text, "epoch"))
        setting->epoch_steps = batches;
    rates_read(line, rates);
    if (isnan(rates[SPEED_EPOCH]))
        rates[SPEED_EPOCH] = rates_epoch_seconds(line);
    double time;
    if (isnan(rates[SPEED_STEP]) && isnan(rates[SPEED_EPOCH]) &&
        (observe_behind(text, "loss") || observe_behind(text, "err") || strstr(text, "_loss") || counts_told(text)) &&
        observe_value(line, "time", &time, NULL) && time > 0)
        rates[SPEED_STEP] = 1 / time;
    if (line_find(line, "per gpu") || line_find(line, "/gpu") || line_find(line, "per_gpu"))
        setting->per_gpu = true;
    bool evaluates =
        total && (line_find(line, "validat") || line_find(line, "evaluat") || line_find(line, "testing")) && !observe_behind(text, "epoch");
    for (int kind = 0; kind < SPEED_KINDS && !evaluates; kind++)
        if (rates[kind] > 0 && isfinite(rates[kind]) && (!total || !setting->epoch_steps || total == setting->epoch_steps))
            readings_add(&setting->speed[kind], rates[kind], place);
    double accuracy = rates_accuracy(line);
    if (!isnan(accuracy)) {
        setting->accuracy = accuracy;
        setting->accuracy_at = *place;
    }
    accuracy = rates_train_accuracy(line);
    if (!isnan(accuracy))
        readings_add(&setting->train_accuracy, accuracy, place);
    read_rate(setting, line, place);
    read_losses(setting, line, place);
    read_stamped_step(setting, line, place);
    read_data_share(speed, line, place);
}

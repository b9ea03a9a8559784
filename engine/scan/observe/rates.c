/* What one line says of speed, length and quality: "14.19s/it", "812 images/sec", "0/1556 [", "val_acc: 0.76". */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/speed.h"

struct unit {
    const char *text;
    enum speed_kind kind;
    double scale; /* to units a second; negative: seconds of `-scale` a unit */
};

static const struct unit units[] = {
    {"it/s", SPEED_STEP, 1},          {"iter/s", SPEED_STEP, 1},     {"iters/s", SPEED_STEP, 1},       {"step/s", SPEED_STEP, 1},
    {"steps/s", SPEED_STEP, 1},       {"batch/s", SPEED_STEP, 1},    {"batches/s", SPEED_STEP, 1},     {"s/it", SPEED_STEP, -1},
    {"s/step", SPEED_STEP, -1},       {"s/iter", SPEED_STEP, -1},    {"sec/step", SPEED_STEP, -1},     {"sec/batch", SPEED_STEP, -1},
    {"sec/iter", SPEED_STEP, -1},     {"s/batch", SPEED_STEP, -1},   {"ms/step", SPEED_STEP, -0.001},  {"ms/it", SPEED_STEP, -0.001},
    {"samples/s", SPEED_SAMPLE, 1},   {"sample/s", SPEED_SAMPLE, 1}, {"img/s", SPEED_SAMPLE, 1},       {"imgs/s", SPEED_SAMPLE, 1},
    {"images/s", SPEED_SAMPLE, 1},    {"image/s", SPEED_SAMPLE, 1},  {"examples/s", SPEED_SAMPLE, 1},  {"tokens/s", SPEED_SAMPLE, 1},
    {"token/s", SPEED_SAMPLE, 1},     {"tok/s", SPEED_SAMPLE, 1},    {"sentences/s", SPEED_SAMPLE, 1}, {"seq/s", SPEED_SAMPLE, 1},
    {"sequences/s", SPEED_SAMPLE, 1}, {"s/sec", SPEED_SAMPLE, 1}};

static const struct unit keys[] = {{"train_samples_per_second", SPEED_SAMPLE, 1},
                                   {"samples_per_second", SPEED_SAMPLE, 1},
                                   {"samples per second", SPEED_SAMPLE, 1},
                                   {"examples per second", SPEED_SAMPLE, 1},
                                   {"images per second", SPEED_SAMPLE, 1},
                                   {"tokens per second", SPEED_SAMPLE, 1},
                                   {"tokens_per_sec", SPEED_SAMPLE, 1},
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

/* "0:00:1.390" is 1.39 s; `value` is the number that was read at `at`. */
static double clock_read(const char *at, double value)
{
    double next;
    const char *p = at + strspn(at, "0123456789");
    while (*p == ':' && isdigit((unsigned char)p[1])) {
        p++;
        if (!observe_number(&p, &next))
            break;
        value = value * 60 + next;
    }
    return value;
}

/* The number in front of a unit ("14.19s/it", "812 images/sec"), or behind it ("images/sec: 812", "(iter/s)': 0.19"). */
static bool beside(const char *text, const char *unit, size_t length, double *value)
{
    const char *end = unit;
    while (end > text && end[-1] == ' ')
        end--;
    const char *begin = end;
    while (begin > text && end[-1] != ',' && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.' || begin[-1] == ','))
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
void rates_read(const struct line *line, double *rates)
{
    const char *text = line->text;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double value;
        const char *at;
        if (isnan(rates[keys[i].kind]) && observe_value(line, keys[i].text, &value, &at))
            rates[keys[i].kind] = scaled(&keys[i], clock_read(at, value));
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
double rates_epoch_seconds(const struct line *line)
{
    const char *text = line->text;
    double value, minutes, seconds;
    if (!strncmp(text, "real", 4) && sscanf(text, "real %lfm%lfs", &minutes, &seconds) == 2)
        return minutes * 60 + seconds; /* time(1) of a whole run */
    if (!line_find(line, "epoch") || !observe_behind(text, "epoch") || strstr(text, "/s") || strstr(text, "s/") ||
        observe_behind(text, "eta"))
        return NAN;
    for (const char *p = text; *p; p++) {
        if (!isdigit((unsigned char)*p) || (p > text && (isalnum((unsigned char)p[-1]) || strchr(".-/", p[-1]))) ||
            (p > text + 1 && p[-1] == ':' && !isalpha((unsigned char)p[-2])))
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
unsigned long rates_bar_total(const char *text)
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
unsigned long rates_batches_told(const char *text)
{
    const char *p = strstr(text, " batches");
    const char *begin = p;
    while (begin && begin > text && isdigit((unsigned char)begin[-1]))
        begin--;
    return begin && p - begin > 0 && p - begin < 10 ? strtoul(begin, NULL, 10) : 0;
}

/* The accuracy of an evaluation as a share of 1; NAN where there is none. */
double rates_accuracy(const struct line *line)
{
    static const char *const names[] = {"accuracy @ 1 =", "val_accuracy",  "val_acc",  "val acc",       "validation accuracy",
                                        "test accuracy",  "test_accuracy", "test_acc", "eval_accuracy", "acc@1",
                                        "prec@1",         "recall@1",      "bbox_map", "miou"};
    double value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (observe_value(line, names[i], &value, NULL) && value >= 0 && value <= 100)
            return value > 1 ? value / 100 : value;
    return NAN;
}

/* The loss of training and where it is printed; NAN where there is none. */
double rates_loss(const struct line *line, const char **at)
{
    double value;
    if (line_find(line, "val loss") || line_find(line, "valid loss") || line_find(line, "test loss") || line_find(line, "eval"))
        return NAN;
    bool told = observe_value(line, "loss", &value, at) || observe_value(line, "loss/avg", &value, at) ||
                observe_value(line, "loss/mean", &value, at);
    return told && value > 0 && isfinite(value) ? value : NAN;
}

/* Of training, as it goes: rough, and of the part of a class only that the name tells. */
double rates_train_accuracy(const struct line *line)
{
    static const char *const names[] = {"train-accuracy", "train_accuracy", "train_acc", "accuracy", "acc"};
    double value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at;
        if (observe_value(line, names[i], &value, &at) && value >= 0 && value <= 1 && strchr(at, '.') == at + 1)
            return value;
    }
    return NAN;
}

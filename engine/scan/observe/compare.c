/* What the readings of several settings, or the early and late ones of a single setting, say when compared. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/speed.h"

#define STEP_LONGER 1.25   /* a step with more ranks takes that many times as long; a little longer is usual */
#define SAMPLES_FEWER 0.85 /* more ranks yield that share of the samples a second: less than one alone */
#define PER_GPU_FEWER 0.6
#define LINEAR 0.55 /* of what so many ranks should yield, where the sum is told */
#define GAIN 0.25   /* of what the ranks that came on top should add */
#define EPOCH_SAME 0.9
#define VERSION_SLOWER 0.8
#define GROWN 1.6 /* the last third of the times over the first */
#define GROWN_COUNT 7
#define DOUBLED_COUNT 4 /* so few are enough where each is slower than the one before, and the last twice as slow as the first */
#define DATA_SHARE 0.5
#define DATA_LINES 4
#define DATA_SHARE_CLEAR 0.8 /* that much of a step shows in fewer lines */
#define DATA_LINES_CLEAR 2
#define FIRST_LIKE 1.3 /* times what a step takes else */
#define LINK_SHARE 0.35
#define ACCURACY_LOST 0.02
#define DIVIDED 0.06    /* how exactly a value is that of one rank divided by how many there are */
#define LOSS_EXACT 0.03 /* likewise of the first loss */
#define LOSS_SAME 0.02  /* ... and of one that is to be the same */
#define STEPS_SHARED 0.1
#define LOSS_ALIKE 0.003   /* ... where nothing else says that it is counted twice */
#define TRAINING_LOST 0.15 /* of the accuracy in training */
#define RATE_FASTER 0.5    /* the learning rate at the same step */
#define LOSS_FALLEN 0.35   /* of the first loss, where it learns at all */
#define LOSS_BEHIND 3.0    /* times the loss that fewer GPUs end with, */
#define LOSS_STAYED 0.4    /* and hardly fallen */
#define LOSS_PRINTS 3
#define OPTIONS_SLOWER 3.0 /* the same script on as many GPUs, with other options */

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

static double last_accuracy(const struct setting *setting)
{
    unsigned n = setting->train_accuracy.count;
    return readings_median(&setting->train_accuracy, n - (n + 2) / 3, n);
}

/* The first loss of a job, times or divided by a whole number when it is started with other options: counted twice, or not shared out. */
static bool tell_loss_by_options(const struct setting *one, const struct setting *other, struct collect *collect)
{
    double times = fmax(one->loss, other->loss) / fmin(one->loss, other->loss);
    if (!(one->loss > 0) || !(other->loss > 0) || one->loss_step != other->loss_step || times < 1.9 || times > 64 ||
        fabs(times / round(times) - 1) > LOSS_ALIKE)
        return false;
    observe_tell(collect, &other->loss_at, "metric: the loss with some options is %.0f times that with others", round(times));
    return true;
}

/* A value that is N times as large, or as small, where the loss is the same. */
static bool is_scaled(double one, double other, double one_loss, double other_loss, double ideal, double exact)
{
    double times = fmax(one, other) / fmin(one, other);
    return one > 0 && other > 0 && one_loss > 0 && fabs(other_loss / one_loss - 1) < LOSS_SAME && ideal > 1.9 &&
           fabs(times / ideal - 1) < exact;
}

static void compare_options(const struct setting *one, const struct setting *other, struct collect *collect)
{
    if (!one->program || one->program != other->program)
        return;
    if (tell_loss_by_options(one, other, collect))
        return;
    double times = round(fmax(one->norm, other->norm) / fmin(one->norm, other->norm));
    if (one->loss_step == other->loss_step && is_scaled(one->norm, other->norm, one->loss, other->loss, times, LOSS_ALIKE)) {
        observe_tell(collect, &other->norm_at, "metric: the gradient norm with some options is %.0f times that with others", times);
        return;
    }
    static const enum speed_kind kinds[] = {SPEED_STEP, SPEED_SAMPLE, SPEED_BUS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double share = middle(one, kinds[i]) / middle(other, kinds[i]);
        share = share < 1 ? 1 / share : share;
        if (share > OPTIONS_SLOWER) {
            observe_tell(collect, place_of(other), "speed: the same job goes %.0f times slower with other options", share);
            return;
        }
    }
}

/* The loss at the same step: summed over the ranks, or divided twice. */
static bool tell_loss_scaled(const struct setting *few, const struct setting *many, double ideal, struct collect *collect)
{
    char a[64], b[64];
    double times = many->loss / few->loss, exact = ideal < 2.5 ? LOSS_EXACT / 2 : LOSS_EXACT;
    if (!(few->loss > 0) || !(many->loss > 0) || few->loss_step != many->loss_step || ideal < 1.9 || fabs(ideal - round(ideal)) > 0.01)
        return false;
    bool summed = fabs(times / ideal - 1) < exact, divided = fabs(times * ideal - 1) < exact;
    if (summed)
        observe_tell(collect, &many->loss_at, "metric: the loss with %s is %.0f times that with %s", named(many, b, sizeof b), ideal,
                     named(few, a, sizeof a));
    else if (divided)
        observe_tell(collect, &many->loss_at, "metric: with %s it is that with %s divided by %.0f", named(many, b, sizeof b),
                     named(few, a, sizeof a), ideal);
    return summed || divided;
}

/* The gradient norm, or a loss that is logged beside the one that is minimised. */
static bool tell_values_scaled(const struct setting *few, const struct setting *many, double ideal, struct collect *collect)
{
    char a[64], b[64];
    bool norm = is_scaled(few->norm, many->norm, few->loss, many->loss, ideal, LOSS_EXACT / 2);
    if (!norm && !is_scaled(few->shown, many->shown, few->loss, many->loss, ideal, LOSS_EXACT / 2))
        return false;
    bool smaller = norm ? many->norm < few->norm : many->shown < few->shown;
    named(smaller ? few : many, a, sizeof a);
    named(smaller ? many : few, b, sizeof b);
    observe_tell(collect, norm ? &many->norm_at : &many->shown_at, "metric: the %s with %s is %.0f times that with %s",
                 norm ? "gradient norm" : "loss that is logged", a, ideal, b);
    return true;
}

/* A loss that ended as no number is what such a transcript is about, not the speed of the runs in it. */
static bool has_diverged(const struct observe_speed *speed)
{
    for (unsigned i = 0; i < speed->count; i++)
        if (speed->settings[i].diverged)
            return true;
    return false;
}

/* A share of one rank, of its samples or its accuracy, that was divided by the number of ranks. */
static bool tell_accuracy_divided(const struct setting *few, const struct setting *many, double ideal, struct collect *collect)
{
    char a[64], b[64];
    double learned = last_accuracy(few);
    double divided = many->accuracy > 0 ? few->accuracy / many->accuracy : learned / last_accuracy(many);
    if (!(ideal > 1.9) || !(fabs(ideal - round(ideal)) < 0.01) || !(fabs(divided / ideal - 1) < DIVIDED))
        return false;
    observe_tell(collect, many->accuracy > 0 ? &many->accuracy_at : &many->train_accuracy.last,
                 "metric: with %s it is that with %s divided by %.0f", named(many, b, sizeof b), named(few, a, sizeof a), ideal);
    return true;
}

static bool tell_learned_less(const struct setting *few, const struct setting *many, struct collect *collect)
{
    char a[64], b[64];
    double learned = last_accuracy(few), less = last_accuracy(many);
    named(few, a, sizeof a);
    named(many, b, sizeof b);
    if (many->accuracy > 0 && few->accuracy - many->accuracy > ACCURACY_LOST) {
        observe_tell(collect, &many->accuracy_at, "accuracy: %.4g with %s, %.4g with %s", many->accuracy, b, few->accuracy, a);
        return true;
    }
    if (few->losses >= LOSS_PRINTS && many->losses >= few->losses && few->last_loss < LOSS_FALLEN * few->loss &&
        many->last_loss > LOSS_BEHIND * few->last_loss && many->last_loss > LOSS_STAYED * many->loss) {
        observe_tell(collect, &many->last_loss_at, "loss: %.4g at the end with %s, %.4g with %s", many->last_loss, b, few->last_loss, a);
        return true;
    }
    if (learned - less > TRAINING_LOST) {
        observe_tell(collect, &many->train_accuracy.last, "accuracy: %.4g with %s, %.4g with %s", less, b, learned, a);
        return true;
    }
    return false;
}

static void compare_speeds(const struct setting *few, const struct setting *many, double ideal, struct collect *collect)
{
    char a[64], b[64];
    const struct place *at = place_of(many);
    double step = middle(few, SPEED_STEP) / middle(many, SPEED_STEP), samples = middle(many, SPEED_SAMPLE) / middle(few, SPEED_SAMPLE);
    double epoch = middle(many, SPEED_EPOCH) / middle(few, SPEED_EPOCH);
    named(few, a, sizeof a);
    named(many, b, sizeof b);
    if (few->epoch_steps && few->epoch_steps == many->epoch_steps && few->epoch_steps >= 10)
        observe_tell(collect, at, "speed: an epoch has %lu steps with %s as with %s: the data are not shared out", many->epoch_steps, b, a);
    /* As many steps fewer as there are GPUs more: each step does so much more, and may take longer. */
    bool shared_out =
        many->epoch_steps && step * LINEAR < 1 && fabs((double)few->epoch_steps / (double)many->epoch_steps / ideal - 1) < STEPS_SHARED;
    if (samples < (few->per_gpu || many->per_gpu ? PER_GPU_FEWER : SAMPLES_FEWER))
        observe_tell(collect, at, "speed: throughput with %s is %.0f %% of that with %s", b, samples * 100, a);
    else if (samples > 1.1 && (samples < LINEAR * ideal || samples - 1 < GAIN * (ideal - 1)) && !few->per_gpu)
        observe_tell(collect, at, "speed: throughput with %s is %.1f times that with %s, of %.0f times possible", b, samples, a, ideal);
    else if (step > STEP_LONGER && !shared_out)
        observe_tell(collect, at, "speed: a step with %s takes %.1f times as long as with %s", b, step, a);
    else if (epoch > EPOCH_SAME)
        observe_tell(collect, at, "speed: an epoch with %s takes %.1f times as long as with %s", b, epoch, a);
}

/* Values that are wrong come first, then a run that learns less; only one that learns as much is judged by its speed. */
static void compare_widths(const struct setting *few, const struct setting *many, bool diverged, struct collect *collect)
{
    char a[64], b[64];
    double ideal = (double)width(many) / width(few);
    if (few->rate > 0 && few->rate_step == many->rate_step && many->rate > 0 && many->rate < RATE_FASTER * few->rate)
        observe_tell(collect, &many->rate_at, "learning rate: at step %.0f it is %.3g with %s and %.3g with %s", many->rate_step,
                     many->rate, named(many, b, sizeof b), few->rate, named(few, a, sizeof a));
    if (tell_accuracy_divided(few, many, ideal, collect) || tell_loss_scaled(few, many, ideal, collect) ||
        tell_values_scaled(few, many, ideal, collect) || diverged)
        return;
    if (!tell_learned_less(few, many, collect))
        compare_speeds(few, many, ideal, collect);
}

static void compare_versions(const struct setting *before, const struct setting *after, struct collect *collect)
{
    for (int kind = 0; kind < SPEED_KINDS; kind++) {
        double share = middle(after, (enum speed_kind)kind) / middle(before, (enum speed_kind)kind);
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

/* How many times as slow the last reading is as the first, where each one is slower than the one before; 1 otherwise. */
static double falls_throughout(const struct readings *readings, bool rises)
{
    const double *values = readings->values;
    for (unsigned i = 1; i < readings->count; i++)
        if (rises ? values[i] <= values[i - 1] : values[i] >= values[i - 1])
            return 1;
    double last = values[readings->count - 1];
    return rises ? last / values[0] : values[0] / last;
}

/* Times that grow as training goes on; the first reading is left out, it warms up. */
static void tell_growth(const struct setting *setting, struct collect *collect)
{
    static const struct {
        enum speed_kind kind;
        const char *thing;
    } kinds[] = {{SPEED_EPOCH, "an epoch"}, {SPEED_STEP, "a step"}, {SPEED_SAMPLE, "a step"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct readings *readings = &setting->speed[kinds[k].kind];
        unsigned n = readings->count, third = (n - 1) / 3;
        if (n < GROWN_COUNT) {
            double doubled = n >= DOUBLED_COUNT ? falls_throughout(readings, kinds[k].kind == SPEED_EPOCH) : 1;
            if (doubled > 2)
                observe_tell(collect, &readings->last, "speed: %s at the end takes %.1f times what it took at the beginning",
                             kinds[k].thing, doubled);
            continue;
        }
        double first = readings_median(readings, 1, 1 + third), last = readings_median(readings, n - third, n);
        double grown = kinds[k].kind == SPEED_EPOCH ? last / first : first / last;
        double half = readings_median(readings, n / 2 - third / 2, n / 2 - third / 2 + third);
        bool steady = kinds[k].kind == SPEED_EPOCH ? half >= first && last >= half : half <= first && last <= half;
        if (grown > GROWN && steady && parted(readings, third, kinds[k].kind == SPEED_EPOCH))
            observe_tell(collect, &readings->last, "speed: %s at the end takes %.1f times what it took at the beginning", kinds[k].thing,
                         grown);
    }
}

void speed_conclude(const struct observe_speed *speed, struct collect *collect)
{
    bool diverged = has_diverged(speed);
    for (unsigned i = 0; i < speed->count; i++) {
        const struct setting *one = &speed->settings[i];
        tell_growth(one, collect);
        for (unsigned k = i + 1; k < speed->count; k++) {
            const struct setting *other = &speed->settings[k];
            bool told = (one->gpus || one->nodes) && (other->gpus || other->nodes);
            if (told && width(one) < width(other))
                compare_widths(one, other, diverged, collect);
            else if (told && width(other) < width(one))
                compare_widths(other, one, diverged, collect);
            else if (*one->version && *other->version && strcmp(one->version, other->version) != 0)
                compare_versions(one, other, collect);
            else
                compare_options(one, other, collect);
        }
        double bus = middle(one, SPEED_BUS);
        if (speed->link_gbytes > 1 && bus < LINK_SHARE * speed->link_gbytes)
            observe_tell(collect, place_of(one), "speed: the collective reaches %.1f GB/s of %.1f GB/s that the link alone carries", bus,
                         speed->link_gbytes);
    }
    unsigned few = speed->data_seconds > DATA_SHARE_CLEAR * speed->step_seconds ? DATA_LINES_CLEAR : DATA_LINES;
    /* Few lines do, too, where the first is like the others, which a first batch is not. */
    bool alike = speed->first_share > DATA_SHARE && speed->first_step < FIRST_LIKE * speed->longest_step;
    if ((speed->data_lines > few || alike) && speed->data_seconds > DATA_SHARE * speed->step_seconds)
        observe_tell(collect, &speed->data_at, "speed: %.0f %% of a step is waiting for data",
                     100 * speed->data_seconds / speed->step_seconds);
}

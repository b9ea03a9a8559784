/* How many samples a run goes through: those of a wider run beside those of one GPU, and the last batch of an epoch that fails. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scan/observe/commands.h"
#include "scan/observe/ranks.h"

#define SAMPLES_LEAST 16.0
#define SAMPLES_RANKS 64
#define SAMPLES_PADDED 1.5 /* times the samples that there are: padding adds a batch for each rank at most, and no more than that is told */

/* "[val] rank 1 images seen: 8000", "(examples scored: 416)": how many, 0: not told */
static double samples_told(const struct line *line)
{
    static const char *const words[] = {"images seen",      "samples seen",          "examples seen",       "examples scored",
                                        "samples scored",   "images scored",         "samples evaluated",   "examples evaluated",
                                        "images evaluated", "number of predictions", "predictions gathered"};
    double value;
    if (!line_find(line, "s seen") && !line_find(line, "s scored") && !line_find(line, "s evaluated") && !line_find(line, "prediction"))
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (observe_value(line, words[i], &value, NULL) && value >= SAMPLES_LEAST && value == floor(value))
            return value;
    return 0;
}

static void read_count(struct observe_samples *samples, const struct line *line, const struct place *place)
{
    double count = samples_told(line), rank = line->rank;
    if (!(count > 0))
        return;
    bool of_rank = observe_after(line->text, "rank", &rank, NULL) || line->rank >= 0;
    if (!of_rank) {
        samples->growing = samples->growing || (samples->told > 0 && count != samples->told);
        samples->told = count;
    }
    if (samples->width <= 1) {
        samples->one = count;
    } else if (of_rank && count == samples->one && rank >= 0 && rank < SAMPLES_RANKS) {
        samples->whole |= UINT64_C(1) << (unsigned)rank;
        samples->at = *place;
    } else if (!of_rank && samples->one > 0 && count > samples->one && count <= SAMPLES_PADDED * samples->one && count > samples->padded) {
        samples->padded = count;
        samples->padded_at = *place;
    }
}

/* "768/883 [=========================>....] - ETA: 0s": what is left of the epoch is no more than one batch, and then an error */
static void read_bar(struct observe_samples *samples, const struct line *line, const struct place *place)
{
    double done, total, batch;
    const char *text = line->text;
    samples->several = samples->several || line_find(line, "multi_gpu") || line_find_exact(line, "make_parallel") ||
                       line_find_exact(line, "MirroredStrategy") || line_find_exact(line, "ParallelModel");
    if (observe_value(line, "batch_size", &batch, NULL) && batch >= 1)
        samples->batch = batch;
    if (isdigit((unsigned char)text[strspn(text, " ")]) && strstr(text, " [") && strstr(text, "ETA") &&
        sscanf(text, " %lf/%lf [", &done, &total) == 2) {
        samples->left = total - done;
    } else if (samples->left > 0 && !strncmp(text, "InvalidArgumentError", 20)) {
        if (samples->several && samples->batch > 0 && samples->left <= samples->batch) {
            samples->last_left = samples->left;
            samples->last_at = *place;
        }
        samples->left = 0;
    }
}

void samples_line(struct observe_samples *samples, const struct line *line, const struct place *place)
{
    unsigned gpus = 0, nodes = 0;
    if (*line->text == '$') {
        commands_counts(line->text, &gpus, &nodes);
        if (!gpus && !nodes && !commands_program(line->text))
            return; /* it looks at the run before it */
        samples->width = (gpus ? gpus : 1) * (nodes ? nodes : 1);
        samples->told = 0;
        return;
    }
    read_count(samples, line, place);
    read_bar(samples, line, place);
}

void samples_conclude(const struct observe_samples *samples, struct collect *collect)
{
    if (__builtin_popcountll(samples->whole) > 1)
        observe_tell(collect, &samples->at, "ranks: each goes through all of the %.0f samples that one GPU goes through", samples->one);
    if (samples->padded > 0 && !samples->growing)
        observe_tell(collect, &samples->padded_at, "metric: %.0f samples are counted on several GPUs, %.0f on one", samples->padded,
                     samples->one);
    if (samples->last_left > 0)
        observe_tell(collect, &samples->last_at, "batch: the last one of an epoch, %.0f samples, fails on several GPUs",
                     samples->last_left);
}

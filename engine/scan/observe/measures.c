/* Values that all ranks should agree on, named and printed by each: the norm of the gradients, the score of an evaluation. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/ranks.h"

#define NORM_APART 0.02 /* of the larger: more than rounding does */
#define SCORE_APART 0.0005
#define RANKS_LEAST 3 /* of which two may agree by chance */

static const char *const norms[] = {"grad_norm", "grad norm", "gnorm", "gradnorm", "gradient norm", NULL};
static const char *const scores[] = {"prec@1",   "acc@1", "val_acc",      "eval_acc",      "test_acc", "val acc", "miou",
                                     "mAP",      "ndcg",  "bleu",         "spearman",      "eval_f1",  "val_f1",  "val/acc",
                                     "eval/acc", "top1",  "val accuracy", "test accuracy", NULL};

/* Who prints: a prefix, "[rank 3]", "rank 3", "[dp 3]", "core xla:3" */
static bool rank_of(const struct line *line, int32_t *rank)
{
    static const char *const names[] = {"rank", "rank_", "dp", "xla:", "worker"};
    double value;
    *rank = line->rank;
    for (size_t i = 0; i < sizeof names / sizeof *names && *rank < 0; i++)
        if (observe_value(line, names[i], &value, NULL) && value >= 0 && value < 100000)
            *rank = (int32_t)value;
    return *rank >= 0;
}

static bool named_value(const struct line *line, const char *const *names, double *value)
{
    for (size_t i = 0; names[i]; i++)
        if (line_find(line, names[i]) && observe_after(line->text, names[i], value, NULL) && isfinite(*value) && *value > 0)
            return true;
    return false;
}

/* Steps and epochs that the line tells, so that only the same moment is compared. */
static double moment_of(const char *text)
{
    double step = 0, epoch = 0;
    if (!observe_after(text, "step", &step, NULL))
        (void)observe_after(text, "iter", &step, NULL);
    (void)observe_after(text, "epoch", &epoch, NULL);
    return step * 1000 + epoch;
}

static void take(struct measured *measured, int32_t rank, double moment, double value, double apart, const struct place *place)
{
    if (measured->ranks && measured->moment == moment && rank != measured->rank) {
        double off = fabs(value - measured->value) / fmax(value, measured->value);
        measured->ranks++;
        measured->unlike += off > apart;
    } else if (measured->moment != moment || !measured->ranks || rank == measured->rank) {
        measured->ranks = 1;
        measured->unlike = 0;
    }
    measured->rank = rank;
    measured->moment = moment;
    measured->value = value;
    if (measured->ranks >= RANKS_LEAST && measured->unlike >= RANKS_LEAST - 1 && measured->ranks > measured->most) {
        measured->most = measured->ranks;
        measured->at = *place;
    }
}

/* "rank_5.txt: step  8121  local loss nan" beside numbers of other ranks */
static void take_loss(struct measured_loss *loss, int32_t rank, double moment, double value, const struct place *place)
{
    if (loss->alone)
        return;
    if (loss->moment != moment || rank == loss->last)
        *loss = (struct measured_loss){.moment = moment};
    loss->last = rank;
    loss->numbers += isfinite(value) ? 1U : 0U;
    if (isnan(value)) {
        loss->none++;
        loss->none_rank = rank;
        loss->at = *place;
    }
    loss->alone = loss->none == 1 && loss->numbers >= RANKS_LEAST - 1;
}

void measures_line(struct observe_measures *measures, const struct line *line, const struct place *place)
{
    double value;
    int32_t rank;
    if (named_value(line, norms, &value) && rank_of(line, &rank))
        take(&measures->norm, rank, moment_of(line->text), value, NORM_APART, place);
    else if (named_value(line, scores, &value) && rank_of(line, &rank))
        take(&measures->score, rank, moment_of(line->text), value, SCORE_APART, place);
    if (observe_value(line, "loss", &value, NULL) && rank_of(line, &rank))
        take_loss(&measures->loss, rank, moment_of(line->text), value, place);
}

void measures_conclude(const struct observe_measures *measures, struct collect *collect)
{
    if (measures->norm.most)
        observe_tell(collect, &measures->norm.at, "ranks: %u of them print unlike norms of the gradients for one step",
                     measures->norm.most);
    if (measures->loss.alone)
        observe_tell(collect, &measures->loss.at, "ranks: the loss is no number on rank %d alone", measures->loss.none_rank);
    if (measures->score.most)
        observe_tell(collect, &measures->score.at, "ranks: %u of them print unlike scores of one evaluation", measures->score.most);
}

/* A run that goes on from a checkpoint: its learning rate and its loss should be those that it had before. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scan/observe/rates.h"
#include "scan/observe/values.h"

#define STEPS_ON 0.02     /* of the steps before: so near the first line behind the resume has to be */
#define RATE_CHANGED 1.25 /* from one step to the next */
#define LOSS_JUMPED 1.5   /* over the highest of the last losses */
#define LOSS_COUNT 3
#define NORM_JUMPED 2.0 /* times the highest of the last gradient norms, */
#define NORM_LINES 4    /* within so many lines, and with a loss that leaves the range of the last ones */
#define NAMES_LEAST 8   /* fewer may be one layer that was renamed */

/* "successfully loaded checkpoint from /ckpt at iteration 400", "Resuming training from checkpoint step 10", "$ run.sh --resume out" */
static bool resumes(const struct line *line)
{
    static const char *const words[] = {"resuming from",      "resuming training", "resumed from",    "loaded checkpoint",
                                        "restored from",      "restoring from",    "=> loaded",       "resume from checkpoint",
                                        "loading checkpoint", "resumed: step",     "resumed at step", NULL};
    static const char *const options[] = {"--resume", "--load ", "--ckpt.resume", "resume_from", "--load_dir", "--auto_resume", NULL};
    const char *const *list = *line->text == '$' ? options : words;
    while (*list && !line_find(line, *list))
        list++;
    return *list != NULL;
}

static bool read_step(const struct line *line, double *step)
{
    static const char *const words[] = {"iteration", "global_step", "global step", "step", "iter"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (observe_value(line, words[i], step, NULL))
            return *step >= 0 && *step == floor(*step);
    return false;
}

/* The number before or behind a word: "163 missing keys", "missing keys: 163" */
static bool count_beside(const char *text, const char *word, double *count)
{
    const char *p = observe_behind(text, word), *begin = p ? p - strlen(word) : NULL;
    while (begin && begin > text && begin[-1] == ' ')
        begin--;
    const char *digits = begin;
    while (digits && digits > text && isdigit((unsigned char)digits[-1]))
        digits--;
    if (digits && digits < begin)
        return observe_number(&digits, count);
    p = p && !strncmp(p, " keys", 5) ? p + 5 : p && !strncmp(p, "_keys", 5) ? p + 5 : p;
    p = p ? p + strspn(p, " :=") : NULL;
    return p && isdigit((unsigned char)*p) && observe_number(&p, count);
}

/* Names that carry a prefix: each is missing, and unexpected as well. */
static void read_names(struct observe_resume *resume, const struct line *line, const struct place *place)
{
    double missing, unexpected;
    if (line_find(line, "missing") && line_find(line, "unexpected") && count_beside(line->text, "missing", &missing) &&
        count_beside(line->text, "unexpected", &unexpected) && missing == unexpected && missing >= NAMES_LEAST) {
        resume->names = missing;
        resume->names_at = *place;
    }
}

static double highest_of(const double last[LOSS_COUNT])
{
    return fmax(last[0], fmax(last[1], last[2]));
}

/* Optimizer states that did not come back: the first steps behind a resume go astray. `step` is NAN where it does not follow the last one. */
static void read_norm(struct observe_resume *resume, const struct line *line, double step, double loss, const struct place *place)
{
    double norm = NAN;
    if (!observe_value(line, "grad_norm", &norm, NULL))
        (void)observe_value(line, "grad norm", &norm, NULL);
    resume->behind = isnan(step) ? 0 : resume->resumed ? NORM_LINES : resume->behind - (resume->behind > 0);
    if (!resume->behind) {
        if (norm > 0)
            resume->norms[resume->norm_count++ % LOSS_COUNT] = norm;
        return;
    }
    double most = highest_of(resume->last), least = fmin(resume->last[0], fmin(resume->last[1], resume->last[2]));
    double before = highest_of(resume->norms);
    if (resume->norm_count >= LOSS_COUNT && norm > NORM_JUMPED * before && resume->losses >= LOSS_COUNT && loss - most > most - least) {
        resume->told_norm = norm;
        resume->before_norm = before;
        resume->norm_step = step;
        resume->norm_at = *place;
        resume->behind = 0;
    }
}

void resume_line(struct observe_resume *resume, const struct line *line, const struct place *place)
{
    double step, rate = NAN, loss;
    read_names(resume, line, place);
    if (*line->text == '$') /* another run; without a word of resuming it begins anew */
        resume->resumed = false;
    if (resumes(line)) {
        resume->resumed = resume->losses > 0 || resume->rate > 0;
        return;
    }
    if (!read_step(line, &step))
        return;
    const char *at;
    loss = rates_loss(line, &at);
    if (!observe_value(line, "lr", &rate, NULL) && !observe_value(line, "learning_rate", &rate, NULL))
        (void)observe_value(line, "learning rate", &rate, NULL);
    if (isnan(loss) && isnan(rate))
        return;
    bool follows = step >= resume->step && step <= resume->step + fmax(1, STEPS_ON * resume->step), next = resume->resumed && follows;
    read_norm(resume, line, follows ? step : NAN, loss, place);
    if (next && rate > 0 && resume->rate > 0 && (rate > RATE_CHANGED * resume->rate || rate * RATE_CHANGED < resume->rate)) {
        resume->told_rate = rate;
        resume->before_rate = resume->rate;
        resume->rate_step = step;
        resume->rate_at = *place;
    }
    double highest = highest_of(resume->last);
    if (next && !isnan(loss) && resume->losses >= LOSS_COUNT && loss > LOSS_JUMPED * highest) {
        resume->told_loss = loss;
        resume->before_loss = highest;
        resume->loss_step = step;
        resume->loss_at = *place;
    }
    resume->resumed = false;
    if (step < resume->step)
        resume->losses = resume->norm_count = 0; /* it began anew */
    resume->step = step;
    resume->rate = rate > 0 ? rate : 0;
    if (!isnan(loss))
        resume->last[resume->losses++ % LOSS_COUNT] = loss;
}

void resume_conclude(const struct observe_resume *resume, struct collect *collect)
{
    if (resume->told_rate > 0)
        observe_tell(collect, &resume->rate_at, "resumed: the learning rate is %.3g at step %.0f and was %.3g before", resume->told_rate,
                     resume->rate_step, resume->before_rate);
    if (resume->names > 0)
        observe_tell(collect, &resume->names_at, "checkpoint: as many names are missing as are unexpected (%.0f)", resume->names);
    if (resume->told_norm > 0)
        observe_tell(collect, &resume->norm_at, "resumed: the gradient norm is %.3g at step %.0f and was %.3g before", resume->told_norm,
                     resume->norm_step, resume->before_norm);
    if (resume->told_loss > 0)
        observe_tell(collect, &resume->loss_at, "resumed: the loss is %.4g at step %.0f and was %.4g at most before", resume->told_loss,
                     resume->loss_step, resume->before_loss);
}

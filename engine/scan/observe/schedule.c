/* Learning rates against planned steps: a schedule that each process advances is over too soon, one that counts too many steps never ends. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scan/observe/values.h"

#define ENDED_EARLY 0.6   /* of the steps */
#define HARDLY_FALLEN 0.6 /* of the highest rate, at the last step */
#define STEPS_LEAST 20.0

/* "Step 500/10000", "|######| 200/800 [": the step of how many; the last pair of the line, a bar counts behind its share */
static bool read_step(const char *text, double *step, double *total)
{
    bool found = false;
    for (const char *slash = strchr(text, '/'); slash; slash = strchr(slash + 1, '/')) {
        const char *begin = slash, *q;
        while (begin > text && isdigit((unsigned char)begin[-1]))
            begin--;
        q = slash + 1;
        if (begin == slash || (begin > text && strchr("/.-:", begin[-1])) || !isdigit((unsigned char)*q) || !observe_number(&q, total) ||
            *q == '/' || *q == '.')
            continue;
        q = begin;
        found = observe_number(&q, step) && *total >= STEPS_LEAST && *step <= *total;
    }
    return found;
}

/* "--max-train-steps 2000", "--max_steps=500", "trainer.max_steps=500" of a command */
static double planned_steps(const char *text)
{
    static const char *const names[] = {"max_steps",   "max-steps", "max_train_steps", "max-train-steps",   "train_iters",
                                        "train-iters", "max_iters", "total_steps",     "num_training_steps"};
    double steps;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (observe_after(text, names[i], &steps, NULL) && steps >= STEPS_LEAST)
            return steps;
    return 0;
}

/* Down to nothing and up again: the steps of all processes were counted, and a cosine that is not cut off goes on. */
static void follow(struct observe_schedule *schedule, double rate, const struct place *place)
{
    schedule->peak = fmax(schedule->peak, rate);
    if (rate == 0 && schedule->fell > 0)
        schedule->bottom = true;
    else if (schedule->bottom && rate > 0.1 * schedule->peak && !schedule->again) {
        schedule->again = true;
        schedule->again_at = *place;
    }
    if (schedule->before > rate)
        schedule->fell++;
    schedule->before = rate;
}

/* What a whole run shows. */
static bool ended_early(const struct observe_schedule *schedule)
{
    return schedule->ended > 0 && schedule->went_on && schedule->ended <= ENDED_EARLY * schedule->total;
}

static bool hardly_fallen(const struct observe_schedule *schedule)
{
    double most = fmax(schedule->first, schedule->most);
    return schedule->decays && schedule->last_share >= 1 && most > 0 && schedule->last_rate > HARDLY_FALLEN * most;
}

void schedule_line(struct observe_schedule *schedule, const char *text, const struct place *place, unsigned runs)
{
    double rate, step = 0, total = 0;
    bool told = observe_after(text, "lr", &rate, NULL) || observe_after(text, "learning_rate", &rate, NULL);
    static const char *const decaying[] = {"scheduler=linear", "scheduler linear", "scheduler_type: linear",
                                           "scheduler=cosine", "scheduler cosine", "scheduler_type: cosine",
                                           "CosineAnnealing",  "cosine decay",     "linear decay"};
    if (runs != schedule->runs) {
        if (schedule->runs && (ended_early(schedule) || hardly_fallen(schedule) || schedule->again))
            return; /* of the runs before this one */
        *schedule = (struct observe_schedule){.runs = runs, .decays = schedule->decays};
    }
    double planned = *text == '$' ? planned_steps(text) : 0;
    schedule->planned = planned > 0 ? planned : schedule->planned;
    for (size_t i = 0; i < sizeof decaying / sizeof *decaying; i++)
        schedule->decays = schedule->decays || strstr(text, decaying[i]);
    if (!told)
        return;
    if (*text != '$' && rate >= 0 && rate < 1)
        follow(schedule, rate, place);
    bool stepped = read_step(text, &step, &total);
    if (!stepped && schedule->planned > 0 && *text != '$' && observe_after(text, "step", &step, NULL)) {
        total = schedule->planned;
        stepped = step >= 0 && step <= total;
    }
    if (!stepped) {
        if (rate > 0 && rate < 1 && strstr(text, "learning_rate"))
            schedule->first = rate;
        return;
    }
    if (rate == 0 && schedule->most > 0 && !(schedule->ended > 0)) {
        schedule->ended = step;
        schedule->total = total;
        schedule->at = *place;
    }
    schedule->went_on = schedule->went_on || (schedule->ended > 0 && step > schedule->ended);
    schedule->most = rate < 1 && rate > schedule->most ? rate : schedule->most;
    schedule->last_rate = rate;
    schedule->last_share = step / total;
    if (!(schedule->ended > 0))
        schedule->at = *place;
}

void schedule_conclude(const struct observe_schedule *schedule, unsigned started, struct collect *collect)
{
    if (schedule->again && started > 1)
        observe_tell(collect, &schedule->again_at, "learning rate: falls to 0 and rises again with %u processes", started);
    double most = fmax(schedule->first, schedule->most);
    if (ended_early(schedule))
        observe_tell(collect, &schedule->at, "learning rate: 0 already at step %.0f of %.0f", schedule->ended, schedule->total);
    else if (hardly_fallen(schedule) && started > 1)
        observe_tell(collect, &schedule->at, "learning rate: %.3g at the last step, it has hardly fallen from %.3g", schedule->last_rate,
                     most);
}

/* A model that was evaluated on one GPU and on several should score the same. Training apart: what two trainings reach is never equal. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/commands.h"
#include "scan/observe/rates.h"
#include "scan/observe/values.h"

#define APART_LEAST 0.0003 /* of the score: more than rounding does */
#define APART_MOST 0.3     /* beyond that another thing was measured */

/* A command that evaluates, or a remark that one model was used */
static void read_command(struct observe_scores *scores, const char *text)
{
    static const char *const evaluating[] = {"eval", "test", "infer", "decode", "validat", " val ", NULL};
    static const char *const looking[] = {"grep ", "cat ", "sed ", "wc ", "ls ", "for ", "tail ", "nvidia-smi", "pip ", "diff ", NULL};
    unsigned gpus = 0, nodes = 0;
    const char *command = text + 1 + strspn(text + 1, " ");
    for (size_t i = 0; looking[i]; i++)
        if (!strncmp(command, looking[i], strlen(looking[i])))
            return;
    commands_counts(text, &gpus, &nodes);
    scores->evaluating = observe_any(text, evaluating);
    scores->program = commands_program(text);
    scores->width = (gpus ? gpus : 1) * (nodes ? nodes : 1);
}

/* The first number with a fraction; `shape` gets the hash of all letters. */
static bool read_score(const char *text, double *score, uint64_t *shape)
{
    bool found = false;
    *shape = OBSERVE_HASH;
    for (const char *p = text; *p; p++) {
        const char *q = p;
        double value;
        bool begins = isdigit((unsigned char)*p) && (p == text || !isalnum((unsigned char)p[-1]));
        if (begins && observe_number(&q, &value)) {
            if (!found && memchr(p, '.', (size_t)(q - p)) && value > 0) {
                *score = value;
                found = true;
            }
            p = q - 1;
        } else if (isalpha((unsigned char)*p)) {
            *shape = observe_hash(*shape, p, 1);
        }
    }
    return found;
}

void scores_line(struct observe_scores *scores, const struct line *line, const struct place *place)
{
    static const char *const other_values[] = {"time",  "/s",   "s/",     "sec",   "eta",     "elapsed", "took",   "memory",
                                               "mib",   "lr",   "step",   "iter",  "version", "it]",     "loaded", "python",
                                               "torch", "size", "driver", "busbw", "GB",      "config",  NULL};
    const char *text = line->text;
    struct score now = {.program = scores->program, .width = scores->width};
    if (*text == '$') {
        read_command(scores, text);
        return;
    }
    bool told = strcasestr(text, "test result") != NULL;
    if ((!scores->evaluating && !told) || !scores->width || line->length > 200 || observe_any(text, other_values) ||
        !read_score(text, &now.value, &now.shape))
        return;
    for (unsigned i = 0; i < scores->count; i++) {
        const struct score *one = &scores->list[i];
        double apart = fabs(one->value - now.value) / fmax(one->value, now.value);
        if (one->shape != now.shape || one->program != now.program)
            continue;
        if (one->width == now.width)
            return; /* the first of a run counts */
        if (apart >= APART_LEAST && apart <= APART_MOST && apart > scores->apart) {
            scores->apart = apart;
            scores->one = *one;
            scores->other = now;
            scores->at = *place;
        }
    }
    if (scores->count < SCORES_MAX)
        scores->list[scores->count++] = now;
}

void scores_conclude(const struct observe_scores *scores, struct collect *collect)
{
    if (scores->apart > 0)
        observe_tell(collect, &scores->at, "evaluation: a score is %.5g with %u GPUs and %.5g with %u", scores->other.value,
                     scores->other.width, scores->one.value, scores->one.width);
}

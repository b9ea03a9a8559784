#include <math.h>
#include <stdio.h>

#include "eval.h"

double rate(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

double calibration_error(const struct figures *figures)
{
    double error = 0;
    size_t answers = 0;
    for (size_t i = 0; i < 10; i++)
        answers += figures->bins[i].count;
    for (size_t i = 0; i < 10; i++)
        if (figures->bins[i].count)
            error += fabs(figures->bins[i].confidence - (double)figures->bins[i].right) / (double)answers;
    return error;
}

void print_figures(FILE *out, const char *title, const struct figures *f)
{
    fprintf(out, "\n%s\n", title);
    if (f->cases) {
        fprintf(out, "  cases %zu   symptom@1 %.3f (%zu)   symptom@3 %.3f (%zu)   fix@1 %.3f (%zu)   fix@3 %.3f (%zu)   abstained %zu\n",
                f->cases, rate(f->symptom1, f->cases), f->symptom1, rate(f->symptom3, f->cases), f->symptom3, rate(f->fix1, f->cases),
                f->fix1, rate(f->fix3, f->cases), f->fix3, f->abstained);
        if (f->rank_asked)
            fprintf(out, "  first failing rank right %zu of %zu\n", f->rank_right, f->rank_asked);
        fprintf(out, "  expected calibration error %.3f\n  confidence   answers   right   said\n", calibration_error(f));
        for (size_t i = 0; i < 10; i++)
            if (f->bins[i].count)
                fprintf(out, "  %.1f - %.1f    %7zu   %5.2f   %4.2f\n", (double)i / 10, (double)(i + 1) / 10, f->bins[i].count,
                        rate(f->bins[i].right, f->bins[i].count), f->bins[i].confidence / (double)f->bins[i].count);
    }
    if (f->healthy)
        fprintf(out, "  without a training fault %zu   reported as faults %zu   with a confident cause %zu\n", f->healthy, f->false_alarms,
                f->confident_noise);
}

json_t *figures_json(const struct figures *f)
{
    json_t *object = json_object();
    if (f->cases) {
        json_object_set_new(object, "cases", json_integer((json_int_t)f->cases));
        json_object_set_new(object, "symptom1", json_integer((json_int_t)f->symptom1));
        json_object_set_new(object, "symptom3", json_integer((json_int_t)f->symptom3));
        json_object_set_new(object, "fix1", json_integer((json_int_t)f->fix1));
        json_object_set_new(object, "fix3", json_integer((json_int_t)f->fix3));
        json_object_set_new(object, "rank", json_integer((json_int_t)f->rank_right));
    }
    if (f->healthy) {
        json_object_set_new(object, "healthy", json_integer((json_int_t)f->healthy));
        json_object_set_new(object, "false_alarms", json_integer((json_int_t)f->false_alarms));
        json_object_set_new(object, "confident_noise", json_integer((json_int_t)f->confident_noise));
    }
    return object;
}

size_t compare_figures(const json_t *recorded, const char *name, const struct figures *f)
{
    json_t *now = figures_json(f);
    const char *key;
    json_t *was;
    size_t dropped = 0;
    json_t *file = json_object_get(recorded, name);
    json_object_foreach(file, key, was)
    {
        json_int_t before = json_integer_value(was), after = json_integer_value(json_object_get(now, key));
        bool lower_is_better = key[0] == 'f' ? key[1] == 'a' : key[0] == 'c' && key[1] == 'o';
        if (lower_is_better ? after <= before : after >= before)
            continue;
        fprintf(stderr, "%s: %s was %lld, is %lld\n", name, key, (long long)before, (long long)after);
        dropped++;
    }
    json_decref(now);
    return dropped;
}

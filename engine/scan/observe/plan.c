/* What a trainer announces, and whether it adds up. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scan/observe/speed.h"

#define STEPS_OFF 1.8 /* times as many steps as examples, epochs and batch make */

/* "Num examples = 67,349": thousands are parted by commas */
static double announced(const char *text, const char *name)
{
    const char *p = strstr(text, name);
    if (!p)
        return 0;
    p += strlen(name);
    p += strcspn(p, "=:");
    p += strspn(p, "=: ");
    double value = 0;
    for (; isdigit((unsigned char)*p) || (*p == ',' && isdigit((unsigned char)p[1])); p++)
        value = *p == ',' ? value : value * 10 + (*p - '0');
    return value;
}

void plan_line(struct observe_plan *plan, const char *text, const struct place *place)
{
    static const char *const names[] = {"Num examples",
                                        "Num Epochs",
                                        "Total train batch size",
                                        "Total optimization steps",
                                        "Instantaneous batch size per device",
                                        "Gradient Accumulation steps"};
    double *values[] = {&plan->examples, &plan->epochs, &plan->batch, &plan->steps, &plan->per_device, &plan->accumulated};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double value = announced(text, names[i]);
        if (value > 0) {
            *values[i] = value;
            plan->at = *place;
        }
    }
}

void plan_conclude(const struct observe_plan *plan, struct collect *collect)
{
    double due = plan->batch > 0 ? ceil(plan->examples / plan->batch) * plan->epochs : 0;
    if (due >= 20 && plan->steps > STEPS_OFF * due) /* fewer are a limit that somebody set */
        observe_tell(collect, &plan->at, "steps: %.0f are planned where examples, epochs and batch make %.0f", plan->steps, due);
}

unsigned plan_devices(const struct observe_plan *plan)
{
    double devices = plan->per_device > 0 ? plan->batch / (plan->per_device * fmax(1, plan->accumulated)) : 0;
    return devices >= 1 && devices < 100000 ? (unsigned)devices : 0;
}

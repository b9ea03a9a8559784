/* What the report of PyTorch/XLA's metrics says of compiling: a graph for each step is one for each shape, or for each value that was read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/speed.h"

#define COMPILED_LEAST 10.0 /* graphs: so many a healthy job has for its first steps */
#define COMPILED_OFTEN 0.3  /* of the executions */
#define COMPILED_LONG 300.0 /* seconds */
#define COMPILED_LONGER 5.0 /* times as long as executing */

/* "48m11s803ms657.123us", "01d02h": seconds */
static double seconds_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 0.001}, {"us", 1e-6}, {"ns", 1e-9}, {"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};
    double sum = 0, value;
    while (observe_number(&text, &value)) {
        size_t i = 0;
        while (i < sizeof units / sizeof *units && strncmp(text, units[i].unit, strlen(units[i].unit)) != 0)
            i++;
        if (i == sizeof units / sizeof *units)
            break;
        sum += value * units[i].seconds;
        text += strlen(units[i].unit);
    }
    return sum;
}

void xla_line(struct observe_xla *xla, const struct line *line, const struct place *place)
{
    const char *metric = line_find_exact(line, "Metric: "), *text = line->text;
    double value;
    if (metric) {
        xla->metric = !strncmp(metric + 8, "CompileTime", 11)   ? XLA_COMPILES
                      : !strncmp(metric + 8, "ExecuteTime", 11) ? XLA_EXECUTES
                                                                : XLA_OTHER;
        if (xla->metric == XLA_COMPILES)
            xla->at = *place;
    }
    if (xla->metric == XLA_OTHER)
        return;
    if (strstr(text, "Counter: ")) {
        xla->metric = XLA_OTHER;
        return;
    }
    bool compiles = xla->metric == XLA_COMPILES;
    const char *sum = strstr(text, "Accumulator: ");
    if (observe_after(text, "TotalSamples", &value, NULL))
        *(compiles ? &xla->compiled : &xla->executed) = value;
    if (sum)
        *(compiles ? &xla->compile_seconds : &xla->execute_seconds) = seconds_of(sum + strlen("Accumulator: "));
}

void xla_conclude(const struct observe_xla *xla, struct collect *collect)
{
    if (xla->compiled < COMPILED_LEAST)
        return;
    if (xla->executed > 0 && xla->compiled >= COMPILED_OFTEN * xla->executed)
        observe_tell(collect, &xla->at, "XLA: compiled %.0f graphs for %.0f executions", xla->compiled, xla->executed);
    else if (xla->compile_seconds >= COMPILED_LONG && xla->compile_seconds > COMPILED_LONGER * xla->execute_seconds)
        observe_tell(collect, &xla->at, "XLA: compiled %.0f graphs, which took %.0f s", xla->compiled, xla->compile_seconds);
}

/* Values that are printed again and again: a loss that is NaN, stands still or grows, gradients of zero, memory that only rises. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scan/observe/rates.h"
#include "scan/observe/values.h"

#define SAME_COUNT 5 /* equal losses, to the last digit */
#define ZERO_COUNT 3 /* gradient norms or losses of zero */
#define GROW_COUNT 5
#define LOSS_GROWN 3.0 /* over the least */
#define MEMORY_COUNT 4
#define MEMORY_GROWN 1.5
#define MEMORY_ALWAYS 1.15 /* where every single print is higher than the one before, and there are some */
#define MEMORY_EVEN 0.6    /* each print adds that share of the average step at least */
#define RESIDENT_LARGE 8.0 /* GB */
#define RESIDENT_SAME 0.02
#define HOST_FULL 0.9
#define CHANCE_COUNT 5
#define CHANCE_MOST 0.15
#define MOST_REPLICAS 33.0 /* a share that was added up over more is per cent, rather */

static struct series *series_of(struct observe_series *all, const char *name)
{
    for (unsigned i = 0; i < all->count; i++)
        if (!strcmp(all->list[i].name, name))
            return &all->list[i];
    if (all->count == SERIES_MAX)
        return NULL;
    struct series *series = &all->list[all->count++];
    *series = (struct series){0};
    (void)snprintf(series->name, sizeof series->name, "%s", name);
    return series;
}

static void add(struct observe_series *all, const char *name, double value, const char *printed, size_t length, const struct place *place)
{
    struct series *series = series_of(all, name);
    if (!series)
        return;
    if (!isfinite(value)) {
        if (!series->nans++)
            series->nan_at = *place;
        series->values.last = *place;
        return;
    }
    series->finite_first = series->finite_first || !series->nans;
    length = length < sizeof series->first_text ? length : sizeof series->first_text - 1;
    if (!series->count)
        (void)snprintf(series->first_text, sizeof series->first_text, "%.*s", (int)length, printed);
    series->same += strlen(series->first_text) == length && !memcmp(series->first_text, printed, length);
    series->zeros += value == 0;
    series->count++;
    readings_add(&series->values, value, place);
}

/* "loss: 2.3", "'loss': 2.3", "loss = 2.3", "train_loss=2.3", "total_loss: 26.6", "2.86 avg loss" */
static void read_loss(struct observe_series *all, const char *text, const struct place *place)
{
    double value;
    for (const char *p = text; (p = strcasestr(p, "loss")); p += 4) {
        if (isalpha((unsigned char)p[4]) || (p > text && isalpha((unsigned char)p[-1])) || (p - text >= 5 && !strncmp(p - 5, "eval_", 5)) ||
            (p - text >= 4 && !strncmp(p - 4, "val_", 4)))
            continue;
        const char *q = p + 4 + strspn(p + 4, " \t:='\"([");
        const char *begin = q;
        if (q - p > 4 && q - p <= 10 && observe_number(&q, &value)) {
            add(all, "loss", value, begin, (size_t)(q - begin), place);
            return;
        }
        if (p - text > 6 && !strncmp(p - 5, " avg ", 5)) { /* darknet's form */
            const char *end = p - 5;
            begin = end;
            while (begin > text && begin[-1] != ' ' && begin[-1] != ',')
                begin--;
            q = begin;
            if (observe_number(&q, &value) && q == end)
                add(all, "loss", value, begin, (size_t)(end - begin), place);
            return;
        }
    }
}

/* In GB where a unit says so: a value that grows may change it. */
static double with_unit(const char *behind, double value)
{
    behind += strspn(behind, " ");
    if (!strncasecmp(behind, "TB", 2) || !strncasecmp(behind, "TiB", 3))
        return value * 1000;
    return !strncasecmp(behind, "MB", 2) || !strncasecmp(behind, "MiB", 3) ? value / 1000 : value;
}

static void read_named(struct observe_series *all, const char *text, const char *word, const char *name, const struct place *place)
{
    double value;
    const char *at;
    if (!observe_after(text, word, &value, &at))
        return;
    size_t length = strspn(at, "0123456789.eE+-");
    if (at - text >= 2 && at[-1] == '[' && isalnum((unsigned char)at[-2]))
        return; /* "mem[0]": of a program's text */
    add(all, name, strstr(name, "memory") ? with_unit(at + length, value) : value, at, length, place);
}

/* "[rank 3] scene loaded, host rss 118.4 GB", "58210 MB" of a list of processes: the same large amount in each of them */
static void read_resident(struct observe_series *all, const char *text, const struct place *place)
{
    double value;
    const char *at, *p = text;
    bool own = observe_after(text, "rss", &value, &at);
    if (!own && (!isdigit((unsigned char)*text) || !observe_number(&p, &value) || (strcmp(p, " MB") != 0 && strcmp(p, " GB") != 0)))
        return;
    double amount = with_unit(own ? at + strspn(at, "0123456789.") : p, value);
    if (amount < RESIDENT_LARGE || amount > 100000)
        return;
    all->residents = all->resident > 0 && fabs(amount / all->resident - 1) < RESIDENT_SAME ? all->residents + 1 : 1;
    all->resident = amount;
    all->most_residents = all->residents > all->most_residents ? all->residents : all->most_residents;
    all->resident_at = *place;
}

/*
 * "sparse_categorical_accuracy: 2.17 - val_sparse_categorical_accuracy: 0.8993": a share of 1 in validation, more than 1 in training. Keras prints
 * shares only, so that on its own line ("21s 61ms/step - loss: 0.59 - accuracy: 2.7441") the training's number is enough.
 */
static void read_share(struct observe_series *all, const char *text, const struct place *place)
{
    double own = NAN, validated = NAN, value;
    for (const char *p = text; (p = strcasestr(p, "accuracy")); p += 8) {
        const char *begin = p, *q = p + 8 + strspn(p + 8, ": ");
        while (begin > text && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_'))
            begin--;
        if (q - p > 8 && q - p < 12 && observe_number(&q, &value))
            *(!strncmp(begin, "val_", 4) ? &validated : &own) = value;
    }
    bool keras = strstr(text, "s/step - ") && strcasestr(text, "loss: ");
    if (own > 1.001 && ((keras && own < MOST_REPLICAS) || (own < 100 && validated > 0 && validated <= 1))) {
        all->shares_above++;
        all->share_at = *place;
    }
}

/* What free(1) says is used, at each of its calls. */
static void read_free(struct observe_series *all, const char *text, const struct place *place)
{
    double total, used;
    if (strstr(text, "used") && strstr(text, "free") && strstr(text, "buff/cache"))
        all->memory_header = true;
    else if (all->memory_header && sscanf(text, "Mem: %lf %lf", &total, &used) == 2) {
        add(all, "host memory", used, text, strlen(text), place);
        all->host_share = total > 0 ? used / total : 0;
    }
}

/* "9713 MiB" alone, as a query without a heading prints it; "Memory info of GPU:0: current: 0.18, peak: 2.55" */
static void read_bare_memory(struct observe_series *all, const char *text, const struct place *place)
{
    static const char *const kinds[] = {"current", "used", "allocated", "rss"};
    const char *comma = strstr(text, ", "), *memory = strcasestr(text, "memory ");
    bool stamped = comma && memchr(text, ':', (size_t)(comma - text)) && strspn(text, "0123456789/:. ") == (size_t)(comma - text);
    const char *p = stamped ? comma + 2 : text + strspn(text, ", ");
    double value;
    p += !strncmp(p, "0, ", 3) ? 3 : 0; /* the first GPU of several */
    if (isdigit((unsigned char)*p) && observe_number(&p, &value) && !strcmp(p, " MiB")) {
        add(all, "memory", value, text, (size_t)(p - text), place);
        return;
    }
    if (isdigit((unsigned char)*text) &&
        (strstr(text, "GB used") || strstr(text, "GiB used"))) { /* "37/62 GB used" of a loop over free(1) */
        p = text;
        if (observe_number(&p, &value))
            add(all, "host memory", value, text, (size_t)(p - text), place);
        return;
    }
    if (strstr(text, "MiB") && observe_after(text, "gpu0", &value, NULL)) {
        add(all, "memory", value / 1000, text, 0, place);
        return;
    }
    for (size_t i = 0; memory && i < sizeof kinds / sizeof *kinds; i++)
        if (observe_after(memory, kinds[i], &value, NULL)) {
            add(all, "memory", value, text, 0, place);
            return;
        }
}

/* ---- what the values say ---- */

enum loss_word { LOSS_FINE, LOSS_NAN, LOSS_ZERO, LOSS_SAME, LOSS_ABSENT, LOSS_GROWS };

static double least_of(const struct readings *values)
{
    double least = INFINITY;
    for (unsigned i = 0; i < values->count; i++)
        least = fmin(least, values->values[i]);
    return least;
}

static enum loss_word judge_loss(const struct series *loss)
{
    const struct readings *values = &loss->values;
    unsigned n = values->count, third = n / 3;
    double least = least_of(values), last = n ? values->values[n - 1] : NAN;
    size_t digits = strlen(loss->first_text);
    if (loss->nans >= 2)
        return LOSS_NAN;
    if (loss->zeros >= ZERO_COUNT && last == 0)
        return LOSS_ZERO;
    if (loss->same == loss->count && loss->count >= ZERO_COUNT && last == -1)
        return LOSS_ABSENT;
    if (loss->same == loss->count && (loss->count >= SAME_COUNT || (loss->count == SAME_COUNT - 1 && digits >= 7)) && digits >= 5)
        return LOSS_SAME;
    bool grows = n >= GROW_COUNT && least > 0 && last > LOSS_GROWN * least && last > 1.5 * values->values[0] &&
                 readings_median(values, n - third, n) > 2 * readings_median(values, 0, third);
    return grows ? LOSS_GROWS : LOSS_FINE;
}

static void tell_loss(const struct series *loss, struct collect *collect)
{
    const struct readings *values = &loss->values;
    switch (judge_loss(loss)) {
    case LOSS_FINE:
        break;
    case LOSS_NAN:
        observe_tell(collect, &loss->nan_at, "loss: NaN or infinite %s",
                     loss->finite_first ? "after finite values" : "from the first print on");
        break;
    case LOSS_ZERO:
        observe_tell(collect, &values->last, "loss: exactly 0 in %u prints", loss->zeros);
        break;
    case LOSS_SAME:
        observe_tell(collect, &values->last, "loss: %s in all of %u prints, it does not move", loss->first_text, loss->count);
        break;
    case LOSS_ABSENT:
        observe_tell(collect, &values->last, "loss: -1 in all of %u prints, the rank that prints has none", loss->count);
        break;
    case LOSS_GROWS:
        observe_tell(collect, &values->last, "loss: grows, %.4g at the end and %.4g at its least", values->values[values->count - 1],
                     least_of(values));
        break;
    }
}

/* Each print adds as much: what a leak does in every epoch, and no cache that fills. */
static bool rises_steadily(const struct series *memory)
{
    const double *values = memory->values.values;
    unsigned n = memory->values.count;
    double step = n > 1 ? (values[n - 1] - values[0]) / (n - 1) : 0;
    for (unsigned i = 1; i < n; i++)
        if (values[i] - values[i - 1] < MEMORY_EVEN * step)
            return false;
    return n >= MEMORY_COUNT && step > 0 && values[n - 1] > MEMORY_GROWN * values[0];
}

/* Another run begins: what was wrong with the one before is kept, its values are not mixed with those to come. */
static void next_run(struct observe_series *all)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < all->count; i++) {
        const struct series *one = &all->list[i];
        if (!strcmp(one->name, "loss") || !strcmp(one->name, "accuracy")) {
            if (judge_loss(one) != LOSS_FINE && !strcmp(one->name, "loss"))
                all->kept = *one;
        } else {
            bool leaks = strstr(one->name, "memory") && strcmp(one->name, "free memory") != 0 && rises_steadily(one);
            if (leaks)
                all->kept_memory = *one;
            if (!leaks || !strcmp(one->name, "host memory"))
                all->list[kept++] = *one;
        }
    }
    all->count = kept;
}

void series_line(struct observe_series *series, const struct line *line, const struct place *place, unsigned runs)
{
    const char *text = line->text;
    static const struct {
        const char *word, *name;
    } named[] = {{"MemAvailable", "free memory"},
                 {"grad_norm", "gradient norm"},
                 {"grad norm", "gradient norm"},
                 {"gradnorm", "gradient norm"},
                 {"RSS", "host memory"},
                 {"avail", "free memory"},
                 {"mem_usage", "memory"},
                 {"cpu mem", "host memory"},
                 {"host memory", "host memory"},
                 {"ram used", "host memory"},
                 {"cpu_mem", "host memory"},
                 {"max mem", "peak memory"},
                 {"memory allocated", "memory"},
                 {"gpu_mem", "memory"},
                 {"memory_allocated", "memory"},
                 {"gpu memory", "memory"},
                 {"host mem", "host memory"},
                 {"cuda allocated", "memory"},
                 {"mem_MB", "memory"},
                 {"gpu0 memory", "memory"},
                 {"max_mem", "peak memory"},
                 {"mem", "memory"}};
    if (runs != series->runs) {
        next_run(series);
        series->runs = runs;
    }
    read_free(series, text, place);
    if (!strpbrk(text, "0123456789") && !line_find(line, "nan"))
        return;
    read_loss(series, text, place);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (line_find(line, named[i].word)) {
            read_named(series, text, named[i].word, named[i].name, place);
            break;
        }
    read_bare_memory(series, text, place);
    read_resident(series, text, place);
    if (strstr(text, "val_"))
        read_share(series, text, place);
    double accuracy = rates_train_accuracy(line);
    if (!isnan(accuracy))
        add(series, "accuracy", accuracy, text, 0, place);
}

static void tell_memory(const struct series *memory, struct collect *collect)
{
    const struct readings *all = &memory->values;
    unsigned zeros = 0, rises = 0, falls = 0;
    while (zeros < all->count && all->values[zeros] <= 0)
        zeros++; /* nothing allocated yet */
    const double *values = all->values + zeros;
    unsigned n = all->count - zeros;
    if (n < MEMORY_COUNT - 1)
        return;
    double first = values[0], last = values[n - 1], late = 0;
    unsigned even = 0;
    for (unsigned i = 1; i < n; i++) {
        rises += values[i] > values[i - 1];
        falls += values[i] < values[i - 1];
        even += values[i] - values[i - 1] > MEMORY_EVEN * (last - first) / (n - 1);
        late += i >= n - n / 2 ? values[i] - values[i - 1] : 0;
    }
    /* What fills once and then stays is a cache; what leaks rises to the end. */
    if (n < MEMORY_COUNT && (even < n - 1 || last < 2 * first))
        return; /* of so few only an even growth tells */
    bool always = (n > MEMORY_COUNT || even == n - 1) && rises == n - 1 && last > MEMORY_ALWAYS * first;
    /* from time to time and never back, which is nothing unusual for the most that was used so far */
    bool stairs = n > MEMORY_COUNT && falls == 0 && rises >= MEMORY_COUNT - 1 && last >= 2 * first && strncmp(memory->name, "peak", 4) != 0;
    if ((((stairs || rises >= (n - 1) - (n - 1) / 8) && last > MEMORY_GROWN * first) || always) && late > 0.3 * (last - first))
        observe_tell(collect, &all->last, "%s: rises all the time, %.1f times as much at the end as at the beginning", memory->name,
                     last / first);
}

/* What /proc/meminfo says is left: falls with each print, to less than half. */
static void tell_free_memory(const struct series *memory, struct collect *collect)
{
    const struct readings *values = &memory->values;
    unsigned n = values->count;
    for (unsigned i = 1; i < n; i++)
        if (values->values[i] >= values->values[i - 1])
            return;
    if (n < MEMORY_COUNT)
        return;
    double first = values->values[0], half = values->values[n / 2], last = values->values[n - 1];
    if (last < first / 2 && half - last > 0.3 * (first - last))
        observe_tell(collect, &values->last, "host memory: what is left falls all the time, to %.0f %%", 100 * last / first);
}

/* One in ten, print after print: nothing is learned. */
static void tell_accuracy(const struct series *accuracy, struct collect *collect)
{
    const struct readings *values = &accuracy->values;
    double least = INFINITY, most = 0;
    for (unsigned i = 0; i < values->count; i++) {
        least = fmin(least, values->values[i]);
        most = fmax(most, values->values[i]);
    }
    if (values->count >= CHANCE_COUNT && most <= CHANCE_MOST && least >= CHANCE_MOST / 3 && most - least < 0.2 * most)
        observe_tell(collect, &values->last, "accuracy: stays between %.3g and %.3g in all of %u prints", least, most, accuracy->count);
}

void series_conclude(const struct observe_series *series, struct collect *collect)
{
    if (series->kept.count || series->kept.nans)
        tell_loss(&series->kept, collect);
    if (series->kept_memory.count)
        observe_tell(collect, &series->kept_memory.values.last, "%s: rises all the time, %.1f times as much at the end as at the beginning",
                     series->kept_memory.name,
                     series->kept_memory.values.values[series->kept_memory.values.count - 1] / series->kept_memory.values.values[0]);
    if (series->shares_above > 1)
        observe_tell(collect, &series->share_at, "metric: accuracy is above 1 in training, though it is a share");
    if (series->host_share >= HOST_FULL && series->most_residents > 1)
        observe_tell(collect, &series->resident_at, "host memory: %u processes hold %.0f GB each, nearly all of it", series->most_residents,
                     series->resident);
    for (unsigned i = 0; i < series->count; i++) {
        const struct series *one = &series->list[i];
        if (!strcmp(one->name, "loss"))
            tell_loss(one, collect);
        else if (!strcmp(one->name, "accuracy"))
            tell_accuracy(one, collect);
        else if (!strcmp(one->name, "gradient norm")) {
            if (one->zeros >= ZERO_COUNT && one->zeros == one->count)
                observe_tell(collect, &one->values.last, "gradient norm: exactly 0 in all of %u prints", one->zeros);
        } else if (!strcmp(one->name, "free memory"))
            tell_free_memory(one, collect);
        else
            tell_memory(one, collect);
    }
}

/* Too many threads for too few processors, as top(1), uptime(1), ps(1), mpstat(1) and the files of a cgroup show it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/observe/host.h"

#define LOAD_OVER 2.0     /* times the processors there are */
#define LOAD_LARGE 400.0  /* where their number is not told; half of it does beside a busy kernel */
#define SYSTEM_SHARE 30.0 /* per cent: switching threads, not computing */
#define THREADS_OVER 16.0 /* of all processes, times the processors */
#define QUOTA_OVER 4.0    /* threads of one process, times what it may use */
#define THROTTLED_OFTEN 1000.0
#define WAITING_SHARE 25.0 /* per cent, of all processors; writing a checkpoint makes as much for a moment */
#define WAITING_ALONE 50.0 /* of a single reading */

/* Which answers a command gives, in order. "$ nproc; cat /sys/fs/cgroup/cpu.max" */
static void read_command(struct observe_cpu *cpu, const char *text)
{
    static const struct {
        const char *word;
        enum cpu_question question;
    } words[] = {{"nproc", CPU_PROCESSORS}, {"-eLf", CPU_THREADS}, {"/task", CPU_THREADS}, {"nlwp", CPU_THREADS}, {"cpu.max", CPU_QUOTA}};
    cpu->asked_count = 0;
    for (const char *p = text; *p && cpu->asked_count < sizeof cpu->asked / sizeof *cpu->asked; p++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            size_t length = strlen(words[i].word);
            if (strncmp(p, words[i].word, length) != 0 ||
                (words[i].question == CPU_PROCESSORS && (p[length] == '_' || (p > text && p[-1] == '-'))))
                continue;
            cpu->asked[cpu->asked_count++] = words[i].question;
            p += length - 1;
            break;
        }
}

static void take_answer(struct observe_cpu *cpu, const char *text, const struct place *place)
{
    double value, period;
    int count = sscanf(text, "%lf %lf", &value, &period);
    if (count < 1 || value < 1)
        return;
    enum cpu_question question = cpu->asked[0];
    if (question == CPU_THREADS && strchr(text, ' ')) { /* rows of ps(1): as many as there are processes */
        cpu->threads += value;
        cpu->own_threads = value > cpu->own_threads ? value : cpu->own_threads;
        cpu->at = *place;
        return;
    }
    if (question == CPU_PROCESSORS)
        cpu->processors = value;
    else if (question == CPU_QUOTA && count == 2 && period > 0)
        cpu->quota = value / period;
    else if (question == CPU_THREADS) {
        cpu->threads = value;
        cpu->at = *place;
    }
    for (unsigned i = 1; i < cpu->asked_count; i++)
        cpu->asked[i - 1] = cpu->asked[i];
    cpu->asked_count--;
}

/* "64 cores", "96 hw threads", "CPU(s):  96" */
static void read_processors(struct observe_cpu *cpu, const char *text)
{
    static const char *const things[] = {" cores", " hw threads", " hardware threads", " CPUs", " vCPUs"};
    double value;
    if (!strncmp(text, "CPU(s):", 7) && observe_after(text, "CPU(s)", &value, NULL) && value >= 1)
        cpu->processors = value;
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        const char *at = strstr(text, things[i]), *begin = at;
        while (begin && begin > text && isdigit((unsigned char)begin[-1]))
            begin--;
        if (at && begin < at && at - begin < 5 && (begin == text || begin[-1] == ' ' || begin[-1] == '('))
            cpu->processors = strtod(begin, NULL);
    }
}

/* "%Cpu(s):  2.0 us,  0.6 sy, 21.4 id, 76.0 wa" of top(1), "avg-cpu:  %user  %nice %system %iowait" of iostat(1) */
static void read_waiting(struct observe_cpu *cpu, const char *text, const struct place *place)
{
    double user, nice, system, share = 0;
    const char *waits = strstr(text, "Cpu(s):") ? strstr(text, " wa") : NULL, *begin = waits;
    while (begin && begin > text && (isdigit((unsigned char)begin[-1]) || begin[-1] == '.'))
        begin--;
    if (begin && begin < waits)
        share = strtod(begin, NULL);
    else if (!cpu->averages || sscanf(text, " %lf %lf %lf %lf", &user, &nice, &system, &share) != 4)
        share = 0;
    cpu->averages = !strncmp(text, "avg-cpu:", 8) && strstr(text, "%iowait");
    cpu->waits += share >= WAITING_SHARE;
    if (share > cpu->waiting) {
        cpu->waiting = share;
        cpu->waiting_at = *place;
    }
}

void cpu_line(struct observe_cpu *cpu, const char *text, const struct place *place)
{
    double value, user, nice, system;
    if (*text == '$') {
        read_command(cpu, text);
        return;
    }
    if (cpu->asked_count && isdigit((unsigned char)text[strspn(text, " ")]))
        take_answer(cpu, text, place);
    if (observe_after(text, "load average", &value, NULL)) {
        cpu->load = value > cpu->load ? value : cpu->load;
        cpu->at = *place;
    }
    if (strstr(text, "Cpu(s):") ? sscanf(strstr(text, "Cpu(s):"), "Cpu(s): %lf us, %lf sy", &user, &system) == 2
                                : sscanf(text, "Average: all %lf %lf %lf", &user, &nice, &system) == 3) {
        cpu->system_share = system;
        cpu->at = *place;
    }
    read_waiting(cpu, text, place);
    if (!strncmp(text, "Threads:", 8) && observe_after(text, "Threads", &value, NULL))
        cpu->threads = value;
    if (observe_after(text, "nr_throttled", &value, NULL))
        cpu->throttled = value;
    read_processors(cpu, text);
}

void cpu_conclude(const struct observe_cpu *cpu, struct collect *collect)
{
    if (cpu->waiting >= (cpu->waits > 1 ? WAITING_SHARE : WAITING_ALONE) && cpu->waiting <= 100)
        observe_tell(collect, &cpu->waiting_at, "disk: the processors wait for it %.0f %% of their time", cpu->waiting);
    double usable = cpu->quota > 0 && (cpu->quota < cpu->processors || cpu->processors <= 0) ? cpu->quota : cpu->processors;
    double large = cpu->system_share >= SYSTEM_SHARE ? LOAD_LARGE / 4 : LOAD_LARGE;
    if (usable > 0 ? cpu->load >= LOAD_OVER * usable : cpu->load >= large)
        observe_tell(collect, &cpu->at, "processors: a load of %.0f%s", cpu->load, usable > 0 ? ", more than they can bear" : "");
    else if (cpu->system_share >= SYSTEM_SHARE)
        observe_tell(collect, &cpu->at, "processors: the kernel takes %.0f %% of their time", cpu->system_share);
    else if (usable > 0 && (cpu->threads >= THREADS_OVER * usable || (cpu->quota > 0 && cpu->own_threads >= QUOTA_OVER * usable)))
        observe_tell(collect, &cpu->at, "processors: %.0f threads for %.0f of them", cpu->threads, usable);
    else if (cpu->throttled >= THROTTLED_OFTEN)
        observe_tell(collect, &cpu->at, "processors: their quota was used up %.0f times", cpu->throttled);
}

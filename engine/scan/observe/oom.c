/* Out of memory on a GPU, by the sums that the message gives: what neither this process holds nor is free, others hold. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "scan/observe/gpus.h"

#define OTHERS_SHARE 0.2 /* of the card's memory: more than contexts take that every process has */
#define OTHERS_LEAST 1.5 /* GiB */
#define START_SHARE 0.3  /* of the card's memory, before the program takes any: a screen and contexts hold less */

/* "620.56 MiB" in GiB, NAN for anything else */
static double gib(const char *text)
{
    double value;
    if (!observe_number(&text, &value))
        return NAN;
    text += *text == ' ';
    return !strncmp(text, "GiB", 3) ? value : !strncmp(text, "MiB", 3) ? value / 1024 : !strncmp(text, "KiB", 3) ? value / 1048576 : NAN;
}

/* "10.76 GiB total capacity": the size in front of the words, which begin with a blank */
static double size_before(const char *text, const char *words)
{
    const char *p = strstr(text, words);
    if (!p)
        return NAN;
    while (p > text && isalpha((unsigned char)p[-1]))
        p--;
    p -= p > text && p[-1] == ' ';
    while (p > text && (isdigit((unsigned char)p[-1]) || p[-1] == '.'))
        p--;
    return gib(p);
}

static double size_behind(const char *text, const char *words)
{
    const char *p = strstr(text, words);
    return p ? gib(p + strlen(words)) : NAN;
}

/* TensorFlow 1 tells what a GPU has before it takes any of it: "totalMemory: 11.90GiB freeMemory: 423.62MiB", or in two lines. */
static void read_start(struct observe_oom *oom, const char *text, const struct place *place)
{
    static const char *const ends[] = {"OOM when allocating", "Resource exhausted", "ran out of memory", "CUDA_ERROR_OUT_OF_MEMORY", NULL};
    double total = size_behind(text, "otalMemory: "), free = size_behind(text, "freeMemory: ");
    total = isnan(total) ? size_behind(text, "Total memory: ") : total;
    free = isnan(free) ? size_behind(text, "Free memory: ") : free;
    oom->start_total = total > 0 ? total : oom->start_total;
    if (free >= 0 && oom->start_total > 0 && oom->start_total - free >= START_SHARE * oom->start_total) {
        oom->start_taken = oom->start_total - free;
        oom->start_at = *place;
    }
    /* An allocator that says "this is not a failure" tries again with less. */
    oom->ran_out = oom->ran_out || (oom->start_taken > 0 && observe_any(text, ends) && !strstr(text, "not a failure"));
}

void oom_line(struct observe_oom *oom, const char *text, const struct place *place)
{
    if (strstr(text, "emory") || strstr(text, "OOM") || strstr(text, "MEMORY"))
        read_start(oom, text, place);
    if (oom->total > 0 || !strstr(text, "out of memory"))
        return;
    double total = size_behind(text, "total capacity of "), free = size_behind(text, "of which "),
           own = size_behind(text, "this process has ");
    if (isnan(total)) {
        total = size_before(text, " total capacity");
        free = size_before(text, " free");
        own = size_before(text, " reserved in total");
        own = isnan(own) ? size_before(text, " cached") : own;
    }
    double others = total - free - own;
    if (!(others >= OTHERS_LEAST && others >= OTHERS_SHARE * total && others < total))
        return;
    oom->total = total;
    oom->others = others;
    oom->at = *place;
}

void oom_conclude(const struct observe_oom *oom, struct collect *collect)
{
    if (!(oom->total > 0) && oom->ran_out)
        observe_tell(collect, &oom->start_at, "GPU memory: other processes hold %.1f GiB of the %.1f GiB of the card", oom->start_taken,
                     oom->start_total);
    if (oom->total > 0)
        observe_tell(collect, &oom->at, "GPU memory: other processes hold %.1f GiB of the %.1f GiB of the card", oom->others, oom->total);
}

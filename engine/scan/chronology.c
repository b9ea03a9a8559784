#include "scan/chronology.h"

#include <math.h>
#include <stdlib.h>

struct moment {
    double time;
    size_t index; /* in the evidence as it came */
};

/* The first stamp in the evidence of a file; NAN when it has none. */
static double first_time(const struct findings *findings, uint32_t file)
{
    for (size_t i = 0; i < findings->evidence_count; i++)
        if (findings->evidence[i].file == file && !isnan(findings->evidence[i].time))
            return findings->evidence[i].time;
    return NAN;
}

/* Fills in the moments; false when a file with evidence has no stamp at all. Evidence is in file order here. */
static bool fill(const struct findings *findings, struct moment *moments)
{
    double now = NAN;
    for (size_t i = 0; i < findings->evidence_count; i++) {
        const struct evidence *evidence = &findings->evidence[i];
        if (i == 0 || evidence->file != findings->evidence[i - 1].file)
            now = first_time(findings, evidence->file);
        if (isnan(now))
            return false;
        if (!isnan(evidence->time))
            now = evidence->time;
        moments[i] = (struct moment){now, i};
    }
    return true;
}

static int by_time(const void *left, const void *right)
{
    const struct moment *l = left, *r = right;
    if (l->time < r->time || l->time > r->time)
        return l->time < r->time ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

dtkb_status chronology_order(struct findings *findings, struct err *err)
{
    size_t count = findings->evidence_count;
    if (findings->file_count < 2 || count < 2)
        return DTKB_OK;
    struct moment *moments = calloc(count, sizeof *moments);
    struct evidence *ordered = arena_alloc(&findings->arena, count * sizeof *ordered);
    if (!moments || !ordered) {
        free(moments);
        return err_nomem(err);
    }
    if (fill(findings, moments)) {
        qsort(moments, count, sizeof *moments, by_time);
        for (size_t i = 0; i < count; i++) {
            const struct evidence *evidence = &findings->evidence[moments[i].index];
            /* What one line says keeps one number. */
            bool same_line =
                i > 0 && evidence->file == ordered[i - 1].file && evidence->sequence == findings->evidence[moments[i - 1].index].sequence;
            ordered[i] = *evidence;
            ordered[i].sequence = same_line ? ordered[i - 1].sequence : i;
        }
        findings->evidence = ordered;
    }
    free(moments);
    return DTKB_OK;
}

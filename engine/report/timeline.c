#include "report/timeline.h"

#include <string.h>

#include "report/access.h"
#include "report/markup.h"

#define TRACKS_MAX 64

/* Ranks that appear, ascending. */
static size_t collect_ranks(const json_t *evidence_list, long long *ranks)
{
    size_t i, count = 0;
    const json_t *evidence;
    json_array_foreach(evidence_list, i, evidence)
    {
        const json_t *rank = json_object_get(evidence, "rank");
        if (!json_is_integer(rank))
            continue;
        long long value = json_integer_value(rank);
        size_t at = 0;
        while (at < count && ranks[at] < value)
            at++;
        if ((at < count && ranks[at] == value) || count == TRACKS_MAX)
            continue;
        for (size_t move = count++; move > at; move--)
            ranks[move] = ranks[move - 1];
        ranks[at] = value;
    }
    return count;
}

/* The span of times, when every piece of evidence has one; otherwise the marks stand in their order. */
static bool time_span(const json_t *evidence_list, double *first, double *last)
{
    size_t i;
    const json_t *evidence;
    json_array_foreach(evidence_list, i, evidence)
    {
        double time = get_number(evidence, "time");
        if (time <= 0)
            return false;
        *first = i == 0 || time < *first ? time : *first;
        *last = i == 0 || time > *last ? time : *last;
    }
    return *last > *first;
}

void add_timeline(struct buf *out, const json_t *report)
{
    const json_t *list = get_list(report, "evidence"), *evidence;
    long long ranks[TRACKS_MAX];
    size_t i, count = collect_ranks(list, ranks), total = json_array_size(list);
    double first = 0, last = 0;
    if (count < 2)
        return;
    bool timed = time_span(list, &first, &last);
    buf_addf(
        out,
        "<section><h2>Ranks</h2>\n<p class=\"dim\">%s: <i class=\"mark initiating\"></i> began here <i class=\"mark cascade\"></i> follows "
        "from it <i class=\"mark\"></i> other</p>\n<div class=\"ranks\">\n",
        timed ? "By the time stamps of the log" : "In the order of the log, which has no time stamps for all of it");
    for (size_t r = 0; r < count; r++) {
        buf_addf(out, "<span>rank %lld</span><div class=\"track\">", ranks[r]);
        json_array_foreach(list, i, evidence)
        {
            const json_t *rank = json_object_get(evidence, "rank");
            if (!json_is_integer(rank) || json_integer_value(rank) != ranks[r])
                continue;
            double at = timed ? (get_number(evidence, "time") - first) / (last - first) : (double)i / (double)(total > 1 ? total - 1 : 1);
            const char *role = get_string(evidence, "role");
            const char *kind = !strcmp(role, "initiating") ? " initiating" : !strcmp(role, "cascade") ? " cascade" : "";
            buf_addf(out, "<i class=\"mark%s\" style=\"left:%.1f%%\" title=\"", kind, 1 + at * 98);
            add_escaped(out, get_string(evidence, "text"));
            buf_adds(out, "\"></i>");
        }
        buf_adds(out, "</div>\n");
    }
    buf_adds(out, "</div></section>\n");
}

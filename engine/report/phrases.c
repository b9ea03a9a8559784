#include "report/phrases.h"

#include <string.h>

#include "report/access.h"

void add_silent_hint(struct buf *out, const json_t *symptom)
{
    buf_addf(out, "If the job hangs, crawls or learns nothing all the same, its log is most like those with %s.",
             get_string(symptom, "id"));
}

void add_versions(struct buf *out, const json_t *versions)
{
    size_t i;
    const json_t *version;
    json_array_foreach(versions, i, version)
    {
        const char *here = get_string(version, "detected");
        buf_addf(out, "%s%s %s", i ? ", " : "about ", get_string(version, "component"), get_string(version, "about"));
        if (*here)
            buf_addf(out, " (here %s)", here);
    }
}

static void add_ids(struct buf *line, const char *word, const json_t *ids)
{
    for (size_t i = 0; i < json_array_size(ids); i++)
        buf_addf(line, "%s%s", i ? ", " : word, json_string_value(json_array_get(ids, i)));
}

void add_trial(struct buf *out, const json_t *trial)
{
    bool works = get_flag(trial, "works");
    buf_addf(out, "%s with %s", get_string(trial, "probe"), get_string(trial, "change"));
    if (json_object_get(trial, "replaces"))
        buf_addf(out, " instead of '%s'", get_string(trial, "replaces"));
    buf_adds(out, works ? ": works" : ": does not help");
    if (works)
        buf_addf(out, ", each of %lld times", get_integer(trial, "confirmed") + 1);
    add_ids(out, "; proves ", json_object_get(trial, "proves"));
    add_ids(out, "; rules out ", json_object_get(trial, "rules_out"));
}

static void add_numbers(struct buf *line, const char *before, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        buf_addf(line, "%s%lld", i ? ", " : before, (long long)json_integer_value(json_array_get(list, i)));
}

bool add_joined(struct buf *out, const json_t *joined, size_t i)
{
    static const struct {
        const char *key, *text;
    } groups[] = {{"missing_ranks", "never arrived: rank "}, {"lost_ranks", "lost: rank "}, {"without_report", "gave no report: rank "}};
    enum { GROUPS = sizeof groups / sizeof *groups };
    const json_t *pairs = json_object_get(joined, "bad_pairs"), *ranks = json_object_get(joined, "bad_ranks");
    const size_t in_pairs = i - 1 - GROUPS, in_ranks = in_pairs - json_array_size(pairs);
    if (i == 0) {
        buf_addf(out, "%lld reports", get_integer(joined, "reports"));
        if (get_integer(joined, "world_size"))
            buf_addf(out, " of a job of %lld ranks", get_integer(joined, "world_size"));
    } else if (i <= GROUPS) {
        add_numbers(out, groups[i - 1].text, json_object_get(joined, groups[i - 1].key));
    } else if (in_pairs < json_array_size(pairs)) {
        const json_t *pair = json_array_get(pairs, in_pairs);
        buf_addf(out, "collectives fail between the pair %s (%s)", get_string(pair, "pair"), get_string(pair, "report"));
    } else if (in_ranks < json_array_size(ranks)) {
        const char *names = get_string(json_array_get(ranks, in_ranks), "ranks"), *comma = strchr(names, ',');
        if (comma)
            buf_addf(out, "collectives fail between the ranks %.*s and %s", (int)(comma - names), names, comma + 1);
        else
            buf_addf(out, "collectives fail with rank %s and work without it", names);
    } else {
        return false;
    }
    return true;
}

/* "535.54 on 7; 550.90 on rank 3 on node2": the majority by number, the others by name. */
static void add_group(struct buf *line, const json_t *group, bool majority)
{
    enum { NAMED = 4 };
    const json_t *reports = json_object_get(group, "reports"), *value = json_object_get(group, "value");
    if (json_is_null(value))
        buf_adds(line, "absent");
    else
        add_scalar(line, value);
    if (majority) {
        buf_addf(line, " on %zu", json_array_size(reports));
        return;
    }
    for (size_t i = 0; i < json_array_size(reports) && i < NAMED; i++)
        buf_addf(line, "%s%s", i ? ", " : " on ", json_string_value(json_array_get(reports, i)));
    if (json_array_size(reports) > NAMED)
        buf_addf(line, " and %zu more", json_array_size(reports) - NAMED);
}

void add_difference(struct buf *out, const json_t *difference)
{
    size_t i;
    const json_t *group;
    buf_addf(out, "%s: ", get_string(difference, "fact"));
    json_array_foreach(json_object_get(difference, "values"), i, group)
    {
        buf_adds(out, i ? "; " : "");
        add_group(out, group, i == 0 && json_array_size(json_object_get(group, "reports")) > 1);
    }
}

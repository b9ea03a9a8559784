#include "diagnose/trial.h"

#include <string.h>

#include "kb/kb.h"

bool trial_tells(const struct trial_run *run)
{
    return run->works || run->after == PROBE_FAULT || run->after == PROBE_TIMED_OUT || run->after == PROBE_CRASHED ||
           run->after == PROBE_STUCK;
}

const struct trial_run *trial_find(const struct trial_runs *runs, const char *probe, const char *named)
{
    const struct trial_run *found = NULL;
    for (size_t i = 0; runs && i < runs->count; i++) {
        const struct trial_run *run = &runs->runs[i];
        if (strcmp(run->probe, probe) != 0 || (strcmp(run->named, named) != 0 && strcmp(run->change, named) != 0))
            continue;
        if (!found || run->works)
            found = run;
    }
    return found;
}

static bool holds_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = words; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == length && !strncmp(p, word, length))
            return true;
    return false;
}

static bool is_named(const struct trial_run *run, const struct cause *cause)
{
    for (size_t i = 0; i < cause->trial_count; i++)
        if (!strcmp(run->probe, cause->trials[i].probe) &&
            (!strcmp(run->named, cause->trials[i].change) || !strcmp(run->change, cause->trials[i].change)))
            return true;
    return false;
}

enum trial_word trial_judge(const struct trial_runs *runs, const struct cause *cause)
{
    size_t told = 0;
    bool works = false, excluded = false;
    for (size_t i = 0; runs && i < runs->count; i++) {
        works = works || runs->runs[i].works;
        excluded = excluded || (runs->runs[i].works && holds_word(runs->runs[i].rules_out, cause->id));
    }
    for (size_t i = 0; i < cause->trial_count; i++) {
        const struct trial_run *run = trial_find(runs, cause->trials[i].probe, cause->trials[i].change);
        if (run && run->works)
            return TRIAL_PROVES;
        told += run && trial_tells(run);
    }
    return excluded || (told && (works || told == cause->trial_count)) ? TRIAL_DISPROVES : TRIAL_SILENT;
}

enum trial_word trial_run_judge(const struct trial_runs *runs, const struct trial_run *run, const struct cause *cause)
{
    enum trial_word word = trial_judge(runs, cause);
    if (is_named(run, cause) && run->works == (word == TRIAL_PROVES) && trial_tells(run))
        return word;
    return run->works && holds_word(run->rules_out, cause->id) && word == TRIAL_DISPROVES ? word : TRIAL_SILENT;
}

/* Ids, labels, facts, conditions and references of packs. */
#include <stdlib.h>
#include <string.h>

#include "kb/check.h"

/* ---- ids that must be unique ---- */

struct named {
    const char *id, *file;
    int line;
};

static int by_id(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->id, b->id);
    return order ? order : a < b ? -1 : 1;
}

static void find_doubles(struct check *check, struct named *names, size_t count, const char *what)
{
    qsort(names, count, sizeof *names, by_id);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1].id, names[i].id) == 0)
            check_complain(check, CHECK_ERROR, (struct place){.file = names[i].file, .line = names[i].line},
                           "the %s '%s' is there already: %s:%d", what, names[i].id, names[i - 1].file, names[i - 1].line);
}

static void check_ids(struct check *check)
{
    size_t causes = 0, issues = 0;
    for (size_t i = 0; i < check->pack_count; i++) {
        causes += check->packs[i].cause_count;
        issues += check->packs[i].issue_count;
    }
    size_t larger = causes > issues ? causes : issues, n = 0;
    struct named *names = calloc(larger + 1, sizeof *names);
    if (!names)
        return;
    for (size_t i = 0; i < check->pack_count; i++)
        for (size_t j = 0; j < check->packs[i].cause_count; j++)
            names[n++] = (struct named){check->packs[i].causes[j].cause.id, check->packs[i].file, check->packs[i].causes[j].line};
    find_doubles(check, names, n, "cause");
    n = 0;
    for (size_t i = 0; i < check->pack_count; i++)
        for (size_t j = 0; j < check->packs[i].issue_count; j++)
            names[n++] = (struct named){check->packs[i].issues[j].issue.id, check->packs[i].file, check->packs[i].issues[j].line};
    find_doubles(check, names, n, "issue");
    free(names);
}

/* ---- labels ---- */

static void check_label(struct check *check, struct place place, enum label_kind kind, const char *id)
{
    if (id && check->taxonomy.count && !taxonomy_find(&check->taxonomy, kind, id))
        check_complain(check, CHECK_ERROR, place, "the taxonomy has no %s '%s'", label_kind_name(kind), id);
}

/* ---- conditions ---- */

static const struct fact_definition *find_fact(const struct check *check, const struct pack *pack, const char *name)
{
    const struct pack *both[] = {&check->vocabulary, pack};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < both[i]->fact_count; j++) {
            const char *known = both[i]->facts[j].name;
            if (fact_name_matches(known, name) || fact_name_matches(name, known))
                return &both[i]->facts[j];
        }
    return NULL;
}

static bool is_number(const char *text)
{
    char *end;
    (void)strtod(text, &end);
    return end != text && *end == '\0';
}

static void check_fact(struct check *check, const struct pack *pack, struct place place, const struct condition *condition)
{
    const struct fact_definition *fact = find_fact(check, pack, condition->fact);
    bool needs_value = condition->op != OP_EXISTS && condition->op != OP_ABSENT;
    bool ordered = condition->op == OP_LT || condition->op == OP_LE || condition->op == OP_GT || condition->op == OP_GE;
    bool versions = condition->op == OP_OLDER || condition->op == OP_NEWER || condition->op == OP_CONTAINS;
    if (!fact) {
        check_complain(check, CHECK_ERROR, place, "no probe tells the fact '%s' (facts.xml and the pack's own <facts> name them)",
                       condition->fact);
        return;
    }
    if (needs_value && !condition->value)
        check_complain(check, CHECK_ERROR, place, "the condition on '%s' lacks a value", condition->fact);
    if (!needs_value && condition->value)
        check_complain(check, CHECK_ERROR, place, "the condition on '%s' needs no value", condition->fact);
    if (ordered && (fact->type == FACT_STRING || fact->type == FACT_BOOL))
        check_complain(check, CHECK_ERROR, place, "'%s' is no number, so it is neither more nor less", condition->fact);
    if (versions && fact->type != FACT_STRING)
        check_complain(check, CHECK_ERROR, place, "'%s' is no text", condition->fact);
    if (!condition->value || !needs_value || versions || fact->type == FACT_STRING)
        return;
    if (fact->type == FACT_BOOL && strcmp(condition->value, "true") != 0 && strcmp(condition->value, "false") != 0)
        check_complain(check, CHECK_ERROR, place, "'%s' is true or false, not '%s'", condition->fact, condition->value);
    if (fact->type != FACT_BOOL && !is_number(condition->value))
        check_complain(check, CHECK_ERROR, place, "'%s' is a number, '%s' is none", condition->fact, condition->value);
}

static void check_condition(struct check *check, const struct pack *pack, struct place place, const struct condition *condition)
{
    if (!condition)
        return;
    if (condition->kind == COND_FACT)
        check_fact(check, pack, place, condition);
    for (size_t i = 0; i < condition->child_count; i++)
        check_condition(check, pack, place, &condition->children[i]);
}

/* ---- causes and issues ---- */

static bool has_issue(const struct check *check, const char *id)
{
    for (size_t i = 0; i < check->pack_count; i++)
        for (size_t j = 0; j < check->packs[i].issue_count; j++)
            if (strcmp(check->packs[i].issues[j].issue.id, id) == 0)
                return true;
    return false;
}

static void check_signature_ids(struct check *check, const struct pack *pack, const struct pack_cause *cause)
{
    bool counts_for = false;
    for (size_t i = 0; i < cause->signature_count; i++) {
        const struct pack_signature *signature = &cause->signatures[i];
        counts_for = counts_for || signature->signature.effect == SIG_FOR;
        for (size_t j = 0; j < i; j++)
            if (strcmp(cause->signatures[j].signature.id, signature->signature.id) == 0)
                check_complain(check, CHECK_ERROR, (struct place){pack->file, signature->line, cause->cause.id, signature->signature.id},
                               "the cause has two signatures of that id");
    }
    if (!counts_for)
        check_complain(check, CHECK_ERROR, (struct place){pack->file, cause->line, cause->cause.id, NULL},
                       "no signature speaks for the cause, so it can never be found");
}

static void check_cause(struct check *check, const struct pack *pack, const struct pack_cause *source)
{
    const struct cause *cause = &source->cause;
    struct place place = {pack->file, source->line, cause->id, NULL};
    check_label(check, place, LABEL_SYMPTOM, cause->symptom);
    check_label(check, place, LABEL_FIX, cause->fix);
    for (size_t i = 0; i < cause->also_symptom_count; i++)
        check_label(check, place, LABEL_SYMPTOM, cause->also_symptoms[i]);
    for (size_t i = 0; i < cause->also_fix_count; i++)
        check_label(check, place, LABEL_FIX, cause->also_fixes[i]);
    check_condition(check, pack, place, cause->confirm);
    check_condition(check, pack, place, cause->refute);
    for (size_t i = 0; i < cause->applies_count; i++)
        if (!cause->applies[i].from && !cause->applies[i].below)
            check_complain(check, CHECK_WARNING, place, "<applies component=\"%s\"> says neither from nor below",
                           cause->applies[i].component);
    for (size_t i = 0; i < cause->link_count && check->has_study; i++)
        if (cause->links[i].issue && !has_issue(check, cause->links[i].issue))
            check_complain(check, CHECK_ERROR, place, "there is no issue '%s'", cause->links[i].issue);
    check_signature_ids(check, pack, source);
}

static void check_issue(struct check *check, const struct pack *pack, const struct pack_issue *source)
{
    const struct issue *issue = &source->issue;
    struct place place = {pack->file, source->line, NULL, NULL};
    check_label(check, place, LABEL_SYMPTOM, issue->symptom);
    for (size_t i = 0; i < issue->fix_count; i++)
        check_label(check, place, LABEL_FIX, issue->fixes[i]);
    if (issue->topic && check->taxonomy.count && !taxonomy_find(&check->taxonomy, LABEL_TOPIC, issue->topic))
        check_label(check, place, LABEL_SUBTOPIC, issue->topic);
    if (strcmp(issue->evidence, "labels-only") == 0 && (issue->title || issue->summary))
        check_complain(check, CHECK_ERROR, place, "the issue '%s' is marked labels-only but has texts", issue->id);
}

void check_structure(struct check *check)
{
    check_ids(check);
    for (size_t i = 0; i < check->pack_count; i++) {
        const struct pack *pack = &check->packs[i];
        for (size_t j = 0; j < pack->cause_count; j++)
            check_cause(check, pack, &pack->causes[j]);
        for (size_t j = 0; j < pack->issue_count; j++)
            check_issue(check, pack, &pack->issues[j]);
    }
}

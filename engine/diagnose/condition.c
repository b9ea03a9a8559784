#include "diagnose/condition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"

static int compare_number(const struct fact *fact, const char *value)
{
    char *end;
    bool unlimited = !strcmp(value, "unlimited"), whole = value[0] != '-' && !strpbrk(value, ".eE");
    if (fact->type == FACT_U64 && (unlimited || whole)) {
        uint64_t wanted = unlimited ? UINT64_MAX : strtoull(value, &end, 10);
        return fact->value.u64 < wanted ? -1 : fact->value.u64 > wanted;
    }
    double have = fact->type == FACT_U64   ? (double)fact->value.u64
                  : fact->type == FACT_I64 ? (double)fact->value.i64
                  : fact->type == FACT_F64 ? fact->value.f64
                                           : (double)fact->value.boolean;
    double wanted = strtod(value, &end);
    return have < wanted ? -1 : have > wanted;
}

static int compare(const struct fact *fact, const char *value)
{
    if (fact->type == FACT_STRING)
        return strcmp(fact->value.string, value);
    if (fact->type == FACT_BOOL)
        return (int)fact->value.boolean - (!strcmp(value, "true") || !strcmp(value, "1"));
    return compare_number(fact, value);
}

static bool holds(const struct condition *condition, const struct fact *fact)
{
    const char *value = condition->value ? condition->value : "";
    char text[64];
    switch (condition->op) {
    case OP_EQ:
        return compare(fact, value) == 0;
    case OP_NE:
        return compare(fact, value) != 0;
    case OP_LT:
        return compare(fact, value) < 0;
    case OP_LE:
        return compare(fact, value) <= 0;
    case OP_GT:
        return compare(fact, value) > 0;
    case OP_GE:
        return compare(fact, value) >= 0;
    case OP_EXISTS:
        return true;
    case OP_ABSENT:
        return false;
    case OP_CONTAINS:
        return fact->type == FACT_STRING && strstr(fact->value.string, value) != NULL;
    case OP_OLDER:
        return version_compare(fact->type == FACT_STRING ? fact->value.string : fact_value_text(fact, text, sizeof text), value) < 0;
    case OP_NEWER:
        return version_compare(fact->type == FACT_STRING ? fact->value.string : fact_value_text(fact, text, sizeof text), value) > 0;
    }
    return false;
}

static bool same_area(const char *pattern, const char *name)
{
    size_t area = strcspn(pattern, ".");
    return !strncmp(pattern, name, area + 1) && pattern[area];
}

static enum truth test_fact(const struct condition *condition, const struct fact_set *facts, const struct fact **decisive)
{
    bool seen = false, area_looked_at = false;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->facts[i];
        area_looked_at = area_looked_at || same_area(condition->fact, fact->name);
        if (!fact_name_matches(condition->fact, fact->name))
            continue;
        seen = true;
        if (holds(condition, fact)) {
            *decisive = fact;
            return TRUTH_YES;
        }
    }
    if (condition->op == OP_ABSENT)
        return seen ? TRUTH_NO : area_looked_at ? TRUTH_YES : TRUTH_UNKNOWN;
    return seen ? TRUTH_NO : TRUTH_UNKNOWN;
}

enum truth condition_test(const struct condition *condition, const struct fact_set *facts, const struct fact **decisive)
{
    const struct fact *fact = NULL;
    enum truth result;
    switch (condition->kind) {
    case COND_FACT:
        result = test_fact(condition, facts, &fact);
        break;
    case COND_NOT:
        result = (enum truth)(TRUTH_YES - condition_test(&condition->children[0], facts, &fact));
        break;
    case COND_ALL:
    case COND_ANY:
    default: {
        bool any = condition->kind == COND_ANY;
        result = any ? TRUTH_NO : TRUTH_YES;
        for (size_t i = 0; i < condition->child_count; i++) {
            const struct fact *from_child = NULL;
            enum truth child = condition_test(&condition->children[i], facts, &from_child);
            if (any ? child > result : child < result)
                result = child;
            if (child == TRUTH_YES && !fact)
                fact = from_child;
        }
        break;
    }
    }
    if (decisive && result == TRUTH_YES)
        *decisive = fact;
    return result;
}

void condition_missing(const struct condition *condition, const struct fact_set *facts, void (*visit)(void *context, const char *fact),
                       void *context)
{
    for (size_t i = 0; i < condition->child_count; i++)
        condition_missing(&condition->children[i], facts, visit, context);
    if (condition->kind != COND_FACT)
        return;
    for (size_t i = 0; i < facts->count; i++)
        if (fact_name_matches(condition->fact, facts->facts[i].name))
            return;
    visit(context, condition->fact);
}

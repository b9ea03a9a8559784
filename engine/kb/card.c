#include "kb/card.h"

#include <string.h>

#define DEPTH_MAX 64 /* of nested conditions; the XML reader allows fewer than 256 elements */

static const char *const condition_keys[] = {"all", "any", "not"};
static const char *const op_names[] = {"eq", "ne", "lt", "le", "gt", "ge", "exists", "absent", "contains", "older", "newer"};
#define OP_COUNT (sizeof op_names / sizeof op_names[0])

/* ---- to JSON ---- */

json_t *strings_to_json(const char *const *list, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(list[i]));
    return array;
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text)
        json_object_set_new(object, key, json_string(text));
}

static json_t *condition_to_json(const struct condition *condition)
{
    json_t *object = json_object();
    if (condition->kind == COND_FACT) {
        set_text(object, "fact", condition->fact);
        set_text(object, "op", op_names[condition->op]);
        set_text(object, "value", condition->value);
        return object;
    }
    json_t *children = json_array();
    for (size_t i = 0; i < condition->child_count; i++)
        json_array_append_new(children, condition_to_json(&condition->children[i]));
    json_object_set_new(object, condition_keys[condition->kind], children);
    return object;
}

static json_t *remedies_to_json(const struct cause *cause)
{
    json_t *array = json_array();
    for (size_t i = 0; i < cause->remedy_count; i++) {
        json_t *object = json_object();
        set_text(object, "text", cause->remedies[i].text);
        set_text(object, "command", cause->remedies[i].command);
        set_text(object, "check", cause->remedies[i].check);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *trials_to_json(const struct cause *cause)
{
    json_t *array = json_array();
    for (size_t i = 0; i < cause->trial_count; i++) {
        json_t *object = json_object();
        set_text(object, "probe", cause->trials[i].probe);
        set_text(object, "change", cause->trials[i].change);
        set_text(object, "rules_out", cause->trials[i].rules_out);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *applies_to_json(const struct cause *cause)
{
    json_t *array = json_array();
    for (size_t i = 0; i < cause->applies_count; i++) {
        json_t *object = json_object();
        set_text(object, "component", cause->applies[i].component);
        set_text(object, "from", cause->applies[i].from);
        set_text(object, "below", cause->applies[i].below);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *links_to_json(const struct cause *cause)
{
    json_t *array = json_array();
    for (size_t i = 0; i < cause->link_count; i++) {
        json_t *object = json_object();
        set_text(object, "url", cause->links[i].url);
        set_text(object, "title", cause->links[i].title);
        set_text(object, "issue", cause->links[i].issue);
        json_array_append_new(array, object);
    }
    return array;
}

json_t *card_to_json(const struct cause *cause)
{
    json_t *tree = json_object();
    if (!tree)
        return NULL;
    set_text(tree, "id", cause->id);
    set_text(tree, "symptom", cause->symptom);
    set_text(tree, "fix", cause->fix);
    set_text(tree, "title", cause->title);
    set_text(tree, "explanation", cause->explanation);
    json_object_set_new(tree, "generic", json_boolean(cause->generic));
    json_object_set_new(tree, "also_symptoms", strings_to_json(cause->also_symptoms, cause->also_symptom_count));
    json_object_set_new(tree, "also_fixes", strings_to_json(cause->also_fixes, cause->also_fix_count));
    if (cause->confirm)
        json_object_set_new(tree, "confirm", condition_to_json(cause->confirm));
    if (cause->refute)
        json_object_set_new(tree, "refute", condition_to_json(cause->refute));
    json_object_set_new(tree, "remedies", remedies_to_json(cause));
    json_object_set_new(tree, "trials", trials_to_json(cause));
    json_object_set_new(tree, "applies", applies_to_json(cause));
    json_object_set_new(tree, "links", links_to_json(cause));
    return tree;
}

/* ---- from JSON ---- */

static const char *get_text(struct arena *arena, const json_t *object, const char *key)
{
    return arena_strdup(arena, json_string_value(json_object_get(object, key)));
}

bool strings_from_json(struct arena *arena, const json_t *tree, const char ***list, size_t *count)
{
    size_t size = json_array_size(tree);
    *list = arena_alloc(arena, (size + 1) * sizeof **list);
    *count = 0;
    for (size_t i = 0; *list && i < size; i++) {
        const char *text = arena_strdup(arena, json_string_value(json_array_get(tree, i)));
        if (!text)
            return false;
        (*list)[(*count)++] = text;
    }
    return *list != NULL;
}

static bool fact_from_json(struct arena *arena, const json_t *tree, struct condition *out)
{
    const char *op = json_string_value(json_object_get(tree, "op"));
    out->kind = COND_FACT;
    out->fact = get_text(arena, tree, "fact");
    out->value = get_text(arena, tree, "value");
    for (size_t i = 0; op && i < OP_COUNT; i++)
        if (strcmp(op, op_names[i]) == 0) {
            out->op = (enum condition_op)i;
            return out->fact && (out->value || out->op == OP_EXISTS || out->op == OP_ABSENT);
        }
    return false;
}

static bool condition_from_json(struct arena *arena, const json_t *tree, int depth, struct condition *out)
{
    if (json_object_get(tree, "fact"))
        return fact_from_json(arena, tree, out);
    for (int kind = COND_ALL; kind <= COND_NOT; kind++) {
        const json_t *children = json_object_get(tree, condition_keys[kind]);
        size_t count = json_array_size(children);
        if (!children)
            continue;
        if (!count || depth >= DEPTH_MAX)
            return false;
        out->kind = (enum condition_kind)kind;
        out->children = arena_alloc(arena, count * sizeof *out->children);
        bool ok = out->children != NULL;
        for (size_t i = 0; ok && i < count; i++)
            ok = condition_from_json(arena, json_array_get(children, i), depth + 1, &out->children[i]);
        out->child_count = count;
        return ok;
    }
    return false;
}

static bool optional_condition(struct arena *arena, const json_t *tree, struct condition **out)
{
    if (!tree)
        return true;
    *out = arena_alloc(arena, sizeof **out);
    return *out && condition_from_json(arena, tree, 0, *out);
}

static bool lists_from_json(struct arena *arena, const json_t *tree, struct cause *out)
{
    const json_t *remedies = json_object_get(tree, "remedies"), *trials = json_object_get(tree, "trials");
    const json_t *applies = json_object_get(tree, "applies"), *links = json_object_get(tree, "links");
    out->remedies = arena_alloc(arena, json_array_size(remedies) * sizeof *out->remedies);
    out->trials = arena_alloc(arena, json_array_size(trials) * sizeof *out->trials);
    out->applies = arena_alloc(arena, json_array_size(applies) * sizeof *out->applies);
    out->links = arena_alloc(arena, json_array_size(links) * sizeof *out->links);
    if (!out->remedies || !out->trials || !out->applies || !out->links)
        return false;
    bool ok = true;
    size_t i;
    json_t *item;
    json_array_foreach(remedies, i, item)
    {
        out->remedies[i] = (struct remedy){get_text(arena, item, "text"), get_text(arena, item, "command"), get_text(arena, item, "check")};
        ok = ok && out->remedies[i].text;
    }
    json_array_foreach(trials, i, item)
    {
        out->trials[i] =
            (struct trial){get_text(arena, item, "probe"), get_text(arena, item, "change"), get_text(arena, item, "rules_out")};
        ok = ok && out->trials[i].probe && out->trials[i].change;
    }
    json_array_foreach(applies, i, item)
    {
        out->applies[i] =
            (struct version_range){get_text(arena, item, "component"), get_text(arena, item, "from"), get_text(arena, item, "below")};
        ok = ok && out->applies[i].component;
    }
    json_array_foreach(links, i, item)
    {
        out->links[i] = (struct link){get_text(arena, item, "url"), get_text(arena, item, "title"), get_text(arena, item, "issue")};
        ok = ok && (out->links[i].url || out->links[i].issue);
    }
    out->remedy_count = json_array_size(remedies);
    out->trial_count = json_array_size(trials);
    out->applies_count = json_array_size(applies);
    out->link_count = json_array_size(links);
    return ok;
}

bool card_from_json(struct arena *arena, const json_t *tree, struct cause *out)
{
    out->id = get_text(arena, tree, "id");
    out->symptom = get_text(arena, tree, "symptom");
    out->fix = get_text(arena, tree, "fix");
    out->title = get_text(arena, tree, "title");
    out->explanation = get_text(arena, tree, "explanation");
    out->generic = json_is_true(json_object_get(tree, "generic"));
    return out->id && out->symptom && out->fix && out->title && out->explanation &&
           strings_from_json(arena, json_object_get(tree, "also_symptoms"), &out->also_symptoms, &out->also_symptom_count) &&
           strings_from_json(arena, json_object_get(tree, "also_fixes"), &out->also_fixes, &out->also_fix_count) &&
           optional_condition(arena, json_object_get(tree, "confirm"), &out->confirm) &&
           optional_condition(arena, json_object_get(tree, "refute"), &out->refute) && lists_from_json(arena, tree, out);
}

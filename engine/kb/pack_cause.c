/* One <cause> of a pack. The grammar was checked: what is required is there. */
#include "kb/pack.h"

#include <string.h>

/* Place of `name` among `names`, `fallback` when the attribute was left out. */
static int choice(const char *name, const char *const *names, int count, int fallback)
{
    for (int i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return fallback;
}

static const char **texts(struct arena *arena, const xmlNode *parent, const char *name, size_t *count)
{
    *count = xml_count(parent, name);
    const char **list = arena_alloc(arena, (*count + 1) * sizeof *list);
    size_t n = 0;
    for (const xmlNode *node = xml_first(parent); list && node; node = xml_next(node))
        if (xml_is(node, name)) {
            const char *text = xml_verbatim(arena, node);
            list[n++] = text ? text : "";
        }
    return list;
}

static bool read_signature(struct arena *arena, const xmlNode *node, struct pack_signature *out)
{
    static const char *const strengths[] = {"weak", "moderate", "strong", "proof"};
    static const char *const effects[] = {"for", "support", "against"};
    static const char *const roles[] = {"", "initiating", "cascade", "teardown"};
    struct signature *signature = &out->signature;
    out->line = xml_line(node);
    signature->id = xml_attribute(arena, node, "id");
    signature->strength = (enum sig_strength)choice(xml_attribute(arena, node, "strength"), strengths, 4, SIG_WEAK);
    signature->effect = (enum sig_effect)choice(xml_attribute(arena, node, "effect"), effects, 3, SIG_FOR);
    signature->role = (enum sig_role)choice(xml_attribute(arena, node, "role"), roles, 4, ROLE_INITIATING);
    signature->ignore_case = xml_attribute_true(node, "ignore-case");
    for (const xmlNode *child = xml_first(node); child; child = xml_next(child))
        if (xml_is(child, "literal") || xml_is(child, "regex")) {
            signature->is_regex = xml_is(child, "regex");
            signature->pattern = xml_verbatim(arena, child);
        }
    if (!signature->pattern)
        signature->pattern = "";
    out->samples = texts(arena, node, "sample", &out->sample_count);
    out->near_misses = texts(arena, node, "near-miss", &out->near_miss_count);
    return signature->id && out->samples && out->near_misses;
}

static bool read_condition(struct arena *arena, const xmlNode *node, struct condition *out)
{
    static const char *const kinds[] = {"all", "any", "not", "fact"};
    static const char *const ops[] = {"eq", "ne", "lt", "le", "gt", "ge", "exists", "absent", "contains", "older", "newer"};
    /* <confirm> and <refute> themselves read as an implicit all. */
    out->kind = (enum condition_kind)choice((const char *)node->name, kinds, 4, COND_ALL);
    if (out->kind == COND_FACT) {
        out->fact = xml_attribute(arena, node, "name");
        out->op = (enum condition_op)choice(xml_attribute(arena, node, "op"), ops, 11, OP_EXISTS);
        out->value = xml_attribute(arena, node, "value");
        return out->fact != NULL;
    }
    for (const xmlNode *child = xml_first(node); child; child = xml_next(child))
        out->child_count++;
    out->children = arena_alloc(arena, out->child_count * sizeof *out->children);
    bool ok = out->children != NULL;
    size_t n = 0;
    for (const xmlNode *child = xml_first(node); child && ok; child = xml_next(child))
        ok = read_condition(arena, child, &out->children[n++]);
    return ok;
}

static bool read_remedies(struct arena *arena, const xmlNode *parent, struct cause *out)
{
    out->remedy_count = xml_count(parent, "remedy");
    out->remedies = arena_alloc(arena, out->remedy_count * sizeof *out->remedies);
    struct remedy *remedy = out->remedies;
    for (const xmlNode *node = xml_first(parent); remedy && node; node = xml_next(node), remedy++)
        for (const xmlNode *child = xml_first(node); child; child = xml_next(child)) {
            if (xml_is(child, "text"))
                remedy->text = xml_prose(arena, child);
            else if (xml_is(child, "command"))
                remedy->command = xml_verbatim(arena, child);
            else
                remedy->check = xml_prose(arena, child);
        }
    return out->remedies != NULL;
}

static bool read_links(struct arena *arena, const xmlNode *parent, struct cause *out)
{
    for (const xmlNode *node = xml_first(parent); node; node = xml_next(node))
        out->link_count++;
    out->links = arena_alloc(arena, out->link_count * sizeof *out->links);
    struct link *link = out->links;
    for (const xmlNode *node = xml_first(parent); link && node; node = xml_next(node), link++) {
        if (xml_is(node, "issue-ref")) {
            link->issue = xml_attribute(arena, node, "id");
        } else {
            link->url = xml_attribute(arena, node, "url");
            link->title = xml_prose(arena, node);
        }
    }
    return out->links != NULL;
}

/* The repeated small elements: also, trial, applies. */
static bool read_lists(struct arena *arena, const xmlNode *parent, struct cause *out)
{
    size_t also = xml_count(parent, "also");
    out->also_symptoms = arena_alloc(arena, (also + 1) * sizeof *out->also_symptoms);
    out->also_fixes = arena_alloc(arena, (also + 1) * sizeof *out->also_fixes);
    out->trials = arena_alloc(arena, xml_count(parent, "trial") * sizeof *out->trials);
    out->applies = arena_alloc(arena, xml_count(parent, "applies") * sizeof *out->applies);
    if (!out->also_symptoms || !out->also_fixes || !out->trials || !out->applies)
        return false;
    for (const xmlNode *node = xml_first(parent); node; node = xml_next(node)) {
        if (xml_is(node, "also")) {
            const char *symptom = xml_attribute(arena, node, "symptom"), *fix = xml_attribute(arena, node, "fix");
            if (symptom)
                out->also_symptoms[out->also_symptom_count++] = symptom;
            if (fix)
                out->also_fixes[out->also_fix_count++] = fix;
        } else if (xml_is(node, "trial")) {
            out->trials[out->trial_count++] = (struct trial){xml_attribute(arena, node, "probe"), xml_attribute(arena, node, "change"),
                                                             xml_attribute(arena, node, "rules-out")};
        } else if (xml_is(node, "applies")) {
            out->applies[out->applies_count++] = (struct version_range){
                xml_attribute(arena, node, "component"), xml_attribute(arena, node, "from"), xml_attribute(arena, node, "below")};
        }
    }
    return true;
}

static bool read_condition_list(struct arena *arena, const xmlNode *node, struct condition **out)
{
    *out = arena_alloc(arena, sizeof **out);
    return *out && read_condition(arena, node, *out);
}

bool pack_read_cause(struct arena *arena, const xmlNode *node, struct pack_cause *out)
{
    struct cause *cause = &out->cause;
    out->line = xml_line(node);
    cause->id = xml_attribute(arena, node, "id");
    cause->symptom = xml_attribute(arena, node, "symptom");
    cause->fix = xml_attribute(arena, node, "fix");
    cause->generic = xml_attribute_true(node, "generic");
    out->signatures = arena_alloc(arena, xml_count(node, "signature") * sizeof *out->signatures);
    bool ok = cause->id && cause->symptom && cause->fix && out->signatures && read_lists(arena, node, cause);
    for (const xmlNode *child = xml_first(node); child && ok; child = xml_next(child)) {
        if (xml_is(child, "title"))
            cause->title = xml_prose(arena, child);
        else if (xml_is(child, "explanation"))
            cause->explanation = xml_prose(arena, child);
        else if (xml_is(child, "signature"))
            ok = read_signature(arena, child, &out->signatures[out->signature_count++]);
        else if (xml_is(child, "confirm"))
            ok = read_condition_list(arena, child, &cause->confirm);
        else if (xml_is(child, "refute"))
            ok = read_condition_list(arena, child, &cause->refute);
        else if (xml_is(child, "remedies"))
            ok = read_remedies(arena, child, cause);
        else if (xml_is(child, "links"))
            ok = read_links(arena, child, cause);
    }
    if (ok && !cause->title)
        cause->title = cause->id;
    if (ok && !cause->explanation)
        cause->explanation = cause->title;
    return ok;
}

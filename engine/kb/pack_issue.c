/* One <issue> of a pack. The grammar was checked: what is required is there. */
#include "kb/pack.h"

#include <stdlib.h>

static bool reserve(struct arena *arena, const xmlNode *node, struct issue *out)
{
    out->fixes = arena_alloc(arena, xml_count(node, "fix-pattern") * sizeof *out->fixes);
    out->also_symptoms = arena_alloc(arena, xml_count(node, "also") * sizeof *out->also_symptoms);
    out->error_lines = arena_alloc(arena, xml_count(node, "error-line") * sizeof *out->error_lines);
    out->components = arena_alloc(arena, xml_count(node, "component") * sizeof *out->components);
    out->versions = arena_alloc(arena, xml_count(node, "version") * sizeof *out->versions);
    return out->fixes && out->also_symptoms && out->error_lines && out->components && out->versions;
}

static void add(const char **list, size_t *count, const char *text)
{
    if (text)
        list[(*count)++] = text;
}

static void read_child(struct arena *arena, const xmlNode *node, struct issue *out)
{
    if (xml_is(node, "fix-pattern")) {
        add(out->fixes, &out->fix_count, xml_attribute(arena, node, "id"));
    } else if (xml_is(node, "also")) {
        add(out->also_symptoms, &out->also_symptom_count, xml_attribute(arena, node, "symptom"));
    } else if (xml_is(node, "error-line")) {
        add(out->error_lines, &out->error_line_count, xml_verbatim(arena, node));
    } else if (xml_is(node, "component")) {
        add(out->components, &out->component_count, xml_prose(arena, node));
    } else if (xml_is(node, "version")) {
        const char *of = xml_attribute(arena, node, "of"), *version = xml_prose(arena, node);
        if (of && version) {
            out->versions[out->version_count].component = of;
            out->versions[out->version_count++].version = version;
        }
    } else if (xml_is(node, "raw-fix")) {
        out->raw_fix = xml_prose(arena, node);
    } else if (xml_is(node, "title")) {
        out->title = xml_prose(arena, node);
    } else if (xml_is(node, "summary")) {
        out->summary = xml_prose(arena, node);
    } else if (xml_is(node, "cause-text")) {
        out->cause = xml_prose(arena, node);
    } else if (xml_is(node, "fix-text")) {
        out->fix = xml_prose(arena, node);
    } else if (xml_is(node, "log")) {
        out->log = xml_verbatim(arena, node);
    }
}

bool pack_read_issue(struct arena *arena, const xmlNode *node, struct pack_issue *out)
{
    struct issue *issue = &out->issue;
    out->line = xml_line(node);
    issue->id = xml_attribute(arena, node, "id");
    issue->url = xml_attribute(arena, node, "url");
    issue->source = xml_attribute(arena, node, "source");
    issue->framework = xml_attribute(arena, node, "framework");
    issue->kind = xml_attribute(arena, node, "kind");
    issue->evidence = xml_attribute(arena, node, "evidence");
    issue->symptom = xml_attribute(arena, node, "symptom");
    issue->topic = xml_attribute(arena, node, "topic");
    issue->raw_label = xml_attribute(arena, node, "raw-label");
    const char *year = xml_attribute(arena, node, "year");
    issue->year = year ? (int)strtol(year, NULL, 10) : 0;
    issue->distributed = -1;
    if (xml_attribute(arena, node, "distributed"))
        issue->distributed = xml_attribute_true(node, "distributed");
    if (!issue->id || !issue->url || !issue->source || !issue->framework || !issue->kind || !issue->evidence ||
        !reserve(arena, node, issue))
        return false;
    for (const xmlNode *child = xml_first(node); child; child = xml_next(child))
        read_child(arena, child, issue);
    return true;
}

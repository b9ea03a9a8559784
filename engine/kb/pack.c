#include "kb/pack.h"

static bool read_facts(struct arena *arena, const xmlNode *parent, struct fact_definition *out)
{
    bool ok = true;
    for (const xmlNode *node = xml_first(parent); node; node = xml_next(node), out++) {
        out->line = xml_line(node);
        out->name = xml_attribute(arena, node, "name");
        out->type = fact_type_by_name(xml_attribute(arena, node, "type"));
        out->unit = xml_attribute(arena, node, "unit");
        out->probe = xml_attribute(arena, node, "probe");
        out->meaning = xml_prose(arena, node);
        if (!out->unit)
            out->unit = "";
        if (!out->meaning)
            out->meaning = "";
        ok = ok && out->name && out->type;
    }
    return ok;
}

static void count_parts(const xmlNode *root, struct pack *pack)
{
    pack->cause_count = xml_count(root, "cause");
    pack->issue_count = xml_count(root, "issue");
    for (const xmlNode *node = xml_first(root); node; node = xml_next(node))
        if (xml_is(node, "facts"))
            pack->fact_count += xml_count(node, "fact");
}

static bool fill(const xmlNode *root, struct pack *pack)
{
    struct arena *arena = &pack->arena;
    pack->id = xml_attribute(arena, root, "id");
    pack->version = xml_attribute(arena, root, "version");
    count_parts(root, pack);
    pack->causes = arena_alloc(arena, pack->cause_count * sizeof *pack->causes);
    pack->issues = arena_alloc(arena, pack->issue_count * sizeof *pack->issues);
    pack->facts = arena_alloc(arena, pack->fact_count * sizeof *pack->facts);
    if (!pack->id || !pack->version || !pack->causes || !pack->issues || !pack->facts)
        return false;
    struct pack_cause *cause = pack->causes;
    struct pack_issue *issue = pack->issues;
    struct fact_definition *fact = pack->facts;
    bool ok = true;
    for (const xmlNode *node = xml_first(root); node && ok; node = xml_next(node)) {
        if (xml_is(node, "cause")) {
            cause->cause.pack = pack->id;
            ok = pack_read_cause(arena, node, cause++);
        } else if (xml_is(node, "issue")) {
            ok = pack_read_issue(arena, node, issue++);
        } else if (xml_is(node, "facts")) {
            ok = read_facts(arena, node, fact);
            fact += xml_count(node, "fact");
        } else if (xml_is(node, "title")) {
            pack->title = xml_prose(arena, node);
        }
    }
    return ok;
}

static dtkb_status finish(const char *name, xmlDocPtr doc, struct pack *out, struct err *err)
{
    struct pack pack = {0};
    pack.file = arena_strdup(&pack.arena, name);
    bool ok = pack.file && fill(xmlDocGetRootElement(doc), &pack);
    xmlFreeDoc(doc);
    if (!ok) {
        pack_free(&pack);
        return err_nomem(err);
    }
    *out = pack;
    return DTKB_OK;
}

dtkb_status pack_read(const char *file, struct pack *out, struct err *err)
{
    xmlDocPtr doc = NULL;
    dtkb_status status = xml_read_file(file, &kb_schema_pack, &doc, err);
    return status == DTKB_OK ? finish(file, doc, out, err) : status;
}

dtkb_status pack_read_memory(const char *name, const void *bytes, size_t length, struct pack *out, struct err *err)
{
    xmlDocPtr doc = NULL;
    dtkb_status status = xml_read_memory(name, bytes, length, &kb_schema_pack, &doc, err);
    return status == DTKB_OK ? finish(name, doc, out, err) : status;
}

dtkb_status facts_read(const char *file, struct pack *out, struct err *err)
{
    xmlDocPtr doc = NULL;
    dtkb_status status = file ? xml_read_file(file, &kb_schema_facts, &doc, err)
                              : xml_read_memory("built-in facts", kb_text_facts.text, kb_text_facts.length, &kb_schema_facts, &doc, err);
    if (status != DTKB_OK)
        return status;
    struct pack pack = {.id = "facts", .version = ""};
    const xmlNode *root = xmlDocGetRootElement(doc);
    pack.fact_count = xml_count(root, "fact");
    pack.file = arena_strdup(&pack.arena, file ? file : "built-in facts");
    pack.facts = arena_alloc(&pack.arena, pack.fact_count * sizeof *pack.facts);
    bool ok = pack.file && pack.facts && read_facts(&pack.arena, root, pack.facts);
    xmlFreeDoc(doc);
    if (!ok) {
        pack_free(&pack);
        return err_nomem(err);
    }
    *out = pack;
    return DTKB_OK;
}

void pack_free(struct pack *pack)
{
    arena_free(&pack->arena);
    *pack = (struct pack){0};
}

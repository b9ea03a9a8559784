/* Reports of a knowledge pack as cases: what was learned must still be told. */
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>

#include "eval.h"

static char *attribute(xmlNode *node, const char *name)
{
    return (char *)xmlGetProp(node, (const xmlChar *)name);
}

static void append(json_t *list, xmlNode *node, const char *name)
{
    char *value = attribute(node, name);
    if (value)
        json_array_append_new(list, json_string(value));
    xmlFree(value);
}

static bool is(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && !strcmp((const char *)node->name, name);
}

static bool eval_report(dtkb *engine, xmlNode *node, struct figures *out, FILE *log)
{
    json_t *symptoms = json_array(), *fixes = json_array();
    char *id = attribute(node, "id"), *text = NULL;
    bool ok = true;
    append(symptoms, node, "symptom");
    for (xmlNode *child = node->children; child; child = child->next) {
        if (is(child, "also"))
            append(symptoms, child, "symptom");
        else if (is(child, "fix-pattern"))
            append(fixes, child, "id");
        else if (is(child, "log") && !text)
            text = (char *)xmlNodeGetContent(child);
    }
    if (id && text) {
        const char *begin = text + (*text == '\n'); /* the line break after the tag is the file's */
        struct test_case test = {.name = id, .log = begin, .symptoms = symptoms, .fixes = fixes};
        ok = eval_case(engine, &test, out, log);
    }
    xmlFree(id);
    xmlFree(text);
    json_decref(symptoms);
    json_decref(fixes);
    return ok;
}

bool eval_pack(dtkb *engine, const char *path, struct figures *out, FILE *log)
{
    xmlDoc *document = xmlReadFile(path, NULL, XML_PARSE_NONET);
    bool ok = document != NULL;
    if (!document)
        fprintf(stderr, "%s: no XML\n", path);
    for (xmlNode *node = document ? xmlDocGetRootElement(document)->children : NULL; ok && node; node = node->next)
        if (is(node, "issue"))
            ok = eval_report(engine, node, out, log);
    xmlFreeDoc(document);
    return ok;
}

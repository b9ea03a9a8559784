/* A vocabulary read from kb/facts.xml, for programs that run probes without a compiled knowledge base. */
#ifndef DTKB_TESTS_FACTS_XML_H
#define DTKB_TESTS_FACTS_XML_H

#include <libxml/parser.h>
#include <stdio.h>

#include "base/fact.h"
#include "probe/vocabulary.h"

/* The definition() of struct vocabulary; its context is the parsed file. */
static inline bool facts_xml_definition(void *context, const char *name, enum fact_type *type, const char **unit)
{
    static _Thread_local char kept[64];
    const xmlNode *node = xmlDocGetRootElement(context)->children;
    for (; node; node = node->next) {
        xmlChar *pattern = node->type == XML_ELEMENT_NODE ? xmlGetProp(node, BAD_CAST "name") : NULL;
        bool fits = pattern && fact_name_matches((const char *)pattern, name);
        xmlFree(pattern);
        if (!fits)
            continue;
        xmlChar *type_name = xmlGetProp(node, BAD_CAST "type"), *unit_name = xmlGetProp(node, BAD_CAST "unit");
        *type = fact_type_by_name((const char *)type_name);
        bool good = *type != 0;
        (void)snprintf(kept, sizeof kept, "%s", unit_name ? (const char *)unit_name : "");
        *unit = kept;
        xmlFree(type_name);
        xmlFree(unit_name);
        return good;
    }
    return false;
}

#endif

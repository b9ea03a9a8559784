/* Reading our XML files: no network, no document type, no entities of the file's own; checked against a built-in grammar; errors name file,
 * line and mistake. */
#ifndef DTKB_KB_XML_H
#define DTKB_KB_XML_H

#include <stdbool.h>
#include <stddef.h>

#include <libxml/tree.h>

#include "base/arena.h"
#include "base/err.h"

/* A file of kb/ compiled into the library: the RELAX NG grammars, the labels and the names of facts. */
struct kb_text {
    const unsigned char *text;
    size_t length;
};
extern const struct kb_text kb_schema_pack, kb_schema_taxonomy, kb_schema_facts;
extern const struct kb_text kb_text_taxonomy, kb_text_facts;

/* Reads and validates a file (a schema of NULL: any XML). The document is the caller's (xmlFreeDoc). A missing file is DTKB_E_IO, a mistake
 * in it DTKB_E_FORMAT. */
dtkb_status xml_read_file(const char *path, const struct kb_text *schema, xmlDocPtr *out, struct err *err);
/* Likewise from memory; `name` stands for the file in errors. */
dtkb_status xml_read_memory(const char *name, const void *bytes, size_t length, const struct kb_text *schema, xmlDocPtr *out,
                            struct err *err);

int xml_line(const xmlNode *node);
bool xml_is(const xmlNode *node, const char *name);
const xmlNode *xml_first(const xmlNode *parent); /* first child element, NULL if none */
const xmlNode *xml_next(const xmlNode *node);    /* next sibling element */
size_t xml_count(const xmlNode *parent, const char *name);

/* The attribute's value, NULL when absent (or out of memory: check the arena's user anyway). */
const char *xml_attribute(struct arena *arena, const xmlNode *node, const char *name);
bool xml_attribute_true(const xmlNode *node, const char *name);
/* Text content with runs of white space made one blank: prose. NULL when empty. */
const char *xml_prose(struct arena *arena, const xmlNode *node);
/* Text content as written, without the line breaks around it and the indentation common to its lines: program text, commands. */
const char *xml_verbatim(struct arena *arena, const xmlNode *node);

#endif

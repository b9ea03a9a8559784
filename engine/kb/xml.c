#include "kb/xml.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libxml/parser.h>
#include <libxml/relaxng.h>

#include "base/buf.h"

#define FILE_MAX ((size_t)512 << 20)

/* The first complaint of libxml2; later ones follow from it. */
struct complaint {
    const char *name;
    bool seen, has_doctype;
    int line;
    char text[400];
};

static void note_error(void *context, xmlErrorPtr error)
{
    struct complaint *complaint = context;
    if (complaint->seen || error->level < XML_ERR_ERROR)
        return;
    complaint->seen = true;
    complaint->line = error->line;
    const char *message = error->message ? error->message : "not well-formed";
    size_t length = strcspn(message, "\n");
    if (length >= sizeof complaint->text)
        length = sizeof complaint->text - 1;
    memcpy(complaint->text, message, length);
    complaint->text[length] = '\0';
}

/* A document type could define entities that grow without bound; nothing of ours has one. */
static void refuse_doctype(void *context, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
    (void)name;
    (void)external;
    (void)system;
    xmlParserCtxtPtr parser = context;
    struct complaint *complaint = parser->_private;
    complaint->has_doctype = true;
    complaint->line = parser->input ? parser->input->line : 0;
    xmlStopParser(parser);
}

static void note_parse_error(void *context, xmlErrorPtr error)
{
    xmlParserCtxtPtr parser = context;
    note_error(parser->_private, error);
}

static dtkb_status parse(struct complaint *complaint, const void *bytes, size_t length, xmlDocPtr *out, struct err *err)
{
    if (length > INT_MAX)
        return err_set(err, DTKB_E_LIMIT, "%s: larger than %d bytes", complaint->name, INT_MAX);
    if (!length)
        return err_set(err, DTKB_E_FORMAT, "%s:1: empty file; a knowledge file is XML", complaint->name);
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    if (!parser)
        return err_nomem(err);
    parser->_private = complaint;
    parser->sax->serror = note_parse_error;
    parser->sax->internalSubset = refuse_doctype;
    int options = XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_BIG_LINES | XML_PARSE_COMPACT;
    xmlDocPtr doc = xmlCtxtReadMemory(parser, bytes, (int)length, NULL, NULL, options);
    bool well_formed = parser->wellFormed;
    xmlFreeParserCtxt(parser);
    if (doc && well_formed && !complaint->has_doctype) {
        *out = doc;
        return DTKB_OK;
    }
    xmlFreeDoc(doc);
    if (complaint->has_doctype)
        return err_set(err, DTKB_E_FORMAT, "%s:%d: a document type declaration is not allowed", complaint->name, complaint->line);
    return err_set(err, DTKB_E_FORMAT, "%s:%d: %s", complaint->name, complaint->line ? complaint->line : 1,
                   complaint->seen ? complaint->text : "not well-formed XML");
}

static dtkb_status validate(struct complaint *complaint, const struct kb_text *schema, xmlDocPtr doc, struct err *err)
{
    dtkb_status status = DTKB_E_INTERNAL;
    xmlRelaxNGPtr grammar = NULL;
    xmlRelaxNGValidCtxtPtr validator = NULL;
    xmlRelaxNGParserCtxtPtr reader = xmlRelaxNGNewMemParserCtxt((const char *)schema->text, (int)schema->length);
    if (reader) {
        xmlRelaxNGSetParserStructuredErrors(reader, note_error, complaint);
        grammar = xmlRelaxNGParse(reader);
    }
    if (grammar)
        validator = xmlRelaxNGNewValidCtxt(grammar);
    if (validator) {
        xmlRelaxNGSetValidStructuredErrors(validator, note_error, complaint);
        status = xmlRelaxNGValidateDoc(validator, doc) == 0 ? DTKB_OK : DTKB_E_FORMAT;
    }
    if (status == DTKB_E_FORMAT)
        err_set(err, status, "%s:%d: %s", complaint->name, complaint->line, complaint->seen ? complaint->text : "does not fit the grammar");
    else if (status == DTKB_E_INTERNAL)
        err_set(err, status, "%s: the built-in grammar could not be read: %s", complaint->name, complaint->text);
    xmlRelaxNGFreeValidCtxt(validator);
    xmlRelaxNGFree(grammar);
    xmlRelaxNGFreeParserCtxt(reader);
    return status;
}

dtkb_status xml_read_memory(const char *name, const void *bytes, size_t length, const struct kb_text *schema, xmlDocPtr *out,
                            struct err *err)
{
    struct complaint complaint = {.name = name};
    xmlDocPtr doc = NULL;
    dtkb_status status = parse(&complaint, bytes, length, &doc, err);
    if (status == DTKB_OK && schema && (status = validate(&complaint, schema, doc, err)) != DTKB_OK)
        xmlFreeDoc(doc);
    else if (status == DTKB_OK)
        *out = doc;
    return status;
}

static dtkb_status read_all(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, DTKB_E_IO, "%s: %s", path, strerror(errno));
    dtkb_status status = DTKB_OK;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        status = err_set(err, DTKB_E_IO, "%s: a directory, a knowledge file is wanted", path);
    char chunk[16384];
    while (status == DTKB_OK) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = err_set(err, DTKB_E_IO, "%s: %s", path, strerror(errno));
            break;
        }
        buf_add(out, chunk, (size_t)got);
        if (out->failed)
            status = err_set(err, DTKB_E_LIMIT, "%s: larger than %zu bytes", path, out->maximum);
    }
    close(fd);
    return status;
}

dtkb_status xml_read_file(const char *path, const struct kb_text *schema, xmlDocPtr *out, struct err *err)
{
    struct buf text = {.maximum = FILE_MAX};
    dtkb_status status = read_all(path, &text, err);
    if (status == DTKB_OK)
        status = xml_read_memory(path, buf_text(&text), text.length, schema, out, err);
    buf_free(&text);
    return status;
}

int xml_line(const xmlNode *node)
{
    return (int)xmlGetLineNo((xmlNode *)(uintptr_t)node);
}

bool xml_is(const xmlNode *node, const char *name)
{
    return strcmp((const char *)node->name, name) == 0;
}

static const xmlNode *element_from(const xmlNode *node)
{
    while (node && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

const xmlNode *xml_first(const xmlNode *parent)
{
    return element_from(parent->children);
}

const xmlNode *xml_next(const xmlNode *node)
{
    return element_from(node->next);
}

size_t xml_count(const xmlNode *parent, const char *name)
{
    size_t count = 0;
    for (const xmlNode *node = xml_first(parent); node; node = xml_next(node))
        count += xml_is(node, name);
    return count;
}

const char *xml_attribute(struct arena *arena, const xmlNode *node, const char *name)
{
    xmlChar *value = xmlGetNoNsProp((xmlNode *)(uintptr_t)node, (const xmlChar *)name);
    if (!value)
        return NULL;
    const char *copy = arena_strdup(arena, (const char *)value);
    xmlFree(value);
    return copy;
}

bool xml_attribute_true(const xmlNode *node, const char *name)
{
    xmlChar *value = xmlGetNoNsProp((xmlNode *)(uintptr_t)node, (const xmlChar *)name);
    bool result = value && (strcmp((char *)value, "true") == 0 || strcmp((char *)value, "1") == 0);
    xmlFree(value);
    return result;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *xml_prose(struct arena *arena, const xmlNode *node)
{
    xmlChar *content = xmlNodeGetContent((xmlNode *)(uintptr_t)node);
    if (!content)
        return NULL;
    char *write = (char *)content;
    for (const char *read = (char *)content; *read; read++) {
        if (!is_space(*read))
            *write++ = *read;
        else if (write > (char *)content && write[-1] != ' ')
            *write++ = ' ';
    }
    if (write > (char *)content && write[-1] == ' ')
        write--;
    const char *copy = write > (char *)content ? arena_strndup(arena, (char *)content, (size_t)(write - (char *)content)) : NULL;
    xmlFree(content);
    return copy;
}

/* Blanks that every line but the first (which begins right behind the tag) starts with. */
static size_t common_indent(const char *text)
{
    size_t common = SIZE_MAX;
    for (const char *line = strchr(text, '\n'); line; line = strchr(line, '\n')) {
        line++;
        size_t blanks = strspn(line, " \t");
        if (line[blanks] && line[blanks] != '\n' && blanks < common)
            common = blanks;
    }
    return common == SIZE_MAX ? 0 : common;
}

const char *xml_verbatim(struct arena *arena, const xmlNode *node)
{
    xmlChar *content = xmlNodeGetContent((xmlNode *)(uintptr_t)node);
    if (!content)
        return NULL;
    char *text = (char *)content;
    size_t end = strlen(text);
    if (strchr(text, '\n')) {
        size_t indent = common_indent(text), write = 0;
        for (size_t read = 0; read < end; read++) {
            text[write++] = text[read];
            if (text[read] == '\n') {
                size_t blanks = strspn(text + read + 1, " \t");
                read += blanks < indent ? blanks : indent;
            }
        }
        text[write] = '\0';
        end = write;
        while (end && is_space(text[end - 1]))
            end--;
        size_t start = strspn(text, " \t");
        if (text[start] == '\n')
            text += start + 1, end -= end > start ? start + 1 : end;
    }
    const char *copy = end ? arena_strndup(arena, text, end) : NULL;
    xmlFree(content);
    return copy;
}

/* Bodies of posts as text, and the lines in them that look like errors. */
#include <string.h>

#include <libxml/HTMLparser.h>

#include "kb/import.h"

bool looks_like_error(const char *line, size_t length)
{
    static const char *const signs[] = {"Error",     "error:",    "ERROR",     "Exception",    "failed",  "Failed",    "FAILED",
                                        "WARN ",     "abort",     "Abort",     "Segmentation", "cannot ", "Cannot ",   "could not",
                                        "Could not", "unable to", "Unable to", "timed out",    "refused", "not found", "undefined",
                                        "killed",    "Killed",    "invalid ",  "fatal"};
    if (length < 8)
        return false;
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (memmem(line, length, signs[i], strlen(signs[i])))
            return true;
    return false;
}

static void take_code(const char *text, struct buf *errors)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        size_t blanks = strspn(text, " \t\r");
        if (blanks < length && looks_like_error(text + blanks, length - blanks)) {
            buf_add(errors, text + blanks, length - blanks);
            buf_addc(errors, '\n');
        }
        text += length + (text[length] == '\n');
    }
}

static bool is_block(const xmlNode *node)
{
    static const char *const names[] = {"p", "pre", "li", "br", "h1", "h2", "h3", "h4", "blockquote", "div", "tr", "hr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp((const char *)node->name, names[i]) == 0)
            return true;
    return false;
}

/* Walks without recursion: a body may nest as deep as it likes. */
static void walk(const xmlNode *root, struct buf *text, struct buf *errors)
{
    const xmlNode *node = root;
    while (node) {
        bool down = node->type == XML_ELEMENT_NODE;
        if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) {
            buf_adds(text, (const char *)node->content);
        } else if (down && strcmp((const char *)node->name, "pre") == 0) {
            xmlChar *code = xmlNodeGetContent((xmlNode *)(uintptr_t)node);
            if (code)
                take_code((const char *)code, errors);
            xmlFree(code);
            down = false; /* code is no prose */
        } else if (down && is_block(node)) {
            buf_addc(text, ' ');
        }
        if (down && node->children) {
            node = node->children;
            continue;
        }
        while (node && node != root && !node->next)
            node = node->parent;
        node = node && node != root ? node->next : NULL;
    }
}

/* Runs of white space become one blank. */
static void squeeze(struct buf *text)
{
    size_t write = 0;
    for (size_t read = 0; read < text->length; read++) {
        bool space = strchr(" \t\r\n", text->data[read]) != NULL;
        if (!space)
            text->data[write++] = text->data[read];
        else if (write && text->data[write - 1] != ' ')
            text->data[write++] = ' ';
    }
    text->length = write;
    if (text->data)
        text->data[write] = '\0';
}

bool html_to_text(const char *html, struct buf *text, struct buf *errors)
{
    if (!*html)
        return true;
    htmlDocPtr doc = htmlReadMemory(html, (int)strlen(html), NULL, "UTF-8",
                                    HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_RECOVER);
    if (!doc)
        return true; /* nothing readable */
    walk(xmlDocGetRootElement(doc), text, errors);
    xmlFreeDoc(doc);
    squeeze(text);
    return !text->failed && !errors->failed;
}

bool split_errors(struct arena *arena, const char *lines, const char ***list, size_t *count)
{
    *list = arena_alloc(arena, IMPORT_ERRORS_MAX * sizeof **list);
    *count = 0;
    while (*list && *lines && *count < IMPORT_ERRORS_MAX) {
        size_t length = strcspn(lines, "\n"), kept = length < 400 ? length : 400;
        while (kept < length && kept && ((unsigned char)lines[kept] & 0xc0) == 0x80)
            kept--;
        char *copy = arena_strndup(arena, lines, kept);
        if (!copy)
            return false;
        bool known = false;
        for (size_t i = 0; i < *count; i++)
            known = known || strcmp((*list)[i], copy) == 0;
        if (!known)
            (*list)[(*count)++] = copy;
        lines += length + (lines[length] == '\n');
    }
    return *list != NULL;
}

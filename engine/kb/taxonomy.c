#include "kb/taxonomy.h"

#include <ctype.h>
#include <string.h>

#include "kb/xml.h"

static const char *const kind_names[] = {"stage", "symptom", "fix-pattern", "topic", "subtopic"};

const char *label_kind_name(enum label_kind kind)
{
    return kind_names[kind];
}

static bool is_label(const xmlNode *node, enum label_kind *kind)
{
    for (int i = LABEL_STAGE; i <= LABEL_SUBTOPIC; i++)
        if (xml_is(node, kind_names[i])) {
            *kind = (enum label_kind)i;
            return true;
        }
    return false;
}

static size_t count_labels(const xmlNode *parent)
{
    size_t count = 0;
    enum label_kind kind;
    for (const xmlNode *node = xml_first(parent); node; node = xml_next(node))
        if (is_label(node, &kind))
            count += 1 + count_labels(node);
    return count;
}

static bool read_label(struct taxonomy *taxonomy, const xmlNode *node, enum label_kind kind, const char *parent)
{
    struct arena *arena = &taxonomy->arena;
    struct label *label = &taxonomy->labels[taxonomy->count++];
    *label = (struct label){.kind = kind, .parent = parent, .line = xml_line(node), .id = xml_attribute(arena, node, "id")};
    label->spellings = arena_alloc(arena, xml_count(node, "spelling") * sizeof *label->spellings);
    bool ok = label->id && label->spellings;
    for (const xmlNode *child = xml_first(node); child && ok; child = xml_next(child)) {
        enum label_kind inner;
        if (is_label(child, &inner)) {
            ok = read_label(taxonomy, child, inner, label->id);
        } else if (xml_is(child, "title")) {
            label->title = xml_prose(arena, child);
        } else if (xml_is(child, "definition")) {
            label->definition = xml_prose(arena, child);
        } else if (xml_is(child, "spelling")) {
            struct spelling spelling = {xml_prose(arena, child), xml_attribute(arena, child, "inner")};
            ok = spelling.text != NULL;
            label->spellings[label->spelling_count++] = spelling;
        }
    }
    return ok && label->title;
}

dtkb_status taxonomy_read(const char *file, struct taxonomy *out, struct err *err)
{
    xmlDocPtr doc = NULL;
    dtkb_status status =
        file ? xml_read_file(file, &kb_schema_taxonomy, &doc, err)
             : xml_read_memory("built-in taxonomy", kb_text_taxonomy.text, kb_text_taxonomy.length, &kb_schema_taxonomy, &doc, err);
    if (status != DTKB_OK)
        return status;
    struct taxonomy taxonomy = {0};
    const xmlNode *root = xmlDocGetRootElement(doc);
    taxonomy.labels = arena_alloc(&taxonomy.arena, count_labels(root) * sizeof *taxonomy.labels);
    bool ok = taxonomy.labels != NULL;
    for (const xmlNode *node = xml_first(root); node && ok; node = xml_next(node)) {
        enum label_kind kind;
        if (is_label(node, &kind))
            ok = read_label(&taxonomy, node, kind, NULL);
    }
    xmlFreeDoc(doc);
    if (!ok) {
        taxonomy_free(&taxonomy);
        return err_nomem(err);
    }
    *out = taxonomy;
    return DTKB_OK;
}

void taxonomy_free(struct taxonomy *taxonomy)
{
    arena_free(&taxonomy->arena);
    *taxonomy = (struct taxonomy){0};
}

const struct label *taxonomy_find(const struct taxonomy *taxonomy, enum label_kind kind, const char *id)
{
    for (size_t i = 0; i < taxonomy->count; i++)
        if (taxonomy->labels[i].kind == kind && strcmp(taxonomy->labels[i].id, id) == 0)
            return &taxonomy->labels[i];
    return NULL;
}

/* Is `raw` the spelling, but for case and the number of blanks? */
static bool spelled(const char *spelling, const char *raw, size_t length)
{
    const char *end = raw + length;
    while (raw < end && isspace((unsigned char)*raw))
        raw++;
    while (end > raw && isspace((unsigned char)end[-1]))
        end--;
    while (raw < end) {
        char c = (char)tolower((unsigned char)*raw++);
        if (isspace((unsigned char)c)) {
            c = ' ';
            while (raw < end && isspace((unsigned char)*raw))
                raw++;
        }
        if (c != *spelling++)
            return false;
    }
    return *spelling == '\0';
}

static const struct label *lookup(const struct taxonomy *taxonomy, enum label_kind kind, const char *parent, const char *inner,
                                  const char *raw, size_t length)
{
    for (size_t i = 0; i < taxonomy->count; i++) {
        const struct label *label = &taxonomy->labels[i];
        if (label->kind != kind || (parent && (!label->parent || strcmp(label->parent, parent) != 0)))
            continue;
        for (size_t j = 0; j < label->spelling_count; j++) {
            const struct spelling *spelling = &label->spellings[j];
            if (spelling->inner && !(inner && spelled(spelling->inner, inner, strlen(inner))))
                continue;
            if (spelled(spelling->text, raw, length))
                return label;
        }
    }
    return NULL;
}

const struct label *taxonomy_by_spelling(const struct taxonomy *taxonomy, enum label_kind kind, const char *parent, const char *inner,
                                         const char *raw)
{
    return lookup(taxonomy, kind, parent, inner, raw, strlen(raw));
}

size_t taxonomy_fixes(const struct taxonomy *taxonomy, const char *raw, const struct label **out, size_t max)
{
    const struct label *whole = lookup(taxonomy, LABEL_FIX, NULL, NULL, raw, strlen(raw));
    if (whole && max) {
        out[0] = whole;
        return 1;
    }
    size_t count = 0;
    while (*raw) {
        const char *and = strstr(raw, " & "), * or = strstr(raw, " / ");
        const char *cut = and&&(! or || and < or) ? and : or ;
        size_t length = cut ? (size_t)(cut - raw) : strlen(raw);
        const struct label *part = lookup(taxonomy, LABEL_FIX, NULL, NULL, raw, length);
        if (!part || count == max)
            return 0;
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || out[i] == part;
        if (!known)
            out[count++] = part;
        raw += length + (cut ? 3 : 0);
    }
    return count;
}

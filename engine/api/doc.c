#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "report/render.h"

dtkb_status doc_new(json_t *tree, dtkb_doc **out, struct err *err)
{
    dtkb_doc *doc = tree ? calloc(1, sizeof *doc) : NULL;
    if (!doc) {
        json_decref(tree);
        return err_nomem(err);
    }
    doc->tree = tree;
    *out = doc;
    return DTKB_OK;
}

void dtkb_doc_free(dtkb_doc *doc)
{
    if (!doc)
        return;
    json_decref(doc->tree);
    free(doc->json);
    free(doc);
}

const char *dtkb_doc_json(dtkb_doc *doc)
{
    if (!doc->json) {
        struct buf buf = {0};
        if (render(doc->tree, DTKB_FORMAT_JSON, NULL, &buf, NULL) != DTKB_OK || !buf.data) {
            buf_free(&buf);
            return NULL;
        }
        doc->json = buf.data; /* the buffer's memory changes hands */
    }
    return doc->json;
}

dtkb_verdict dtkb_doc_verdict(const dtkb_doc *doc)
{
    const char *verdict = json_string_value(json_object_get(doc->tree, "verdict"));
    if (!verdict)
        return DTKB_VERDICT_NONE;
    if (!strcmp(verdict, "fault"))
        return DTKB_VERDICT_FAULT;
    return strcmp(verdict, "no-fault") ? DTKB_VERDICT_UNKNOWN : DTKB_VERDICT_NO_FAULT;
}

dtkb_status dtkb_doc_write(const dtkb_doc *doc, dtkb_format format, const dtkb_write_options *options, dtkb_write_fn write, void *context)
{
    struct render_options how = {0};
    if (options && options->struct_size >= sizeof *options)
        how = (struct render_options){.width = options->width, .color = options->color != 0};
    struct buf buf = {0};
    dtkb_status status = render(doc->tree, format, &how, &buf, NULL);
    if (status == DTKB_OK && write(context, buf_text(&buf), buf.length))
        status = DTKB_E_CANCELLED;
    buf_free(&buf);
    return status;
}

static bool is_document(const json_t *tree)
{
    const char *schema = json_string_value(json_object_get(tree, "schema"));
    return schema && !strncmp(schema, "dtkb.", 5);
}

dtkb_status dtkb_doc_parse(const char *json, size_t length, dtkb_doc **out, char *error, size_t error_size)
{
    struct err err = {0};
    json_error_t where;
    json_t *tree = json_loadb(json, length, JSON_REJECT_DUPLICATES, &where);
    if (!tree)
        err_set(&err, DTKB_E_FORMAT, "not a dtkb document: line %d: %s", where.line, where.text);
    else if (!is_document(tree)) {
        json_decref(tree);
        err_set(&err, DTKB_E_FORMAT, "JSON, but no dtkb document: it has no member \"schema\" that begins with \"dtkb.\"");
    } else {
        doc_new(tree, out, &err);
    }
    return api_report(&err, error, error_size);
}

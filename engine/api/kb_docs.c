/* Documents about the knowledge base: search results, issues, cards, tables. */
#include <string.h>

#include "api/api.h"
#include "kb/card.h"
#include "kb/tables.h"

/* Puts the title of a label beside its id. */
static void add_title(struct kb *kb, json_t *tree, const char *key, const char *title_key)
{
    const char *id = json_string_value(json_object_get(tree, key));
    const char *title = id ? kb_label_title(kb, id) : NULL;
    if (title)
        json_object_set_new(tree, title_key, json_string(title));
}

static dtkb_status hit_to_json(struct kb *kb, const struct kb_hit *hit, json_t *list, struct err *err)
{
    struct arena arena = {0};
    struct issue issue;
    dtkb_status status = kb_issue_by_id(kb, hit->issue, &arena, &issue, err);
    if (status == DTKB_OK) {
        const char *const left_out[] = {"summary", "cause", "fix", "raw_label", "raw_fix", "error_lines"};
        json_t *tree = issue_to_json(&issue);
        for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
            json_object_del(tree, left_out[i]);
        add_title(kb, tree, "symptom", "symptom_title");
        add_title(kb, tree, "topic", "topic_title");
        json_object_set_new(tree, "score", json_real(hit->score));
        json_object_set_new(tree, "snippet", json_string(hit->snippet));
        json_array_append_new(list, tree);
    }
    arena_free(&arena);
    return status;
}

/* The query as text that JSON can hold. */
static json_t *query_text(const char *text)
{
    json_t *string = json_string(text ? text : "");
    return string ? string : json_string("(not UTF-8)");
}

dtkb_status dtkb_search(dtkb *engine, const dtkb_query *query, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    if (!query || query->struct_size != sizeof *query)
        return err_set(err, DTKB_E_USAGE, "dtkb_search: begin the query with DTKB_QUERY_INIT");
    struct kb_query asked = {.text = query->text,
                             .framework = query->framework,
                             .stage = query->stage,
                             .symptom = query->symptom,
                             .fix = query->fix,
                             .kind = query->kind,
                             .source = query->source,
                             .limit = query->limit};
    struct kb_hits hits = {0};
    dtkb_status status = kb_search(engine->kb, &asked, &hits, err);
    if (status != DTKB_OK)
        return status;
    json_t *list = json_array();
    for (size_t i = 0; i < hits.count && status == DTKB_OK; i++)
        status = hit_to_json(engine->kb, &hits.hits[i], list, err);
    kb_hits_free(&hits);
    if (status != DTKB_OK) {
        json_decref(list);
        return status;
    }
    return doc_new(json_pack("{s:s, s:o, s:I, s:o}", "schema", "dtkb.search/1", "query", query_text(query->text), "count",
                             (json_int_t)json_array_size(list), "hits", list),
                   out, err);
}

dtkb_status dtkb_show(dtkb *engine, const char *issue_id, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    struct arena arena = {0};
    struct issue issue;
    if (!issue_id)
        return err_set(err, DTKB_E_USAGE, "dtkb_show: which issue?");
    dtkb_status status = kb_issue_by_id(engine->kb, issue_id, &arena, &issue, err);
    json_t *tree = status == DTKB_OK ? issue_to_json(&issue) : NULL;
    arena_free(&arena);
    if (status != DTKB_OK)
        return status;
    add_title(engine->kb, tree, "symptom", "symptom_title");
    add_title(engine->kb, tree, "topic", "topic_title");
    json_t *fixes = json_array(), *fix;
    size_t i;
    json_array_foreach(json_object_get(tree, "fixes"), i, fix)
    {
        const char *title = kb_label_title(engine->kb, json_string_value(fix));
        json_array_append_new(fixes, json_string(title ? title : json_string_value(fix)));
    }
    json_object_set_new(tree, "fix_titles", fixes);
    json_object_set_new(tree, "schema", json_string("dtkb.issue/1"));
    return doc_new(tree, out, err);
}

static json_t *signatures_of(const struct signature *signatures, size_t count, uint32_t cause)
{
    static const char *const strengths[] = {"weak", "moderate", "strong", "proof"};
    static const char *const effects[] = {"for", "support", "against"};
    static const char *const roles[] = {"unknown", "initiating", "cascade", "teardown"};
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct signature *signature = &signatures[i];
        if (signature->cause == cause)
            json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "id", signature->id, "strength",
                                                  strengths[signature->strength], "effect", effects[signature->effect], "role",
                                                  roles[signature->role], "kind", signature->is_regex ? "regex" : "literal", "ignore_case",
                                                  signature->ignore_case, "pattern", signature->pattern));
    }
    return list;
}

dtkb_status dtkb_explain(dtkb *engine, const char *cause_id, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    const struct cause *cause;
    const struct signature *signatures;
    size_t count;
    if (!cause_id)
        return err_set(err, DTKB_E_USAGE, "dtkb_explain: which cause?");
    dtkb_status status = kb_cause_by_id(engine->kb, cause_id, &cause, err);
    if (status == DTKB_OK)
        status = kb_signatures(engine->kb, &signatures, &count, err);
    if (status != DTKB_OK)
        return status;
    json_t *tree = card_to_json(cause);
    add_title(engine->kb, tree, "symptom", "symptom_title");
    add_title(engine->kb, tree, "fix", "fix_title");
    json_object_set_new(tree, "pack", json_string(cause->pack ? cause->pack : ""));
    json_object_set_new(tree, "signatures", signatures_of(signatures, count, cause->index));
    json_object_set_new(tree, "schema", json_string("dtkb.cause/1"));
    return doc_new(tree, out, err);
}

/* A tree that another function makes, as a document of the given schema. */
static dtkb_status table_doc(dtkb *engine, dtkb_status (*make)(struct kb *, json_t **, struct err *), const char *schema, dtkb_doc **out)
{
    struct err *err = api_begin(engine);
    json_t *tree = NULL;
    dtkb_status status = make(engine->kb, &tree, err);
    if (status != DTKB_OK)
        return status;
    json_object_set_new(tree, "schema", json_string(schema));
    return doc_new(tree, out, err);
}

dtkb_status dtkb_stats(dtkb *engine, dtkb_doc **out)
{
    return table_doc(engine, kb_stats, "dtkb.stats/1", out);
}

dtkb_status dtkb_taxonomy(dtkb *engine, dtkb_doc **out)
{
    return table_doc(engine, kb_taxonomy, "dtkb.taxonomy/1", out);
}

dtkb_status dtkb_kb_info(dtkb *engine, dtkb_doc **out)
{
    return table_doc(engine, kb_info, "dtkb.kb-info/1", out);
}

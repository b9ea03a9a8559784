#include "kb/kb_private.h"

#include <stdlib.h>
#include <string.h>

#include "kb/taxonomy.h"

static const char *title_for_index(void *context, const char *id)
{
    return kb_label_title(context, id);
}

dtkb_status kb_open(const char *file, const char *const *packs, size_t pack_count, struct kb **out, struct err *err)
{
    struct kb *kb = calloc(1, sizeof *kb);
    if (!kb)
        return err_nomem(err);
    kb->layers = calloc(pack_count + 1, sizeof *kb->layers);
    dtkb_status status = kb->layers ? layer_open_file(file, &kb->layers[0], err) : err_nomem(err);
    if (status == DTKB_OK)
        kb->layer_count = 1;
    for (size_t i = 0; i < pack_count && status == DTKB_OK; i++) {
        struct layer *layer = &kb->layers[kb->layer_count];
        if (layer_is_database(packs[i]))
            status = layer_open_file(packs[i], layer, err);
        else
            status = layer_open_pack(packs[i], title_for_index, kb, layer, err);
        kb->layer_count += status == DTKB_OK;
    }
    if (status == DTKB_OK)
        *out = kb;
    else
        kb_close(kb);
    return status;
}

void kb_close(struct kb *kb)
{
    if (!kb)
        return;
    kb_scan_close(kb);
    for (size_t i = 0; i < kb->layer_count; i++)
        layer_close(&kb->layers[i]);
    free(kb->layers);
    free(kb->causes);
    free(kb->signatures);
    free(kb->labels);
    free(kb->priors);
    free(kb->facts);
    arena_free(&kb->arena);
    free(kb);
}

/* ---- labels ---- */

static dtkb_status count_rows(const struct layer *layer, const char *sql, size_t *count, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(layer, sql, &statement, err);
    if (status == DTKB_OK && layer_step(layer, statement, &status, err)) {
        sqlite3_int64 rows = sqlite3_column_int64(statement, 0);
        *count = rows > 0 ? (size_t)rows : 0;
    }
    sqlite3_finalize(statement);
    return status;
}

dtkb_status kb_need_labels(struct kb *kb, struct err *err)
{
    if (kb->labels_ready)
        return DTKB_OK;
    struct layer *base = &kb->layers[0];
    size_t capacity = 0;
    sqlite3_stmt *statement = NULL;
    dtkb_status status = count_rows(base, "SELECT count(*) FROM label", &capacity, err);
    struct kb_label *labels = status == DTKB_OK ? calloc(capacity + 1, sizeof *labels) : NULL;
    if (status == DTKB_OK && !labels)
        status = err_nomem(err);
    if (status == DTKB_OK)
        status = layer_prepare(base, "SELECT kind, id, parent, title, definition FROM label ORDER BY n", &statement, err);
    size_t count = 0;
    while (status == DTKB_OK && count < capacity && layer_step(base, statement, &status, err)) {
        struct kb_label *label = &labels[count++];
        const char **texts[] = {&label->kind, &label->id, &label->parent, &label->title, &label->definition};
        for (int i = 0; i < 5 && status == DTKB_OK; i++)
            if (!layer_text(&kb->arena, statement, i, texts[i]))
                status = err_nomem(err);
        if (status == DTKB_OK && (!label->kind || !label->id || !label->title))
            status = layer_damaged(base, "labels", err);
    }
    sqlite3_finalize(statement);
    if (status != DTKB_OK) {
        free(labels);
        return status;
    }
    kb->labels = labels;
    kb->label_count = count;
    kb->labels_ready = true;
    return DTKB_OK;
}

const struct kb_label *kb_find_label(struct kb *kb, const char *kind, const char *id)
{
    if (kb_need_labels(kb, NULL) != DTKB_OK)
        return NULL;
    for (size_t i = 0; i < kb->label_count; i++)
        if ((!kind || strcmp(kb->labels[i].kind, kind) == 0) && strcmp(kb->labels[i].id, id) == 0)
            return &kb->labels[i];
    return NULL;
}

const char *kb_label_title(struct kb *kb, const char *id)
{
    const struct kb_label *label = kb_find_label(kb, "symptom", id);
    if (!label)
        label = kb_find_label(kb, "fix-pattern", id);
    if (!label)
        label = kb_find_label(kb, NULL, id);
    return label ? label->title : NULL;
}

/* ---- priors ---- */

dtkb_status kb_need_priors(struct kb *kb, struct err *err)
{
    if (kb->priors_ready)
        return DTKB_OK;
    struct layer *base = &kb->layers[0];
    size_t capacity = 0;
    sqlite3_stmt *statement = NULL;
    dtkb_status status = count_rows(base, "SELECT count(*) FROM prior", &capacity, err);
    struct prior *priors = status == DTKB_OK ? calloc(capacity + 1, sizeof *priors) : NULL;
    if (status == DTKB_OK && !priors)
        status = err_nomem(err);
    if (status == DTKB_OK)
        status = layer_prepare(base, "SELECT symptom, issues FROM prior ORDER BY symptom", &statement, err);
    size_t count = 0;
    while (status == DTKB_OK && count < capacity && layer_step(base, statement, &status, err)) {
        struct prior *prior = &priors[count++];
        int issues = sqlite3_column_int(statement, 1);
        prior->issues = issues > 0 ? (uint32_t)issues : 0;
        if (!layer_text(&kb->arena, statement, 0, &prior->symptom))
            status = err_nomem(err);
        else if (!prior->symptom)
            status = layer_damaged(base, "frequencies", err);
    }
    sqlite3_finalize(statement);
    if (status != DTKB_OK) {
        free(priors);
        return status;
    }
    kb->priors = priors;
    kb->prior_count = count;
    kb->priors_ready = true;
    return DTKB_OK;
}

static size_t count_labels(struct kb *kb, const char *kind)
{
    size_t count = 0;
    if (kb_need_labels(kb, NULL) == DTKB_OK)
        for (size_t i = 0; i < kb->label_count; i++)
            count += strcmp(kb->labels[i].kind, kind) == 0;
    return count ? count : 1;
}

double kb_symptom_prior(struct kb *kb, const char *symptom)
{
    double total = 0, own = 0;
    if (kb_need_priors(kb, NULL) == DTKB_OK)
        for (size_t i = 0; i < kb->prior_count; i++) {
            total += kb->priors[i].issues;
            if (strcmp(kb->priors[i].symptom, symptom) == 0)
                own = kb->priors[i].issues;
        }
    return (own + 1) / (total + (double)count_labels(kb, "symptom"));
}

/* ---- facts ---- */

static dtkb_status read_layer_facts(struct kb *kb, const struct layer *layer, size_t capacity, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(layer, "SELECT name, type, unit, probe, meaning FROM fact ORDER BY name", &statement, err);
    while (status == DTKB_OK && kb->fact_count < capacity && layer_step(layer, statement, &status, err)) {
        struct fact_definition *fact = &kb->facts[kb->fact_count];
        const char *type = NULL;
        const char **texts[] = {&fact->name, &type, &fact->unit, &fact->probe, &fact->meaning};
        for (int i = 0; i < 5 && status == DTKB_OK; i++)
            if (!layer_text(&kb->arena, statement, i, texts[i]))
                status = err_nomem(err);
        fact->type = fact_type_by_name(type);
        if (status == DTKB_OK && (!fact->name || !fact->type || !fact->unit))
            status = layer_damaged(layer, "facts", err);
        kb->fact_count += status == DTKB_OK;
    }
    sqlite3_finalize(statement);
    return status;
}

static dtkb_status need_facts(struct kb *kb, struct err *err)
{
    if (kb->facts_ready)
        return DTKB_OK;
    size_t capacity = 0;
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < kb->layer_count && status == DTKB_OK; i++) {
        size_t count = 0;
        status = count_rows(&kb->layers[i], "SELECT count(*) FROM fact", &count, err);
        capacity += count;
    }
    if (status == DTKB_OK && !(kb->facts = calloc(capacity + 1, sizeof *kb->facts)))
        status = err_nomem(err);
    for (size_t i = kb->layer_count; i-- > 0 && status == DTKB_OK;)
        status = read_layer_facts(kb, &kb->layers[i], capacity, err); /* upper layers first: the first found counts */
    if (status != DTKB_OK) {
        free(kb->facts);
        kb->facts = NULL;
        kb->fact_count = 0;
        return status;
    }
    kb->facts_ready = true;
    return DTKB_OK;
}

bool kb_fact_definition(struct kb *kb, const char *name, enum fact_type *type, const char **unit)
{
    if (need_facts(kb, NULL) != DTKB_OK)
        return false;
    for (size_t i = 0; i < kb->fact_count; i++)
        if (fact_name_matches(kb->facts[i].name, name)) {
            *type = kb->facts[i].type;
            *unit = kb->facts[i].unit;
            return true;
        }
    return false;
}

const char *kb_fact_probe(struct kb *kb, const char *name)
{
    if (need_facts(kb, NULL) != DTKB_OK)
        return NULL;
    /* A pattern of a card and one of the vocabulary meet when either covers the other. */
    for (size_t i = 0; i < kb->fact_count; i++)
        if (fact_name_matches(kb->facts[i].name, name) || fact_name_matches(name, kb->facts[i].name))
            return kb->facts[i].probe;
    return NULL;
}

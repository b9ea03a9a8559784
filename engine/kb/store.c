#include "kb/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "kb/card.h"
#include "kb/indexer.h"
#include "kb/learner.h"
#include "kb/log_versions.h"
#include "kb/store_schema.h"
#include "kb/tokenizer.h"

struct store {
    sqlite3 *db;
    label_title_fn title;
    void *title_context;
    struct indexer *indexer;
    struct learner *learner;
    sqlite3_stmt *insert_cause, *insert_signature, *insert_issue, *insert_search, *insert_fact, *insert_label, *count_prior;
    sqlite3_int64 causes, signatures, labels;
    sqlite3_int64 issues, faults, how_to, reports;
};

static dtkb_status failed(const struct store *store, struct err *err)
{
    if (sqlite3_errcode(store->db) == SQLITE_NOMEM)
        return err_nomem(err);
    return err_set(err, DTKB_E_IO, "the knowledge base cannot be written: %s", sqlite3_errmsg(store->db));
}

static dtkb_status execute(const struct store *store, const char *sql, struct err *err)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? DTKB_OK : failed(store, err);
}

static bool prepare_all(struct store *store)
{
    static const char search[] = "INSERT INTO search (rowid, title, summary, error, cause, fix, component, label)"
                                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&store->insert_label, "INSERT INTO label VALUES (?1, ?2, ?3, ?4, ?5, ?6)"},
        {&store->insert_fact, "INSERT INTO fact VALUES (?1, ?2, ?3, ?4, ?5)"},
        {&store->insert_cause, "INSERT INTO cause VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
        {&store->insert_signature, "INSERT INTO signature VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
        {&store->insert_issue, "INSERT INTO issue VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
                               " ?19, ?20, ?21, ?22)"},
        {&store->insert_search, search},
        {&store->count_prior, "INSERT INTO prior VALUES (?1, 1) ON CONFLICT DO UPDATE SET issues = issues + 1"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (sqlite3_prepare_v2(store->db, all[i].sql, -1, all[i].statement, NULL) != SQLITE_OK)
            return false;
    return true;
}

dtkb_status store_create_file(const char *file, sqlite3 **out, struct err *err)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    /* The file is a temporary one that is moved into place when whole: a journal would protect nothing. */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE", NULL,
                          NULL, NULL);
    if (rc == SQLITE_OK) {
        *out = db;
        return DTKB_OK;
    }
    dtkb_status status = err_set(err, DTKB_E_IO, "%s: %s", file, db ? sqlite3_errmsg(db) : "out of memory");
    sqlite3_close(db);
    return status;
}

dtkb_status store_begin(sqlite3 *db, label_title_fn title, void *context, struct store **out, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        return err_nomem(err);
    store->db = db;
    store->title = title;
    store->title_context = context;
    store->indexer = indexer_new();
    char pragmas[128];
    sqlite3_snprintf(sizeof pragmas, pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN", STORE_APPLICATION_ID,
                     STORE_SCHEMA);
    dtkb_status status = store->indexer ? DTKB_OK : err_nomem(err);
    if (status == DTKB_OK && tokenizer_register(db) != SQLITE_OK)
        status = err_set(err, DTKB_E_UNSUPPORTED, "the SQLite library %s has no FTS5", sqlite3_libversion());
    if (status == DTKB_OK)
        status = execute(store, pragmas, err);
    if (status == DTKB_OK)
        status = execute(store, store_schema, err);
    if (status == DTKB_OK && !prepare_all(store))
        status = failed(store, err);
    if (status == DTKB_OK && !(store->learner = learner_new(db)))
        status = err_nomem(err);
    if (status == DTKB_OK)
        *out = store;
    else
        store_free(store);
    return status;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    sqlite3_stmt *all[] = {store->insert_cause, store->insert_signature, store->insert_issue, store->insert_search,
                           store->insert_fact,  store->insert_label,     store->count_prior};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sqlite3_finalize(all[i]);
    indexer_free(store->indexer);
    learner_free(store->learner);
    free(store);
}

static void text(sqlite3_stmt *statement, int at, const char *value)
{
    sqlite3_bind_text(statement, at, value, -1, SQLITE_STATIC); /* NULL binds NULL */
}

static dtkb_status step(const struct store *store, sqlite3_stmt *statement, struct err *err)
{
    int rc = sqlite3_step(statement);
    dtkb_status status = rc == SQLITE_DONE ? DTKB_OK : failed(store, err);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return status;
}

/* Binds the tree as compact JSON text; the tree is taken over. */
static void json(sqlite3_stmt *statement, int at, json_t *tree)
{
    char *rendered = tree ? json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(tree);
    sqlite3_bind_text(statement, at, rendered, -1, rendered ? free : SQLITE_STATIC);
}

dtkb_status store_add_taxonomy(struct store *store, const struct taxonomy *taxonomy, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < taxonomy->count && status == DTKB_OK; i++) {
        const struct label *label = &taxonomy->labels[i];
        sqlite3_bind_int64(store->insert_label, 1, ++store->labels);
        text(store->insert_label, 2, label_kind_name(label->kind));
        text(store->insert_label, 3, label->id);
        text(store->insert_label, 4, label->parent);
        text(store->insert_label, 5, label->title);
        text(store->insert_label, 6, label->definition);
        status = step(store, store->insert_label, err);
    }
    return status;
}

static dtkb_status add_signature(struct store *store, const struct signature *signature, sqlite3_int64 cause, struct err *err)
{
    sqlite3_stmt *insert = store->insert_signature;
    sqlite3_bind_int64(insert, 1, store->signatures++);
    sqlite3_bind_int64(insert, 2, cause);
    text(insert, 3, signature->id);
    sqlite3_bind_int(insert, 4, (int)signature->strength);
    sqlite3_bind_int(insert, 5, (int)signature->effect);
    sqlite3_bind_int(insert, 6, (int)signature->role);
    sqlite3_bind_int(insert, 7, signature->is_regex);
    sqlite3_bind_int(insert, 8, signature->ignore_case);
    text(insert, 9, signature->pattern);
    return step(store, insert, err);
}

static void join(struct buf *out, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_addf(out, "%s\n", list[i]);
}

/* A card teaches the classifier what its trouble reads like; what speaks against it does not. */
static dtkb_status learn_card(struct store *store, const struct pack_cause *source, struct err *err)
{
    struct buf text = {0};
    buf_addf(&text, "%s\n%s\n", source->cause.title, source->cause.explanation);
    for (size_t i = 0; i < source->signature_count; i++)
        if (source->signatures[i].signature.effect != SIG_AGAINST)
            join(&text, source->signatures[i].samples, source->signatures[i].sample_count);
    struct lesson lesson = {.text = buf_text(&text), .symptom = source->cause.symptom, .fixes = &source->cause.fix, .fix_count = 1};
    dtkb_status status = text.failed ? err_nomem(err) : learner_add(store->learner, &lesson, err);
    buf_free(&text);
    return status;
}

static dtkb_status add_cause(struct store *store, const struct pack *pack, const struct pack_cause *source, struct err *err)
{
    const struct cause *cause = &source->cause;
    sqlite3_stmt *insert = store->insert_cause;
    sqlite3_int64 number = store->causes++;
    sqlite3_bind_int64(insert, 1, number);
    text(insert, 2, cause->id);
    text(insert, 3, cause->symptom);
    text(insert, 4, cause->fix);
    sqlite3_bind_int(insert, 5, cause->generic);
    text(insert, 6, cause->pack);
    text(insert, 7, cause->title);
    json(insert, 8, card_to_json(cause));
    dtkb_status status = step(store, insert, err);
    if (status == DTKB_E_IO && sqlite3_extended_errcode(store->db) == SQLITE_CONSTRAINT_UNIQUE)
        return err_set(err, DTKB_E_FORMAT, "%s:%d: a cause with the id %s exists already", pack->file, source->line, cause->id);
    for (size_t i = 0; i < source->signature_count && status == DTKB_OK; i++)
        status = add_signature(store, &source->signatures[i].signature, number, err);
    return status == DTKB_OK ? learn_card(store, source, err) : status;
}

static dtkb_status add_fact(struct store *store, const struct pack *pack, const struct fact_definition *fact, struct err *err)
{
    text(store->insert_fact, 1, fact->name);
    text(store->insert_fact, 2, fact_type_name(fact->type));
    text(store->insert_fact, 3, fact->unit);
    text(store->insert_fact, 4, fact->probe);
    text(store->insert_fact, 5, fact->meaning);
    dtkb_status status = step(store, store->insert_fact, err);
    if (status == DTKB_E_IO && (sqlite3_errcode(store->db) & 0xff) == SQLITE_CONSTRAINT)
        return err_set(err, DTKB_E_FORMAT, "%s:%d: a fact with the name %s exists already", pack->file, fact->line, fact->name);
    return status;
}

/* The study's frequencies: how often a symptom came. */
static dtkb_status count_prior(struct store *store, const struct issue *issue, struct err *err)
{
    if (strcmp(issue->kind, "fault") != 0 || !issue->symptom || strcmp(issue->evidence, "imported") == 0)
        return DTKB_OK;
    text(store->count_prior, 1, issue->symptom);
    return step(store, store->count_prior, err);
}

static void add_title(const struct store *store, struct buf *out, const char *id)
{
    const char *title = id && store->title ? store->title(store->title_context, id) : NULL;
    if (id)
        buf_addf(out, "%s\n", title ? title : id);
}

/* Marks for the filters of a search: one list of issues per value. */
static bool mark(struct store *store, const struct issue *issue)
{
    bool ok = indexer_mark(store->indexer, "kind", issue->kind) && indexer_mark(store->indexer, "source", issue->source);
    if (ok && strcmp(issue->kind, "how-to") != 0)
        ok = indexer_mark(store->indexer, "failure", "yes");
    for (const char *word = issue->framework; ok && *word;) {
        char name[64];
        size_t length = strcspn(word, " ");
        if (length && length < sizeof name) {
            memcpy(name, word, length);
            name[length] = '\0';
            ok = indexer_mark(store->indexer, "framework", name);
        }
        word += length + strspn(word + length, " ");
    }
    if (ok && issue->symptom) {
        char stage[64];
        size_t length = strcspn(issue->symptom, "/");
        ok = indexer_mark(store->indexer, "symptom", issue->symptom);
        if (ok && length < sizeof stage) {
            memcpy(stage, issue->symptom, length);
            stage[length] = '\0';
            ok = indexer_mark(store->indexer, "stage", stage);
        }
    }
    for (size_t i = 0; i < issue->fix_count && ok; i++)
        ok = indexer_mark(store->indexer, "fix", issue->fixes[i]);
    return ok;
}

static dtkb_status index_issue(struct store *store, const struct issue *issue, struct err *err)
{
    struct buf errors = {0}, components = {0}, labels = {0};
    join(&errors, issue->error_lines, issue->error_line_count);
    if (issue->log)
        buf_adds(&errors, issue->log);
    join(&components, issue->components, issue->component_count);
    for (size_t i = 0; i < issue->version_count; i++)
        buf_addf(&components, "%s %s\n", issue->versions[i].component, issue->versions[i].version);
    buf_addf(&labels, "%s\n", issue->framework);
    add_title(store, &labels, issue->symptom);
    add_title(store, &labels, issue->topic);
    for (size_t i = 0; i < issue->fix_count; i++)
        add_title(store, &labels, issue->fixes[i]);
    const char *texts[COLUMN_COUNT] = {issue->title, issue->summary,        buf_text(&errors), issue->cause,
                                       issue->fix,   buf_text(&components), buf_text(&labels)};
    dtkb_status status = DTKB_OK;
    if (errors.failed || components.failed || labels.failed || !indexer_add(store->indexer, texts) || !mark(store, issue))
        status = err_nomem(err);
    if (status == DTKB_OK) {
        sqlite3_bind_int64(store->insert_search, 1, store->issues);
        for (int column = 0; column < COLUMN_COUNT; column++)
            text(store->insert_search, column + 2, texts[column]);
        status = step(store, store->insert_search, err);
    }
    buf_free(&errors);
    buf_free(&components);
    buf_free(&labels);
    return status;
}

/* What people read of a fault, or the log of a report: proposals for imported issues are this classifier's own and teach it nothing. */
static dtkb_status learn_issue(struct store *store, const struct issue *issue, struct err *err)
{
    struct buf text = {0};
    if (!issue->symptom || strcmp(issue->evidence, "imported") == 0 || (!issue->log && strcmp(issue->kind, "fault") != 0))
        return DTKB_OK;
    const char *texts[] = {issue->title, issue->summary, issue->cause, issue->fix};
    for (size_t i = 0; !issue->log && i < sizeof texts / sizeof *texts; i++)
        if (texts[i])
            buf_addf(&text, "%s\n", texts[i]);
    if (issue->log) {
        buf_adds(&text, issue->log);
    } else {
        join(&text, issue->error_lines, issue->error_line_count);
        join(&text, issue->components, issue->component_count);
    }
    struct lesson lesson = {.text = buf_text(&text),
                            .symptom = issue->symptom,
                            .also_symptoms = issue->also_symptoms,
                            .also_symptom_count = issue->also_symptom_count,
                            .fixes = issue->fixes,
                            .fix_count = issue->fix_count};
    dtkb_status status = text.failed ? err_nomem(err) : learner_add(store->learner, &lesson, err);
    buf_free(&text);
    return status;
}

static json_t *versions_to_json(const struct issue *issue)
{
    json_t *object = json_object();
    for (size_t i = 0; i < issue->version_count; i++)
        json_object_set_new(object, issue->versions[i].component, json_string(issue->versions[i].version));
    return object;
}

static dtkb_status insert_issue(struct store *store, const struct issue *issue, struct err *err)
{
    sqlite3_stmt *insert = store->insert_issue;
    const char *plain[] = {issue->id, issue->url, issue->source, issue->framework, issue->kind, issue->evidence};
    const char *optional[] = {issue->symptom, issue->topic,   issue->raw_label, issue->raw_fix,
                              issue->title,   issue->summary, issue->cause,     issue->fix};
    sqlite3_bind_int64(insert, 1, store->issues + 1);
    for (int i = 0; i < 6; i++)
        text(insert, 2 + i, plain[i]);
    if (issue->distributed >= 0)
        sqlite3_bind_int(insert, 8, issue->distributed);
    for (int i = 0; i < 8; i++)
        text(insert, 9 + i, optional[i]);
    json(insert, 17, strings_to_json(issue->fixes, issue->fix_count));
    json(insert, 18, strings_to_json(issue->error_lines, issue->error_line_count));
    json(insert, 19, strings_to_json(issue->components, issue->component_count));
    json(insert, 20, versions_to_json(issue));
    text(insert, 21, issue->log);
    if (issue->year)
        sqlite3_bind_int(insert, 22, issue->year);
    dtkb_status status = step(store, insert, err);
    if (status == DTKB_E_IO && (sqlite3_errcode(store->db) & 0xff) == SQLITE_CONSTRAINT)
        return err_set(err, DTKB_E_FORMAT, "an issue with the id %s exists already", issue->id);
    store->issues++;
    store->faults += strcmp(issue->kind, "fault") == 0;
    store->how_to += strcmp(issue->kind, "how-to") == 0;
    store->reports += strcmp(issue->kind, "report") == 0;
    return status;
}

dtkb_status store_add_issue(struct store *store, const struct issue *given, struct err *err)
{
    struct arena arena = {0};
    struct issue issue = *given;
    dtkb_status status = log_versions(&issue, &arena, err);
    if (status == DTKB_OK)
        status = insert_issue(store, &issue, err);
    if (status == DTKB_OK)
        status = count_prior(store, &issue, err);
    if (status == DTKB_OK)
        status = index_issue(store, &issue, err);
    if (status == DTKB_OK)
        status = learn_issue(store, &issue, err);
    arena_free(&arena);
    return status;
}

dtkb_status store_add_pack(struct store *store, const struct pack *pack, struct err *err)
{
    dtkb_status status = DTKB_OK;
    for (size_t i = 0; i < pack->fact_count && status == DTKB_OK; i++)
        status = add_fact(store, pack, &pack->facts[i], err);
    for (size_t i = 0; i < pack->cause_count && status == DTKB_OK; i++)
        status = add_cause(store, pack, &pack->causes[i], err);
    for (size_t i = 0; i < pack->issue_count && status == DTKB_OK; i++) {
        struct err inner = {0};
        status = store_add_issue(store, &pack->issues[i].issue, &inner);
        if (status == DTKB_E_FORMAT)
            err_set(err, status, "%s:%d: %s", pack->file, pack->issues[i].line, inner.text);
        else if (status != DTKB_OK)
            err_set(err, status, "%s", inner.text);
    }
    return status;
}

dtkb_status store_set_scan_set(struct store *store, const void *bytes, size_t length, struct err *err)
{
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(store->db, "INSERT INTO scan_set VALUES (?1)", -1, &insert, NULL) != SQLITE_OK)
        return failed(store, err);
    sqlite3_bind_blob64(insert, 1, bytes, length, SQLITE_STATIC);
    dtkb_status status = step(store, insert, err);
    sqlite3_finalize(insert);
    return status;
}

static dtkb_status write_meta(struct store *store, struct err *err)
{
    char sql[400];
    sqlite3_snprintf(sizeof sql, sql,
                     "INSERT INTO meta VALUES ('issues', %lld), ('faults', %lld), ('how_to', %lld), ('causes', %lld), ('signatures', %lld),"
                     " ('threads', (SELECT count(DISTINCT url) FROM issue WHERE kind <> 'report')), ('reports', %lld),"
                     " ('words', (SELECT count(*) FROM word))",
                     store->faults + store->how_to, store->faults, store->how_to, store->causes, store->signatures, store->reports);
    return execute(store, sql, err);
}

/* A plain ORDER BY rank weighs the columns as our own ranking does. */
static dtkb_status set_rank(struct store *store, struct err *err)
{
    char sql[200];
    const unsigned *w = column_weights;
    sqlite3_snprintf(sizeof sql, sql, "INSERT INTO search (search, rank) VALUES ('rank', 'bm25(%u, %u, %u, %u, %u, %u, %u)')", w[0], w[1],
                     w[2], w[3], w[4], w[5], w[6]);
    return execute(store, sql, err);
}

dtkb_status store_finish(struct store *store, struct err *err)
{
    dtkb_status status = indexer_write(store->indexer, store->db, err);
    if (status == DTKB_OK)
        status = learner_write(store->learner, err);
    if (status == DTKB_OK)
        status = write_meta(store, err);
    if (status == DTKB_OK)
        status = set_rank(store, err);
    if (status == DTKB_OK)
        status = execute(store, "INSERT INTO search (search) VALUES ('optimize')", err);
    if (status == DTKB_OK)
        status = execute(store, "COMMIT", err);
    return status;
}

#include "kb/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "kb/tokenizer.h"

#define HEADER_SIZE 100
static const char magic[16] = "SQLite format 3";

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Reads the head of a file; its size goes to `size`. Returns the bytes read, -1 with errno set on failure. */
static ssize_t read_header(const char *file, unsigned char header[HEADER_SIZE], off_t *size)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -1;
    struct stat info;
    ssize_t got = -1;
    if (fstat(fd, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            errno = EISDIR;
        else if (!S_ISREG(info.st_mode))
            got = 0;
        else
            got = pread(fd, header, HEADER_SIZE, 0);
        *size = info.st_size;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return got;
}

bool layer_is_database(const char *file)
{
    unsigned char header[HEADER_SIZE];
    off_t size = 0;
    return read_header(file, header, &size) >= (ssize_t)sizeof magic && memcmp(header, magic, sizeof magic) == 0;
}

/* Tells a missing file, no KB, a newer KB and a cut one apart before SQLite sees any of it. */
static dtkb_status check_header(const char *file, struct err *err)
{
    unsigned char header[HEADER_SIZE];
    off_t size = 0;
    ssize_t got = read_header(file, header, &size);
    if (got < 0)
        return err_set(err, DTKB_E_KB, "%s: no knowledge base can be read there (%s); name one with --kb or DTKB_KB", file,
                       strerror(errno));
    if (got < HEADER_SIZE || memcmp(header, magic, sizeof magic) != 0 || big_endian(header + 68) != STORE_APPLICATION_ID)
        return err_set(err, DTKB_E_KB, "%s: not a dtkb knowledge base; build one with: dtkb kb build FOLDER FILE", file);
    uint32_t schema = big_endian(header + 60);
    if (schema > STORE_SCHEMA)
        return err_set(err, DTKB_E_KB_NEWER, "%s: the knowledge base has schema %u, this dtkb knows up to %d; install a newer dtkb", file,
                       (unsigned)schema, STORE_SCHEMA);
    if (schema >= 1 && schema < STORE_SCHEMA)
        return err_set(err, DTKB_E_KB,
                       "%s: the knowledge base has schema %u of an older dtkb; make it anew with dtkb kb build or kb import", file,
                       (unsigned)schema);
    uint32_t page = (uint32_t)header[16] << 8 | header[17];
    if (page == 1)
        page = 65536;
    if (schema < 1 || page < 512 || (uint64_t)size != (uint64_t)page * big_endian(header + 28))
        return err_set(err, DTKB_E_KB, "%s: the knowledge base is damaged (cut short or overwritten); build or install it again", file);
    return DTKB_OK;
}

dtkb_status layer_damaged(const struct layer *layer, const char *what, struct err *err)
{
    return err_set(err, DTKB_E_KB, "%s: the knowledge base is damaged (%s); build or install it again", layer->name, what);
}

/* file: URI of a path, so that SQLite takes no lock, looks for no journal, and takes no odd name for an option. */
static char *uri_of(const char *file)
{
    struct buf uri = {0};
    char *absolute = realpath(file, NULL);
    if (!absolute)
        return NULL;
    buf_adds(&uri, "file://");
    for (const char *p = absolute; *p; p++) {
        if (strchr("%?#", *p) || (unsigned char)*p <= 0x20)
            buf_addf(&uri, "%%%02x", (unsigned char)*p);
        else
            buf_addc(&uri, *p);
    }
    buf_adds(&uri, "?immutable=1&mode=ro");
    free(absolute);
    if (uri.failed)
        buf_free(&uri);
    return uri.data;
}

/* What a hostile database could make SQLite do is switched off or bounded. */
static bool harden(sqlite3 *db)
{
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 30);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    int on = 0;
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, &on);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &on);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, &on);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, &on);
    return sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY", NULL,
                        NULL, NULL) == SQLITE_OK;
}

static dtkb_status verify_schema(const struct layer *layer, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    dtkb_status status = layer_prepare(layer, "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')", &statement, err);
    if (status == DTKB_OK && layer_step(layer, statement, &status, err) && sqlite3_column_int(statement, 0) != 0)
        status = layer_damaged(layer, "views or triggers in it", err);
    sqlite3_finalize(statement);
    return status;
}

dtkb_status layer_open_file(const char *file, struct layer *out, struct err *err)
{
    struct layer layer = {0};
    dtkb_status status = check_header(file, err);
    if (status != DTKB_OK)
        return status;
    char *uri = uri_of(file);
    layer.name = strdup(file);
    if (!uri || !layer.name)
        status = err_nomem(err);
    if (status == DTKB_OK &&
        sqlite3_open_v2(uri, &layer.db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL) !=
            SQLITE_OK)
        status = err_set(err, DTKB_E_KB, "%s: %s", file, layer.db ? sqlite3_errmsg(layer.db) : "out of memory");
    if (status == DTKB_OK && !harden(layer.db))
        status = layer_damaged(&layer, sqlite3_errmsg(layer.db), err);
    if (status == DTKB_OK)
        status = verify_schema(&layer, err);
    free(uri);
    if (status == DTKB_OK)
        *out = layer;
    else
        layer_close(&layer);
    return status;
}

dtkb_status layer_open_pack(const char *file, label_title_fn title, void *context, struct layer *out, struct err *err)
{
    struct layer layer = {.trusted = true};
    struct pack pack = {0};
    struct store *store = NULL;
    dtkb_status status = pack_read(file, &pack, err);
    if (status != DTKB_OK)
        return status;
    layer.name = strdup(file);
    if (!layer.name ||
        sqlite3_open_v2(":memory:", &layer.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        status = err_nomem(err);
    if (status == DTKB_OK)
        status = store_begin(layer.db, title, context, &store, err);
    if (status == DTKB_OK)
        status = store_add_pack(store, &pack, err);
    if (status == DTKB_OK)
        status = store_finish(store, err);
    store_free(store);
    pack_free(&pack);
    if (status == DTKB_OK)
        *out = layer;
    else
        layer_close(&layer);
    return status;
}

void layer_close(struct layer *layer)
{
    sqlite3_finalize(layer->find_term);
    sqlite3_finalize(layer->find_issue);
    sqlite3_finalize(layer->find_url);
    sqlite3_close(layer->db);
    free(layer->lengths);
    free(layer->name);
    *layer = (struct layer){0};
}

dtkb_status layer_prepare(const struct layer *layer, const char *sql, sqlite3_stmt **out, struct err *err)
{
    if (sqlite3_prepare_v2(layer->db, sql, -1, out, NULL) == SQLITE_OK)
        return DTKB_OK;
    return sqlite3_errcode(layer->db) == SQLITE_NOMEM ? err_nomem(err) : layer_damaged(layer, sqlite3_errmsg(layer->db), err);
}

bool layer_step(const struct layer *layer, sqlite3_stmt *statement, dtkb_status *status, struct err *err)
{
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_NOMEM)
        *status = err_nomem(err);
    else if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        *status = layer_damaged(layer, sqlite3_errmsg(layer->db), err);
    return rc == SQLITE_ROW;
}

bool layer_text(struct arena *arena, sqlite3_stmt *statement, int column, const char **out)
{
    *out = NULL;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return true;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    *out = text ? arena_strdup(arena, text) : NULL;
    return *out != NULL;
}

dtkb_status layer_need_index(struct layer *layer, struct err *err)
{
    if (layer->index_ready)
        return DTKB_OK;
    sqlite3_stmt *statement = NULL;
    dtkb_status status = DTKB_OK;
    if (!layer->trusted && tokenizer_register(layer->db) != SQLITE_OK)
        status = err_set(err, DTKB_E_UNSUPPORTED, "the SQLite library %s has no FTS5", sqlite3_libversion());
    if (status == DTKB_OK)
        status = layer_prepare(layer, "SELECT documents, total, lengths FROM length", &statement, err);
    if (status == DTKB_OK && layer_step(layer, statement, &status, err)) {
        sqlite3_int64 documents = sqlite3_column_int64(statement, 0), total = sqlite3_column_int64(statement, 1);
        const void *lengths = sqlite3_column_blob(statement, 2);
        size_t size = (size_t)sqlite3_column_bytes(statement, 2);
        if (documents < 0 || documents > UINT32_MAX / 4 || size != 2 * (size_t)documents || total < 0) {
            status = layer_damaged(layer, "lengths of issues", err);
        } else if (!(layer->lengths = malloc(size + 1))) {
            status = err_nomem(err);
        } else {
            if (size)
                memcpy(layer->lengths, lengths, size);
            layer->documents = (uint32_t)documents;
            layer->average_length = documents && total ? (double)total / (double)documents : 1;
            layer->index_ready = true;
        }
    } else if (status == DTKB_OK) {
        status = layer_damaged(layer, "no search index", err);
    }
    sqlite3_finalize(statement);
    return status;
}

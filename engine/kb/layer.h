/* One knowledge database: the bundled file, a database of the user's own, or an XML pack compiled in memory. Files are not trusted:
 * whatever is in them, reading yields data or an error. */
#ifndef DTKB_KB_LAYER_H
#define DTKB_KB_LAYER_H

#include <sqlite3.h>

#include "base/err.h"
#include "kb/store.h"

struct layer {
    sqlite3 *db;
    char *name;   /* file, for errors */
    bool trusted; /* made by us in memory */
    /* of the search index, read when first needed */
    bool index_ready;
    uint32_t documents;
    double average_length;
    unsigned char *lengths; /* two bytes a document, low one first */
    sqlite3_stmt *find_term, *find_issue, *find_url;
};

/* Does the file begin like an SQLite database? (Then it is opened as one, otherwise read as XML.) */
bool layer_is_database(const char *file);
dtkb_status layer_open_file(const char *file, struct layer *out, struct err *err);
dtkb_status layer_open_pack(const char *file, label_title_fn title, void *context, struct layer *out, struct err *err);
void layer_close(struct layer *layer);

/* Prepares a statement; an SQL error means a damaged database. */
dtkb_status layer_prepare(const struct layer *layer, const char *sql, sqlite3_stmt **out, struct err *err);
/* One step: true when there is a row. `status` is DTKB_OK at the end, an error when the database is damaged. */
bool layer_step(const struct layer *layer, sqlite3_stmt *statement, dtkb_status *status, struct err *err);
dtkb_status layer_damaged(const struct layer *layer, const char *what, struct err *err);

/* Text of a column in the arena, NULL for NULL; false when out of memory. */
bool layer_text(struct arena *arena, sqlite3_stmt *statement, int column, const char **out);

/* Reads the lengths of all documents, once. */
dtkb_status layer_need_index(struct layer *layer, struct err *err);
static inline uint32_t layer_length(const struct layer *layer, uint32_t doc)
{
    const unsigned char *at = layer->lengths + 2 * (size_t)(doc - 1);
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

#endif

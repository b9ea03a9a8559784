/* The tables of a knowledge base, and writing into them. A layer made of an XML pack is such a database too, in memory. */
#ifndef DTKB_KB_STORE_H
#define DTKB_KB_STORE_H

#include <sqlite3.h>

#include "kb/pack.h"
#include "kb/taxonomy.h"

#define STORE_APPLICATION_ID 0x44544b42 /* "DTKB" */
#define STORE_SCHEMA 3                  /* user_version; a library refuses newer ones */

struct store;

/* Title of a label for the search index; may return NULL. */
typedef const char *(*label_title_fn)(void *context, const char *id);

/* Opens an empty file for writing, for store_begin(): no journal, no locks that outlive it. */
dtkb_status store_create_file(const char *file, sqlite3 **out, struct err *err);

/* Creates the tables in an empty database and begins the writing. */
dtkb_status store_begin(sqlite3 *db, label_title_fn title, void *context, struct store **out, struct err *err);
dtkb_status store_add_taxonomy(struct store *store, const struct taxonomy *taxonomy, struct err *err);
dtkb_status store_add_pack(struct store *store, const struct pack *pack, struct err *err);
/* One issue alone, for writers that make issues as they go. */
dtkb_status store_add_issue(struct store *store, const struct issue *issue, struct err *err);
/* The compiled set of all signatures, as bytes. */
dtkb_status store_set_scan_set(struct store *store, const void *bytes, size_t length, struct err *err);
/* Writes what was gathered (priors, search index) and ends. */
dtkb_status store_finish(struct store *store, struct err *err);
void store_free(struct store *store);

#endif

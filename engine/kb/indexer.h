/* Gathers the ranking index while issues are written: for each word the issues that have it. Documents come in ascending order. */
#ifndef DTKB_KB_INDEXER_H
#define DTKB_KB_INDEXER_H

#include <stdbool.h>

#include <sqlite3.h>

#include "base/err.h"

/* Searchable columns of an issue, in the order of the FTS5 table, and what one occurrence weighs there. */
enum column { COLUMN_TITLE, COLUMN_SUMMARY, COLUMN_ERROR, COLUMN_CAUSE, COLUMN_FIX, COLUMN_COMPONENT, COLUMN_LABEL, COLUMN_COUNT };
extern const char *const column_names[COLUMN_COUNT];
extern const unsigned column_weights[COLUMN_COUNT];

/* BM25 as FTS5 has it. */
#define BM25_K1 1.2
#define BM25_B 0.75

/* What a word of weight `weight` adds to an issue of `length` words, but for how rare the word is. */
double bm25_part(unsigned weight, double length, double average_length);

struct indexer;

struct indexer *indexer_new(void);
void indexer_free(struct indexer *indexer);

/* Adds the next document; NULL texts are empty. False when out of memory. */
bool indexer_add(struct indexer *indexer, const char *const texts[COLUMN_COUNT]);
/* Marks the document just added, so that a filter finds it: "framework=horovod". */
bool indexer_mark(struct indexer *indexer, const char *name, const char *value);

/* Writes all words into the tables `term` and `length` of the database. */
dtkb_status indexer_write(struct indexer *indexer, sqlite3 *db, struct err *err);

/* Key of a mark in the table `term`; no word begins so. */
#define MARK_PREFIX "\x01"

#endif

#include "kb/store_schema.h"

/* Numbers count from 1 in the order of writing, causes and signatures from 0. Lists are JSON arrays of strings. */
const char store_schema[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE label (n INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, parent TEXT, title TEXT NOT NULL, definition TEXT);"
    "CREATE TABLE fact (name TEXT PRIMARY KEY, type TEXT NOT NULL, unit TEXT NOT NULL, probe TEXT, meaning TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE cause (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, symptom TEXT NOT NULL, fix TEXT NOT NULL,"
    " generic INTEGER NOT NULL, pack TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL);"
    "CREATE TABLE signature (n INTEGER PRIMARY KEY, cause INTEGER NOT NULL, id TEXT NOT NULL, strength INTEGER NOT NULL,"
    " effect INTEGER NOT NULL, role INTEGER NOT NULL, regex INTEGER NOT NULL, ignore_case INTEGER NOT NULL, pattern TEXT NOT NULL);"
    "CREATE TABLE issue (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, source TEXT NOT NULL, framework TEXT NOT NULL,"
    " kind TEXT NOT NULL, evidence TEXT NOT NULL, is_distributed INTEGER, symptom TEXT, topic TEXT, raw_label TEXT, raw_fix TEXT,"
    " title TEXT, summary TEXT, cause TEXT, fix TEXT, fixes TEXT NOT NULL, error_lines TEXT NOT NULL, components TEXT NOT NULL,"
    " versions TEXT NOT NULL, log TEXT, year INTEGER);"
    "CREATE INDEX issue_url ON issue (url);"
    "CREATE TABLE prior (symptom TEXT PRIMARY KEY, issues INTEGER NOT NULL) WITHOUT ROWID;"
    /* The classifier's counts (classify.h), in thousandths: of a word a list (postings.h) of what it weighs under each label. */
    "CREATE TABLE learned (n INTEGER PRIMARY KEY, task INTEGER NOT NULL, label TEXT NOT NULL, weight INTEGER NOT NULL, UNIQUE (task, "
    "label));"
    "CREATE TABLE word (word TEXT PRIMARY KEY, labels BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE scan_set (bytes BLOB NOT NULL);"
    /* The ranking index (postings.h): words and marks. */
    "CREATE TABLE term (word BLOB PRIMARY KEY, issues INTEGER NOT NULL, bound REAL NOT NULL, list BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE length (documents INTEGER NOT NULL, total INTEGER NOT NULL, lengths BLOB NOT NULL);"
    /* Phrases and single columns. The texts themselves lie in `issue`. */
    "CREATE VIRTUAL TABLE search USING fts5 (title, summary, error, cause, fix, component, label, content='', tokenize='dtkb');";

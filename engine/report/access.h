/* Reading a document's tree: a missing member reads as "", 0 or nothing, so that a document from elsewhere can't crash a renderer. */
#ifndef DTKB_REPORT_ACCESS_H
#define DTKB_REPORT_ACCESS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

const char *get_string(const json_t *object, const char *key);
double get_number(const json_t *object, const char *key);
long long get_integer(const json_t *object, const char *key);
/* "FILE:LINE"; the file alone where it has no lines, being one document. */
void add_place(struct buf *out, const json_t *evidence);
const json_t *get_list(const json_t *object, const char *key); /* an empty array when missing */
bool get_flag(const json_t *object, const char *key);

/* The best cause, NULL when there is none. */
const json_t *best_cause(const json_t *report);

/* Any scalar as text; "" for containers. */
void add_scalar(struct buf *out, const json_t *value);

/* "almost certainly", "very likely", "probably", "possibly". */
const char *sureness(double confidence);

/* The headline: "Very likely: title (81 %)", or what there is to say without a cause. */
void add_headline(struct buf *out, const json_t *report);

/* Where the trouble shows in the user's own code, or else in a log: false when nowhere. */
bool best_location(const json_t *report, const char **file, long long *line);

#endif

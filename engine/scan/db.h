/* Inside of a compiled set: for the modules of scan/ only. */
#ifndef DTKB_SCAN_DB_H
#define DTKB_SCAN_DB_H

#include <hs/hs.h>

#include "base/arena.h"
#include "scan/filter.h"
#include "scan/guard.h"
#include "scan/scan.h"

struct matcher; /* an expression ready to run */

struct db_literal {
    const char *text;
    uint32_t length;
    uint32_t owner; /* index of the signature; of the anchor if `anchor` */
    uint8_t window; /* where its rarest bytes begin */
    bool anchor, ignore_case;
};

struct scan_db {
    const struct signature *signatures; /* borrowed */
    size_t signature_count;
    struct db_literal *literals; /* the index is the matcher's id; anchors first */
    size_t literal_count, literal_capacity;
    hs_database_t *hs;
    struct filter *filter;
    struct matcher *_Atomic *matchers; /* per signature, compiled at first use */
    bool *anchored;                    /* per signature: what it matches depends on where the line begins */
    const uint32_t *guards;            /* per signature: where its guard begins in `guard_words`; GUARD_NONE */
    const uint16_t *guard_words;
    size_t guard_count; /* of words */
    struct arena arena;
};
#define GUARD_NONE UINT32_MAX

/* What one thread needs to try expressions. */
struct matching;
struct matching *matching_new(void);
void matching_free(struct matching *matching);

struct capture {
    const char *name;
    const char *value; /* within the line */
    size_t length;
};
#define CAPTURES_MAX 16

/* Does the signature match this line? Captures are filled in (at most CAPTURES_MAX) if `captures` is not NULL; the names live as long as
 * the set. An expression that runs into its limits does not match. */
bool db_matches(const struct scan_db *db, uint32_t signature, struct matching *matching, const char *line, size_t length,
                struct capture *captures, size_t *capture_count);

/* May it match the cleaned line though it does not match the line as it is in the input? */
bool db_is_anchored(const struct scan_db *db, uint32_t signature);

/* May the signature match a line with these pairs? */
bool db_admits(const struct scan_db *db, uint32_t signature, const struct pairs *pairs);

/* Anchors come first; `text` is borrowed. */
dtkb_status db_add_anchors(struct scan_db *db);
dtkb_status db_add_literal(struct scan_db *db, const char *text, uint32_t signature, size_t window, bool ignore_case);
/* Filter and matcher slots, once literals are known. */
dtkb_status db_prepare(struct scan_db *db, struct err *err);

/* expression.c */
void matcher_free(struct matcher *matcher);
void matchers_free(struct matcher *_Atomic *matchers, size_t count);
dtkb_status expression_check(const struct signature *signature, struct err *err);

#endif

/* The knowledge base: kb.db and the packs laid over it. One handle, one thread at a time. */
#ifndef DTKB_KB_KB_H
#define DTKB_KB_KB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fact.h"
#include "scan/signature.h"

struct kb;
struct scan_db;

/* Opens FILE and lays packs over it, later ones last. A cause or issue of a pack replaces one of the same id. Only what every run needs is
 * read: signatures at the first kb_signatures(), causes at kb_cause(). Errors name file, line and mistake; a file that is no KB and a KB of
 * a newer schema are told apart. */
dtkb_status kb_open(const char *file, const char *const *packs, size_t pack_count, struct kb **out, struct err *err);
void kb_close(struct kb *kb);
/* Lets kb_scan_db() use the compiled set that lies in FILE. The matcher runs such bytes unchecked, so only the knowledge base installed
 * beside the library earns it; for any other the set is compiled anew (a third of a second). To be called before kb_scan_db(). */
void kb_trust_compiled(struct kb *kb);

/* ---- causes ---- */
enum condition_kind { COND_ALL, COND_ANY, COND_NOT, COND_FACT };
enum condition_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_EXISTS, OP_ABSENT, OP_CONTAINS, OP_OLDER, OP_NEWER };
struct condition {
    enum condition_kind kind;
    struct condition *children; /* of all, any, not */
    size_t child_count;
    const char *fact; /* name or pattern */
    enum condition_op op;
    const char *value; /* as written; NULL for exists, absent */
};
struct remedy {
    const char *text, *command, *check; /* command and check may be NULL */
};
struct trial {
    const char *probe, *change, *rules_out; /* rules_out may be NULL */
};
struct version_range {
    const char *component, *from, *below; /* from <= v < below; NULL: open */
};
struct link {
    const char *url, *title, *issue; /* issue: id of a study issue, or NULL */
};
struct cause {
    uint32_t index;
    const char *id, *symptom, *fix, *title, *explanation, *pack;
    bool generic;
    const char **also_symptoms, **also_fixes; /* best first */
    size_t also_symptom_count, also_fix_count;
    struct condition *confirm, *refute; /* an implicit all; NULL when there is none */
    struct remedy *remedies;
    size_t remedy_count;
    struct trial *trials;
    size_t trial_count;
    struct version_range *applies;
    size_t applies_count;
    struct link *links;
    size_t link_count;
};

size_t kb_cause_count(struct kb *kb);
/* The cause by index or id; owned by the KB until it is closed. */
dtkb_status kb_cause(struct kb *kb, uint32_t index, const struct cause **out, struct err *err);
dtkb_status kb_cause_by_id(struct kb *kb, const char *id, const struct cause **out, struct err *err);
/* The header of a cause (id, symptom, fix, generic; nothing else) without reading the body: for scoring many candidates. */
dtkb_status kb_cause_brief(struct kb *kb, uint32_t index, const struct cause **out, struct err *err);

/* All signatures, causes' indices filled in; and the compiled set of them. Owned by the KB. */
dtkb_status kb_signatures(struct kb *kb, const struct signature **out, size_t *count, struct err *err);
dtkb_status kb_scan_db(struct kb *kb, const struct scan_db **out, struct err *err);

/* Share of a symptom among the study's faults (Laplace-smoothed). */
double kb_symptom_prior(struct kb *kb, const char *symptom);
/* Title of a symptom or fix pattern by the taxonomy, NULL if unknown. */
const char *kb_label_title(struct kb *kb, const char *id);

/* The type and unit of a fact by the vocabulary (facts.xml and packs); false when unknown. */
bool kb_fact_definition(struct kb *kb, const char *name, enum fact_type *type, const char **unit);

/* Name of the probe that tells a fact (the `probe` attribute of the vocabulary; patterns with * are allowed), NULL if unknown. */
const char *kb_fact_probe(struct kb *kb, const char *name);

/* ---- words ---- */
/* What kind of trouble a text tells of, by its words alone; kb/classify.h gives the formula. */
enum label_task { TASK_SYMPTOM, TASK_FIX };
#define KB_GUESSES_MAX 128

struct guess {
    const char *label; /* owned by the KB */
    double share;      /* 0..1; all shares sum to 1 */
};
struct guesses {
    struct guess list[KB_GUESSES_MAX]; /* best first */
    size_t count;                      /* 0 where no word of the text is known */
};
dtkb_status kb_classify(struct kb *kb, const char *text, enum label_task task, struct guesses *out, struct err *err);

/* The share of a label, 0 where the guesses lack it. */
double guesses_share(const struct guesses *guesses, const char *label);

/* ---- issues ---- */
struct issue {
    const char *id, *url, *source, *framework, *kind, *evidence, *symptom, *topic, *raw_label, *raw_fix;
    const char *title, *summary, *cause, *fix; /* NULL where nobody has read it */
    const char *log;                           /* of a report: what the terminal showed; NULL otherwise */
    int year;                                  /* of a report; 0 when not told */
    int distributed;                           /* 1, 0, or -1 when not told */
    const char **fixes;                        /* fix pattern ids */
    size_t fix_count;
    const char **also_symptoms; /* further right answers, as a pack tells them; a knowledge base learns from them and keeps none */
    size_t also_symptom_count;
    const char **error_lines;
    size_t error_line_count;
    const char **components;
    size_t component_count;
    struct {
        const char *component, *version;
    } * versions;
    size_t version_count;
};
dtkb_status kb_issue_by_id(struct kb *kb, const char *id, struct arena *arena, struct issue *out, struct err *err);

/* A search: free text (any bytes are allowed; the query language is in kb/search.h) and filters. */
struct kb_query {
    const char *text;
    const char *framework, *stage, *symptom, *fix, *kind, *source; /* NULL: any; an unknown value is DTKB_E_NOT_FOUND */
    size_t limit;                                                  /* 0: 10 */
    bool failures;                                                 /* faults of the study and reports alike, no questions */
    bool any_word; /* true: rank by the words that fit (log text); false: all words wanted, any if that finds nothing */
};
struct kb_hit {
    const char *issue; /* id */
    double score;      /* higher is better; comparable within one search */
    double likeness;   /* 0..1, comparable between searches: the score against that of an issue that has every word among its error lines */
    const char *snippet;
};
struct kb_hits {
    struct kb_hit *hits;
    size_t count;
    struct arena arena;
};
dtkb_status kb_search(struct kb *kb, const struct kb_query *query, struct kb_hits *out, struct err *err);
void kb_hits_free(struct kb_hits *hits);

#endif

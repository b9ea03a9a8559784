/* The taxonomy of kb/taxonomy.xml: labels with titles and definitions, and the study's spellings of them. */
#ifndef DTKB_KB_TAXONOMY_H
#define DTKB_KB_TAXONOMY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum label_kind { LABEL_STAGE, LABEL_SYMPTOM, LABEL_FIX, LABEL_TOPIC, LABEL_SUBTOPIC };

struct spelling {
    const char *text, *inner; /* inner category for leaves whose label alone would be ambiguous, else NULL */
};
struct label {
    enum label_kind kind;
    const char *id, *parent, *title, *definition; /* parent: stage of a symptom, topic of a subtopic, else NULL */
    struct spelling *spellings;
    size_t spelling_count;
    int line;
};
struct taxonomy {
    struct label *labels; /* in the file's order, each parent before its children */
    size_t count;
    struct arena arena;
};

/* `file` NULL: kb/taxonomy.xml as it was when the library was built. */
dtkb_status taxonomy_read(const char *file, struct taxonomy *out, struct err *err);
void taxonomy_free(struct taxonomy *taxonomy);

const char *label_kind_name(enum label_kind kind);
const struct label *taxonomy_find(const struct taxonomy *taxonomy, enum label_kind kind, const char *id);

/* The label of a raw spelling below `parent` (NULL: any), compared in lower case with single blanks. `inner` may be NULL. */
const struct label *taxonomy_by_spelling(const struct taxonomy *taxonomy, enum label_kind kind, const char *parent, const char *inner,
                                         const char *raw);
/* Fix patterns of a raw label: whole, else its parts at " & " and " / ". Returns how many, at most `max`; 0 when a part is unknown. */
size_t taxonomy_fixes(const struct taxonomy *taxonomy, const char *raw, const struct label **out, size_t max);

#endif

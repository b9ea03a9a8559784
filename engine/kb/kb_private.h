/* Inside of struct kb, for the files of this folder. */
#ifndef DTKB_KB_PRIVATE_H
#define DTKB_KB_PRIVATE_H

#include "kb/layer.h"

struct cause_entry {
    struct layer *layer;
    int64_t row;
    struct cause brief;  /* id, symptom, fix, generic, index */
    struct cause *whole; /* once it was asked for */
};

struct kb_label {
    const char *kind, *id, *parent, *title, *definition; /* parent and definition may be NULL */
};

struct prior {
    const char *symptom;
    uint32_t issues;
};

struct kb {
    struct layer *layers; /* bottom first */
    size_t layer_count;
    struct arena arena; /* all that lives as long as the KB */

    /* read when first asked for */
    struct cause_entry *causes;
    size_t cause_count;
    bool causes_ready;

    struct signature *signatures;
    size_t signature_count;
    bool signatures_ready;
    struct scan_db *scan_db;
    bool trusted; /* see kb_trust_compiled() */

    struct kb_label *labels;
    size_t label_count;
    bool labels_ready;

    struct prior *priors;
    size_t prior_count;
    bool priors_ready;

    struct fact_definition *facts;
    size_t fact_count;
    bool facts_ready;
};

dtkb_status kb_need_causes(struct kb *kb, struct err *err);
dtkb_status kb_need_labels(struct kb *kb, struct err *err);
const struct kb_label *kb_find_label(struct kb *kb, const char *kind, const char *id);
dtkb_status kb_need_priors(struct kb *kb, struct err *err);
/* Does a layer above `layer` have an issue of that id? */
bool kb_issue_overridden(struct kb *kb, const struct layer *layer, const char *id);
/* Frees what the scan module owns. */
void kb_scan_close(struct kb *kb);

#endif

/* A knowledge pack read into memory: what kb/README.md describes, with the line of each piece for error messages. */
#ifndef DTKB_KB_PACK_H
#define DTKB_KB_PACK_H

#include "kb/kb.h"
#include "kb/xml.h"

struct pack_signature {
    struct signature signature; /* .cause is not filled in here */
    const char **samples, **near_misses;
    size_t sample_count, near_miss_count;
    int line;
};
struct pack_cause {
    struct cause cause;
    struct pack_signature *signatures;
    size_t signature_count;
    int line;
};
struct pack_issue {
    struct issue issue;
    int line;
};
struct fact_definition {
    const char *name, *unit, *probe, *meaning; /* unit "" for none; probe NULL when not told */
    enum fact_type type;
    int line;
};
struct pack {
    const char *file, *id, *version, *title;
    struct pack_cause *causes;
    size_t cause_count;
    struct pack_issue *issues;
    size_t issue_count;
    struct fact_definition *facts;
    size_t fact_count;
    struct arena arena;
};

/* Reads a pack; its ids are as written, whether they are known is not checked. */
dtkb_status pack_read(const char *file, struct pack *out, struct err *err);
dtkb_status pack_read_memory(const char *name, const void *bytes, size_t length, struct pack *out, struct err *err);
void pack_free(struct pack *pack);

/* kb/facts.xml: the bundled vocabulary, as a pack of nothing else. `file` NULL: as it was when the library was built. */
dtkb_status facts_read(const char *file, struct pack *out, struct err *err);

/* The parts of a pack that have a file of their own. False when out of memory. */
bool pack_read_cause(struct arena *arena, const xmlNode *node, struct pack_cause *out);
bool pack_read_issue(struct arena *arena, const xmlNode *node, struct pack_issue *out);

#endif

/* Inside of kb_check(): what the parts of a check share. */
#ifndef DTKB_KB_CHECK_H
#define DTKB_KB_CHECK_H

#include <jansson.h>

#include "kb/pack.h"
#include "kb/taxonomy.h"

struct check {
    json_t *list;  /* of complaints, an array */
    size_t errors; /* how many of them are errors */
    struct taxonomy taxonomy;
    struct pack vocabulary;
    struct pack *packs;
    size_t pack_count;
    bool has_study; /* issues of the study are among the packs, so that references to them can be checked */
};
enum severity { CHECK_WARNING, CHECK_ERROR };

/* Where a complaint belongs; cause and signature may be NULL. */
struct place {
    const char *file;
    int line;
    const char *cause, *signature;
};
__attribute__((format(printf, 4, 5))) void check_complain(struct check *check, enum severity severity, struct place place,
                                                          const char *format, ...);

/* Ids, labels, facts, conditions, references. */
void check_structure(struct check *check);
/* Expressions, samples, near misses; firing on other causes' samples and on healthy logs. */
dtkb_status check_signatures(struct check *check, const char *const *healthy, size_t healthy_count, struct err *err);

#endif

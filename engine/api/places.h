/* Where things lie: the knowledge base, packs. */
#ifndef DTKB_API_PLACES_H
#define DTKB_API_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include <dtkb/dtkb.h>

struct places {
    char *kb;       /* the option, DTKB_KB, or the installed file; in a build tree the one just built */
    bool installed; /* it is the installed one, which nobody but the installer wrote */
    char **packs;   /* default packs in order (system, user, DTKB_PACK_PATH), then the options' */
    size_t pack_count;
};

dtkb_status places_find(const dtkb_open_options *options, struct places *out);
void places_free(struct places *places);

#endif

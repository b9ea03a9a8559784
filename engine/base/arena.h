/* Memory that lives together and dies together: strings and arrays of one document, one set of findings, one cause. */
#ifndef DTKB_BASE_ARENA_H
#define DTKB_BASE_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *blocks;
    size_t used; /* bytes handed out, for caps */
};

void *arena_alloc(struct arena *arena, size_t size); /* zeroed, aligned for any type; NULL when out of memory */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
void arena_free(struct arena *arena);

#endif

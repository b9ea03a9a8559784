/* A cause as JSON: how the knowledge base stores the body of a card, and what `dtkb explain` shows. */
#ifndef DTKB_KB_CARD_H
#define DTKB_KB_CARD_H

#include <jansson.h>

#include "kb/kb.h"

/* All but index and pack. NULL when out of memory. */
json_t *card_to_json(const struct cause *cause);
/* Into `out`, copying into the arena. False when the tree is no card (a damaged knowledge base) or memory is short. */
bool card_from_json(struct arena *arena, const json_t *tree, struct cause *out);

/* Lists of strings, both ways. */
json_t *strings_to_json(const char *const *list, size_t count);
bool strings_from_json(struct arena *arena, const json_t *tree, const char ***list, size_t *count);

#endif

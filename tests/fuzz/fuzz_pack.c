/* Knowledge packs: reading, and each card to JSON and back. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "kb/card.h"
#include "kb/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void round_trip(const struct cause *cause)
{
    struct arena arena = {0};
    struct cause again = {0};
    json_t *tree = card_to_json(cause);
    if (tree && (!card_from_json(&arena, tree, &again) || again.remedy_count != cause->remedy_count))
        abort(); /* a card that was read must be storable */
    json_decref(tree);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack pack;
    struct err err = {0};
    if (pack_read_memory("fuzz.xml", data, size, &pack, &err) != DTKB_OK)
        return 0;
    for (size_t i = 0; i < pack.cause_count; i++)
        round_trip(&pack.causes[i].cause);
    pack_free(&pack);
    return 0;
}

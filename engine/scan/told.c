/* What was put together of dumps, or of several lines, is in words of our own; signatures are tried on it as on any line, so that cards can speak of it. */
#include <string.h>

#include "scan/scan_private.h"

#define OWNERS_MAX 64

struct owners {
    const struct scan_db *db;
    uint32_t list[OWNERS_MAX];
    size_t count;
};

static int on_literal(unsigned id, unsigned long long from, unsigned long long to, unsigned flags, void *context)
{
    (void)from;
    (void)to;
    (void)flags;
    struct owners *owners = context;
    const struct db_literal *literal = &owners->db->literals[id];
    if (literal->anchor)
        return 0;
    for (size_t i = 0; i < owners->count; i++)
        if (owners->list[i] == literal->owner)
            return 0;
    owners->list[owners->count++] = literal->owner;
    return owners->count == OWNERS_MAX;
}

static void try_all(const struct finder *finder, const struct evidence *told, struct collect *collect)
{
    size_t length = strlen(told->text);
    struct owners owners = {.db = finder->db};
    hs_error_t result = hs_scan(finder->db->hs, told->text, (unsigned)length, 0, finder->scratch, on_literal, &owners);
    if (result != HS_SUCCESS && result != HS_SCAN_TERMINATED)
        collect->failed = true;
    for (size_t i = 0; i < owners.count; i++) {
        struct capture captures[CAPTURES_MAX];
        size_t count = 0;
        if (db_matches(finder->db, owners.list[i], finder->matching, told->text, length, captures, &count))
            signature_found(collect, finder->db, owners.list[i], captures, count, told);
    }
}

void told_signatures(const struct finder *finder, struct collect *collect)
{
    size_t count = collect->count;
    for (size_t i = 0; i < count; i++) {
        struct evidence told = collect->items[i]; /* a copy: the list grows */
        if ((told.kind == EV_DUMP || told.kind == EV_OBSERVED) && told.text)
            try_all(finder, &told, collect);
    }
}

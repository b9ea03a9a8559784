/* Facts about a machine: what plugins emit and conditions test. One type from the probe to the report. */
#ifndef DTKB_BASE_FACT_H
#define DTKB_BASE_FACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum fact_type { FACT_BOOL = 1, FACT_I64, FACT_U64, FACT_F64, FACT_STRING }; /* as DTKB_FACT_* of plugin.h */

struct fact {
    const char *name;
    enum fact_type type;
    const char *unit;   /* "" for none */
    const char *origin; /* file or call it was read from, "" if not told */
    const char *plugin; /* who emitted it */
    double time;        /* seconds since the epoch; 0 in bundles that leave it out */
    bool wrong;         /* its probe's fault consists in it (DTKB_FACT_WRONG) */
    union {
        bool boolean;
        int64_t i64;
        uint64_t u64;
        double f64;
        const char *string;
    } value;
};

struct fact_set {
    struct fact *facts; /* sorted by name once fact_set_sort() was called; grown with realloc */
    size_t count, capacity;
    struct arena arena; /* owns the strings */
};

/* Copies the fact in. False when out of memory. */
bool fact_set_add(struct fact_set *set, const struct fact *fact);
void fact_set_sort(struct fact_set *set);
const struct fact *fact_set_find(const struct fact_set *set, const char *name);
void fact_set_free(struct fact_set *set);

/* Does `name` fit `pattern`, where a part "*" or "{anything}" of the pattern stands for one part? */
bool fact_name_matches(const char *pattern, const char *name);

/* "bool", "i64", "u64", "f64", "string"; "" for anything else. And back: 0 for an unknown name. */
const char *fact_type_name(enum fact_type type);
enum fact_type fact_type_by_name(const char *name);

/* The value as text ("67108864", "true", "eth0"); "unlimited" for UINT64_MAX. Returns `out`. */
const char *fact_value_text(const struct fact *fact, char *out, size_t size);

#endif

/* The env probe's parts: the job's environment held against itself, its launcher and this machine. */
#ifndef DTKB_PLUGINS_ENV_H
#define DTKB_PLUGINS_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/kit.h"

#define ENV_PROBLEMS_MAX 256u

struct env {
    struct kit kit;
    size_t problems;
    const char *codes[ENV_PROBLEMS_MAX]; /* of those told */
};

/* ---- problem.c ---- */
/* One setting that is wrong: env.problem.VARIABLE-kind. Said once for each variable and kind. */
__attribute__((format(printf, 4, 5))) void env_problem(struct env *env, const char *variable, const char *kind, const char *format, ...);
/* A whole decimal number; false for anything else. */
bool env_integer(const char *text, int64_t *out);
/* The same of a variable of the job; false when it is not set or no number. */
bool env_number(const struct env *env, const char *name, int64_t *out);

/* ---- variables.c: the settings that are known ---- */
enum env_kind {
    ENV_ANY,   /* free text */
    ENV_INT,   /* minimum..maximum */
    ENV_BOOL,  /* 0 or 1 */
    ENV_FLAG,  /* 0/1, true/false, y/n, on/off: what the program's parser takes */
    ENV_WORDS, /* one of `words`, separated by blanks; any case */
    ENV_LIST,  /* words joined by commas, each one of `words`, perhaps after '^' */
    ENV_BYTES  /* a size: digits, perhaps with K, M, G */
};
struct env_variable {
    const char *name;
    enum env_kind kind;
    int64_t minimum, maximum;
    const char *words;
};
/* Settings that programs no longer read, and what took their place ("" where nothing did). */
struct env_removed {
    const char *name, *now, *since;
};
extern const struct env_variable env_variables[];
extern const size_t env_variable_count;
extern const struct env_removed env_removed[];
extern const size_t env_removed_count;

/* Families whose names are all known: within them an unknown one is a mistake. Elsewhere only near misses are told. */
struct env_family {
    const char *prefix;
    bool closed;
};
extern const struct env_family env_families[];
extern const size_t env_family_count;

/* ---- names.c: unknown, misspelt, removed; values.c: out of range ---- */
void env_names_check(struct env *env);
void env_value_check(struct env *env, const struct env_variable *variable, const char *value);
/* Edits (insertion, deletion, replacement, swap of neighbours) from `a` to `b`, at most `limit` + 1. */
size_t env_distance(const char *a, const char *b, size_t limit);

/* ---- allowed.c: what may leave the machine ---- */
void env_values_emit(struct env *env);
bool env_may_leave(const char *name, size_t length);

/* ---- ranks.c, tf_config.c, conflicts.c, devices.c, libraries.c ---- */
void env_ranks_check(struct env *env);
void env_tf_config_check(struct env *env);
void env_conflicts_check(struct env *env);
void env_devices_check(struct env *env);
void env_libraries_check(struct env *env);

#endif

/* The kit of the bundled probes; README.md shows its use. */
#ifndef DTKB_PLUGINS_KIT_H
#define DTKB_PLUGINS_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dtkb/plugin.h>

struct kit {
    const dtkb_host_v1 *host;
    const dtkb_call_v1 *call;
    dtkb_result result; /* of the probe, as it stands */
    bool stopped;       /* an emit was refused: nothing more is emitted */
    bool wrong;         /* of the next fact: kit_wrong() */
};

struct kit kit_start(const dtkb_host_v1 *host, const dtkb_call_v1 *call);
dtkb_result kit_finish(const struct kit *kit);

/* Must the probe return? Ask between steps that take time. */
bool kit_stop(struct kit *kit);

/* ---- what became of it; the first fault's reason stays, and a fault beats skipped and unavailable ---- */
__attribute__((format(printf, 2, 3))) void kit_fault(struct kit *kit, const char *format, ...);
__attribute__((format(printf, 2, 3))) void kit_skip(struct kit *kit, const char *format, ...);
__attribute__((format(printf, 2, 3))) void kit_unavailable(struct kit *kit, const char *format, ...);
__attribute__((format(printf, 3, 4))) void kit_log(const struct kit *kit, uint32_t level, const char *format, ...);

/* ---- facts; `origin` may be NULL, the name is formatted. A string is cut to what a fact may hold. ---- */
__attribute__((format(printf, 4, 5))) void kit_bool(struct kit *kit, bool value, const char *origin, const char *name, ...);
__attribute__((format(printf, 5, 6))) void kit_u64(struct kit *kit, uint64_t value, const char *unit, const char *origin, const char *name,
                                                   ...);
__attribute__((format(printf, 5, 6))) void kit_i64(struct kit *kit, int64_t value, const char *unit, const char *origin, const char *name,
                                                   ...);
__attribute__((format(printf, 5, 6))) void kit_f64(struct kit *kit, double value, const char *unit, const char *origin, const char *name,
                                                   ...);
__attribute__((format(printf, 4, 5))) void kit_string(struct kit *kit, const char *value, const char *origin, const char *name, ...);

/* The fault consists in the next fact, if `wrong` (DTKB_FACT_WRONG): without a log only such facts accuse. */
void kit_wrong(struct kit *kit, bool wrong);

/* A device's, interface's or variable's name as one part of a fact's name: dots, blanks and controls become '_'. Returns `out`. */
const char *kit_part(char *out, size_t size, const char *text);

/* What stands behind the next `separator`, NULL when there is none: to go through lines or the folders of a path. */
const char *kit_after(const char *text, char separator);

/* ---- the job's environment and the run's parameters ---- */
/* The value of a variable of the job; NULL when it is not set. */
const char *kit_env(const struct kit *kit, const char *name);
/* A parameter of the run, or `otherwise`. */
const char *kit_param(const struct kit *kit, const char *name, const char *otherwise);

/* ---- small files below a root ("/proc" or a recorded tree); the path is formatted, relative to the root ---- */
/* Zeroed memory that the host releases; NULL when there is none. */
void *kit_memory(const struct kit *kit, size_t bytes);
/* The file's bytes and a NUL behind them, at most `maximum` of them; `length` may be NULL. NULL with errno where it cannot be read. */
__attribute__((format(printf, 5, 6))) char *kit_read(const struct kit *kit, size_t maximum, size_t *length, const char *root,
                                                     const char *path, ...);
/* The first line, without its newline and trailing blanks, into `out`. False when there is none. */
__attribute__((format(printf, 5, 6))) bool kit_read_line(const struct kit *kit, char *out, size_t size, const char *root, const char *path,
                                                         ...);
/* A number in decimal, hexadecimal after 0x, or "max" (then UINT64_MAX). False when it is none. */
__attribute__((format(printf, 4, 5))) bool kit_read_u64(const struct kit *kit, uint64_t *out, const char *root, const char *path, ...);
__attribute__((format(printf, 3, 4))) bool kit_exists(const struct kit *kit, const char *root, const char *path, ...);

/* The names in a folder, sorted, without "." and ".."; NULL where it cannot be read. `count` receives their number. */
__attribute__((format(printf, 4, 5))) const char **kit_list(const struct kit *kit, size_t *count, const char *root, const char *path, ...);

#endif

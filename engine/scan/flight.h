/*
 * PyTorch Flight Recorder dumps: what each rank had asked of NCCL or Gloo last. Put together they tell which collective hangs and which
 * ranks hold it up.
 */
#ifndef DTKB_SCAN_FLIGHT_H
#define DTKB_SCAN_FLIGHT_H

#include <jansson.h>

#include "scan/collect.h"
#include "scan/line.h"

struct flight;

struct flight *flight_new(void);
void flight_free(struct flight *flight);
bool flight_is_empty(const struct flight *flight);

/* Is this a dump's tree at all? */
bool flight_is_dump(const json_t *root);
/* Takes what is needed out of a dump. `rank`: by the file's name, or RANK_UNKNOWN. */
dtkb_status flight_add(struct flight *flight, const json_t *root, uint32_t file, int32_t rank, struct err *err);
/* After the last dump, and with the dumps in the order of their ranks: gives the groups of all dumps theirs. False when memory is short. */
bool flight_settle(struct flight *flight);
/* Writes the verdict as EV_DUMP evidence. */
void flight_conclude(struct flight *flight, struct collect *collect);

/* Rank by a dump's name: the number at its end (nccl_trace_rank_3, host7_dump_12.json). */
int32_t flight_rank_of_name(const char *path);

/* flight_read.c: the parts of a dump, for flight.c. */
#define FLIGHT_ENTRIES_MAX 4096 /* of one dump: the last ones */
enum flight_state { FLIGHT_SCHEDULED, FLIGHT_STARTED, FLIGHT_COMPLETED };

struct flight_entry {
    uint32_t group;   /* index in flight.groups */
    int64_t sequence; /* collective_seq_id */
    int64_t created_ns;
    const char *collective; /* without the backend: "all_to_all" */
    const char *sizes, *dtypes;
    enum flight_state state;
};

struct flight_group {
    const char *name, *description, *ranks_text;
    int32_t *ranks; /* sorted as in the dump */
    size_t rank_count;
    bool point_to_point; /* its numbers don't count the same on all ranks */
    bool of_all_dumps;   /* the dumps do not tell its ranks: all that left one are of it */
};

struct flight_status {
    const char *id; /* "pg_id" of one rank: which group that is is told by its entries, or by its neighbours' */
    int64_t enqueued, completed;
};

struct flight_id {
    uint32_t group;
    const char *id;
};

struct flight_dump {
    uint32_t file;
    int32_t rank;
    uint32_t *member_of; /* groups */
    size_t member_count;
    struct flight_entry *entries; /* collectives only, in the order of the dump */
    size_t entry_count;
    struct flight_status *statuses;
    size_t status_count;
    struct flight_id *ids;
    size_t id_count;
};

struct flight {
    struct flight_dump *dumps;
    size_t dump_count;
    struct flight_group *groups;
    size_t group_count;
    struct arena arena;
};

#endif

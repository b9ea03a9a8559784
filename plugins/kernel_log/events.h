/* What a kernel log tells of a training job's troubles, counted line by line. */
#ifndef DTKB_PLUGINS_KERNEL_LOG_EVENTS_H
#define DTKB_PLUGINS_KERNEL_LOG_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"

enum { XID_CODES_MAX = 64, DETAIL_MAX = 256 };

/* A kind of event: how often, when last, and in which words. */
struct tally {
    uint64_t count;
    double time;
    bool since_boot;
    char last[DETAIL_MAX];
};

struct xid_seen {
    unsigned code;
    struct tally tally;
    char gpus[128]; /* PCI addresses, joined by commas */
    char process[64];
};

struct oom {
    struct tally tally; /* `last`: the whole line */
    char victim[64], group[512];
    bool whole_machine; /* memory of the machine, not of a group, had run out */
    uint64_t whole_machine_kills;
    /* The lines one kill leaves name the same process, each form once. */
    unsigned long pid;
    unsigned forms;
};

struct events {
    struct xid_seen xids[XID_CODES_MAX];
    unsigned xid_codes;
    struct tally sxid, sxid_fatal, off_bus, reset, nvlink, init_failure, mismatch, peer_memory;
    bool reset_required;
    char client_version[32], module_version[32]; /* of a mismatch */
    struct oom oom;
    struct tally segfault, hung, lockup;
    char segfault_library[128], segfault_process[64], hung_task[64];
    struct tally aer_announced, aer_detail, aer_fatal, machine_check, link_down, adapter, fs, fs_fatal, nfs;
};

/* Takes one message of the kernel into account. */
void events_line(struct events *events, const struct line *line);

/* ---- for the files that know one kind of message; true when the message was of that kind ---- */
bool events_driver(struct events *events, const struct line *line);
bool events_killed(struct events *events, const struct line *line);
void tally_add(struct tally *tally, const struct line *line);
/* Copies up to `end`, or the whole, cut to what fits. */
void copy_part(char *out, unsigned long size, const char *from, const char *end);

#endif

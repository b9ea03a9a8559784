/* What a scan found: the one type between the reading of logs and the judging of them. */
#ifndef DTKB_SCAN_FINDINGS_H
#define DTKB_SCAN_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "scan/signature.h"

#define RANK_UNKNOWN (-1)
#define SIGNATURE_NONE UINT32_MAX

enum evidence_kind {
    EV_SIGNATURE,  /* a line that a signature matches */
    EV_EXCEPTION,  /* the last line of a Python traceback, or of a C++ terminate/what() */
    EV_SIGNAL,     /* a process died of a signal (`number`): launcher summary, "Caught signal", "Segmentation fault" */
    EV_EXIT,       /* a process ended with exit status `number` */
    EV_ERROR_LINE, /* a line that looks like an error to anyone: the text for the similar-issue search */
    EV_PROGRESS,   /* the last line that shows training going on (step, epoch, loss): only the last one of each rank is kept */
    EV_DUMP,       /* what a Flight Recorder dump says */
    EV_OBSERVED,   /* what several lines show together (observe/observe.h): in our own words, at the last of them */
    EV_TEXT,       /* a line of the beginning, for judging the log by its words: the first few only */
};

struct evidence_field {
    const char *name, *value;
};

struct evidence {
    enum evidence_kind kind;
    enum sig_role role; /* of the signature; for structures judged by the scanner (a peer's "Connection closed by peer" is CASCADE) */
    uint32_t signature; /* index, or SIGNATURE_NONE */
    uint32_t file;      /* index into findings.files */
    uint64_t line;      /* from 1; 0 where there are no lines */
    uint64_t sequence;  /* order over all input: lower is earlier (file order, then offset) */
    int32_t rank;       /* RANK_UNKNOWN when nothing tells */
    double time;        /* seconds since the epoch, or NAN */
    uint64_t count;     /* how many such lines (same signature, same rank); the first one is described */
    const char *text;   /* the cleaned line, valid UTF-8, no controls, at most EVIDENCE_TEXT_MAX bytes */
    const struct evidence_field *fields; /* named groups of a regex; for EV_EXCEPTION: type, message */
    size_t field_count;
    int32_t number; /* EV_SIGNAL, EV_EXIT */
    const char *
        source_file; /* EV_EXCEPTION: the innermost frame in the user's own code (not site-packages, dist-packages, the standard library) */
    uint32_t source_line; /* 0 when unknown */
    bool chained;         /* EV_EXCEPTION: raised while another, earlier one was handled */
    bool observed;        /* of EV_OBSERVED, and of the signatures that were found in its words */
};
#define EVIDENCE_TEXT_MAX 2048

struct detected_version {
    const char *component; /* torch, nccl, cuda, driver, horovod, tensorflow, python, openmpi, deepspeed, ... */
    const char *version;
    uint32_t file;
    uint64_t line;
};

struct input_file {
    const char *name; /* as given; "-" for stdin; "ARCHIVE/member" inside archives */
    uint64_t bytes, lines;
    int32_t rank; /* from the file's name (rank_3.log, attempt_0/3/stderr.log), or RANK_UNKNOWN */
    bool binary;  /* skipped: not text */
};

struct findings {
    struct input_file *files;
    size_t file_count;
    struct evidence *evidence; /* by sequence */
    size_t evidence_count;
    struct detected_version *versions;
    size_t version_count;
    uint32_t ranks_seen; /* distinct ranks in prefixes, file names and launcher summaries */
    uint32_t world_size; /* as the log tells, 0 if it does not */
    bool training_log;   /* something in it belongs to a (distributed) training job at all */
    bool clean_end;      /* ended well: exit status 0 of every rank, or nothing that looks like an error */
    uint64_t bytes, lines;
    uint64_t matches_dropped; /* over the caps */
    struct arena arena;       /* owns all of the above's strings; arrays too */
};

void findings_free(struct findings *findings);
/* Does the line of the evidence at this index follow from another rank's trouble? A line may be told several times, as text and as evidence of
 * a role. */
bool findings_line_follows(const struct findings *findings, size_t at);

#endif

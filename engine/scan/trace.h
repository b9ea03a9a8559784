/* Tracebacks and C++ terminations over several lines, also of several ranks whose lines are mixed. */
#ifndef DTKB_SCAN_TRACE_H
#define DTKB_SCAN_TRACE_H

#include "scan/collect.h"
#include "scan/line.h"

#define TRACES_MAX 24 /* open at one time in one stream */
#define TRACE_PATH 256
#define TRACE_MESSAGE 1024

enum trace_state { TRACE_FREE, TRACE_FRAMES, TRACE_WHAT, TRACE_LAST };

struct trace {
    enum trace_state state;
    int32_t rank;
    uint64_t opened; /* counts up: the highest is the most recent */
    bool chained, has_header;
    char user_file[TRACE_PATH], type[TRACE_PATH];
    uint32_t user_line;
    char text[TRACE_MESSAGE], message[TRACE_MESSAGE];
    unsigned message_lines;
    uint64_t line, sequence;
    double time;
};

struct traces {
    struct trace open[TRACES_MAX];
    uint64_t counter;
    bool chain_next; /* "During handling of the above exception" was just read */
};

/* Where a line lies. */
struct place {
    uint32_t file;
    uint64_t line, sequence;
    int32_t rank; /* of the line, or of its file */
};

/* Reads one line. Returns true if it belongs to a traceback or message (and is no error line of its own then). */
bool traces_line(struct traces *traces, struct collect *collect, const struct line *line, const struct place *place);
bool traces_any_open(const struct traces *traces);
/* At the end of the stream: writes out what is unfinished. */
void traces_end(struct traces *traces, struct collect *collect, uint32_t file);

#endif

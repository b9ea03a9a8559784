#include "scan/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "scan/words.h"

#define MESSAGE_LINES_MAX 8

static void copy_text(char *to, size_t size, const char *from, size_t length)
{
    length = utf8_cut(from, length, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

static void emit(struct trace *trace, struct collect *collect, uint32_t file)
{
    struct evidence_field fields[] = {{"type", trace->type}, {"message", trace->message}};
    struct evidence evidence = {.kind = EV_EXCEPTION,
                                .role = exception_role(trace->type, trace->message),
                                .signature = SIGNATURE_NONE,
                                .file = file,
                                .line = trace->line,
                                .sequence = trace->sequence,
                                .rank = trace->rank,
                                .time = trace->time,
                                .text = trace->text,
                                .fields = fields,
                                .field_count = 2,
                                .source_file = *trace->user_file ? trace->user_file : NULL,
                                .source_line = trace->user_line,
                                .chained = trace->chained};
    if (trace->state == TRACE_LAST)
        collect_add(collect, &evidence, text_key(trace->text, strlen(trace->text)));
    trace->state = TRACE_FREE;
}

/* The most recent open one of this rank in this state. */
static struct trace *find(struct traces *traces, int32_t rank, enum trace_state state)
{
    struct trace *best = NULL;
    for (size_t i = 0; i < TRACES_MAX; i++) {
        struct trace *trace = &traces->open[i];
        if (trace->state == state && trace->rank == rank && (!best || trace->opened > best->opened))
            best = trace;
    }
    return best;
}

static struct trace *open_trace(struct traces *traces, struct collect *collect, const struct place *place, enum trace_state state)
{
    struct trace *slot = NULL;
    for (size_t i = 0; i < TRACES_MAX && !slot; i++)
        if (traces->open[i].state == TRACE_FREE)
            slot = &traces->open[i];
    if (!slot) { /* the oldest one will not be finished any more */
        slot = &traces->open[0];
        for (size_t i = 1; i < TRACES_MAX; i++)
            if (traces->open[i].opened < slot->opened)
                slot = &traces->open[i];
        emit(slot, collect, place->file);
    }
    memset(slot, 0, sizeof *slot);
    slot->state = state;
    slot->rank = place->rank;
    slot->opened = ++traces->counter;
    slot->chained = traces->chain_next;
    traces->chain_next = false;
    return slot;
}

static void close_message(struct traces *traces, struct collect *collect, const struct place *place)
{
    struct trace *trace = find(traces, place->rank, TRACE_LAST);
    if (trace)
        emit(trace, collect, place->file);
}

/*   File "/opt/app/train.py", line 5, in main */
static bool read_frame(struct trace *trace, const char *text)
{
    text += strspn(text, " |");
    if (strncmp(text, "File \"", 6) != 0)
        return false;
    const char *file = text + 6, *close = strchr(file, '"');
    if (!close || strncmp(close, "\", line ", 8) != 0)
        return false;
    char path[TRACE_PATH];
    copy_text(path, sizeof path, file, (size_t)(close - file));
    if (trace && is_user_file(path)) {
        memcpy(trace->user_file, path, sizeof path);
        trace->user_line = (uint32_t)strtoul(close + 8, NULL, 10);
    }
    return true;
}

static void read_last_line(struct trace *trace, const struct line *line, const struct place *place, const struct span *type,
                           const struct span *message)
{
    trace->state = TRACE_LAST;
    trace->line = place->line;
    trace->sequence = place->sequence;
    trace->time = line->time;
    copy_text(trace->type, sizeof trace->type, type->text, type->length);
    copy_text(trace->message, sizeof trace->message, message->text, message->length);
    const char *text = line->text + strspn(line->text, " |+");
    copy_text(trace->text, sizeof trace->text, text, strlen(text));
}

/* A further line of the message of the exception before it? */
static bool continues(const struct trace *trace, const struct line *line)
{
    struct death death;
    const char *text = line->text;
    if (trace->message_lines >= MESSAGE_LINES_MAX || !*text || line->level || line->time == line->time)
        return false;
    if (!strncmp(text, "frame #", 7) || !strncmp(text, "Exception raised from", 21) || !strncmp(text, "====", 4) ||
        !strncmp(text, "----", 4))
        return false;
    return !death_read(line, &death) && !is_progress(line);
}

static void continue_message(struct trace *trace, const struct line *line)
{
    size_t length = strlen(trace->message);
    const char *text = line->text + strspn(line->text, " |");
    if (length && length + 1 < sizeof trace->message) {
        trace->message[length++] = ' ';
        trace->message[length] = '\0';
    }
    copy_text(trace->message + length, sizeof trace->message - length, text, strlen(text));
    trace->message_lines++;
}

/* terminate called after throwing an instance of 'std::runtime_error', then:   what():  message */
static bool read_terminate(struct traces *traces, struct collect *collect, const struct line *line, const struct place *place)
{
    static const char called[] = "terminate called ";
    const char *text = strstr(line->text, called);
    if (text) {
        close_message(traces, collect, place);
        if (!strncmp(text + sizeof called - 1, "recursively", 11))
            return true;
        struct trace *trace = open_trace(traces, collect, place, TRACE_WHAT);
        const char *quote = strchr(text, '\'');
        struct span type = {"terminate", 9}, message = {text, strlen(text)};
        if (quote && strchr(quote + 1, '\''))
            type = (struct span){quote + 1, strcspn(quote + 1, "'")};
        read_last_line(trace, line, place, &type, &message);
        trace->state = quote ? TRACE_WHAT : TRACE_LAST;
        return true;
    }
    text = strstr(line->text, "what():  ");
    if (!text || text != line->text + strspn(line->text, " "))
        return false;
    struct trace *trace = find(traces, place->rank, TRACE_WHAT);
    struct span type = {"std::exception", 14}, message = {text + 9, strlen(text + 9)};
    char known[TRACE_PATH];
    if (trace) {
        memcpy(known, trace->type, sizeof known);
        type = (struct span){known, strlen(known)};
    } else {
        close_message(traces, collect, place);
        trace = open_trace(traces, collect, place, TRACE_LAST);
    }
    read_last_line(trace, line, place, &type, &message);
    size_t length = strlen(trace->type);
    copy_text(trace->text, sizeof trace->text, trace->type, length);
    copy_text(trace->text + length, sizeof trace->text - length, ": ", 2);
    copy_text(trace->text + length + 2, sizeof trace->text - length - 2, trace->message, strlen(trace->message));
    return true;
}

static bool read_header(struct traces *traces, struct collect *collect, const struct line *line, const struct place *place)
{
    const char *text = line->text;
    if (strstr(text, "During handling of the above exception") || strstr(text, "was the direct cause of the following exception")) {
        close_message(traces, collect, place);
        traces->chain_next = true;
        return true;
    }
    if (!strstr(text, "Traceback (most recent call last)"))
        return false;
    close_message(traces, collect, place);
    open_trace(traces, collect, place, TRACE_FRAMES)->has_header = true;
    return true;
}

bool traces_line(struct traces *traces, struct collect *collect, const struct line *line, const struct place *place)
{
    struct span type, message;
    if (read_header(traces, collect, line, place) || read_terminate(traces, collect, line, place))
        return true;
    struct trace *frames = find(traces, place->rank, TRACE_FRAMES);
    if (read_frame(frames, line->text)) {
        if (!frames) { /* the header was cut off or lies in another line */
            close_message(traces, collect, place);
            (void)read_frame(open_trace(traces, collect, place, TRACE_FRAMES), line->text);
        }
        return true;
    }
    if (exception_read(line->text, frames != NULL, &type, &message)) {
        close_message(traces, collect, place);
        if (!frames)
            frames = open_trace(traces, collect, place, TRACE_LAST);
        read_last_line(frames, line, place, &type, &message);
        return true;
    }
    struct trace *last = find(traces, place->rank, TRACE_LAST);
    if (frames && line->text[0] == ' ' && !(last && last->opened > frames->opened))
        return true; /* source text under a frame */
    if (!last)
        return false;
    if (!continues(last, line)) {
        emit(last, collect, place->file);
        return false;
    }
    if (frames && line->text[0] == ' ')
        return true; /* source text of the other rank's traceback, mixed into the message */
    continue_message(last, line);
    return true;
}

bool traces_any_open(const struct traces *traces)
{
    for (size_t i = 0; i < TRACES_MAX; i++)
        if (traces->open[i].state != TRACE_FREE)
            return true;
    return false;
}

void traces_end(struct traces *traces, struct collect *collect, uint32_t file)
{
    for (size_t i = 0; i < TRACES_MAX; i++) {
        struct trace *trace = &traces->open[i];
        if (trace->state == TRACE_WHAT)
            trace->state = TRACE_LAST;
        if (trace->state != TRACE_FREE)
            emit(trace, collect, file);
    }
}

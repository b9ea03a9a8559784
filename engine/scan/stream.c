#include "scan/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scan/anchor.h"
#include "scan/words.h"

#define SAMPLE_HEAD ((uint64_t)16 << 10) /* of a stream's first block: what is this? */
#define SAMPLE_TAIL ((uint64_t)2 << 10)  /* of a block: how far is the training? */
#define SAMPLED_BLOCKS 256               /* of these each; in longer streams one of SAMPLE_STRIDE behind them */
#define SAMPLE_STRIDE 8
#define SAMPLE_END ((uint64_t)64 << 10) /* of the last block */
#define ATTENTION_TRACE 120
#define ATTENTION_MESSAGE 12
#define ATTENTION_TABLE 60
#define ATTENTION_TOTAL 400000 /* lines read one by one because of what was before them, in one stream */
#define TRIES_MAX 4096         /* lines of one signature that are read in one stream */
#define SURROUNDINGS_LINES 500 /* at a stream's beginning */

bool stream_open(struct stream *stream, const struct scan_db *db, uint32_t file, int32_t rank)
{
    *stream = (struct stream){.db = db, .file = file, .rank = rank, .table_rank = RANK_UNKNOWN};
    stream->matching = matching_new();
    stream->tries = calloc(db->signature_count + 1, sizeof *stream->tries);
    stream->observer = observer_new();
    if (stream->matching && stream->tries && stream->observer)
        return true;
    stream_close(stream);
    return false;
}

bool stream_clone(const struct stream *from, struct stream *to)
{
    *to = *from;
    to->traces = from->traces ? malloc(sizeof *to->traces) : NULL;
    to->matching = matching_new();
    to->tries = malloc((from->db->signature_count + 1) * sizeof *to->tries);
    to->observer = observer_clone(from->observer);
    if ((from->traces && !to->traces) || !to->matching || !to->tries || !to->observer) {
        stream_close(to);
        return false;
    }
    memcpy(to->tries, from->tries, (from->db->signature_count + 1) * sizeof *to->tries);
    if (to->traces)
        *to->traces = *from->traces;
    return true;
}

void stream_close(struct stream *stream)
{
    free(stream->traces);
    free(stream->tries);
    observer_free(stream->observer);
    matching_free(stream->matching);
    *stream = (struct stream){0};
}

static uint64_t sequence_of(const struct stream *stream, uint64_t offset)
{
    const uint64_t most = (UINT64_C(1) << 40) - 1;
    return (uint64_t)stream->file << 40 | (offset < most ? offset : most);
}

static struct evidence evidence_at(const struct stream *stream, const struct place *place, enum evidence_kind kind)
{
    return (struct evidence){.kind = kind,
                             .signature = SIGNATURE_NONE,
                             .file = place->file,
                             .line = place->line,
                             .sequence = place->sequence,
                             .rank = place->rank,
                             .time = stream->line.time,
                             .text = stream->line.text};
}

/* ---- signatures ---- */

void signature_found(struct collect *collect, const struct scan_db *db, uint32_t signature, const struct capture *captures, size_t count,
                     const struct evidence *at)
{
    struct evidence_field fields[CAPTURES_MAX];
    char values[CAPTURES_MAX][FIELD_MAX];
    for (size_t i = 0; i < count; i++) {
        size_t length = captures[i].length < FIELD_MAX ? captures[i].length : FIELD_MAX - 1;
        while (length < captures[i].length && length && ((unsigned char)captures[i].value[length] & 0xc0) == 0x80)
            length--;
        memcpy(values[i], captures[i].value, length);
        values[i][length] = '\0';
        fields[i] = (struct evidence_field){captures[i].name, values[i]};
    }
    struct evidence evidence = *at;
    evidence.kind = EV_SIGNATURE;
    evidence.role = db->signatures[signature].role;
    evidence.signature = signature;
    evidence.fields = fields;
    evidence.field_count = count;
    collect_add(collect, &evidence, 0);
}

/* The line without prefixes decides; an expression that was written with a prefix in it ("[Rank 3] Watchdog") gets the line with them. */
static bool try_signature(struct stream *stream, struct collect *collect, const struct place *place, uint32_t signature)
{
    const struct line *line = &stream->line;
    struct capture captures[CAPTURES_MAX];
    size_t count = 0;
    bool matches = db_matches(stream->db, signature, stream->matching, line->text, line->length, captures, &count);
    if (!matches && line->text != line->bare)
        matches = db_matches(stream->db, signature, stream->matching, line->bare, line->bare_length, captures, &count);
    if (!matches)
        return false;
    struct evidence at = evidence_at(stream, place, EV_SIGNATURE);
    signature_found(collect, stream->db, signature, captures, count, &at);
    return true;
}

/* Tries the signatures whose literals are in the line; returns the kinds of the anchors among them. `*matched`: some signature did. */
static unsigned read_ids(struct stream *stream, struct collect *collect, const struct place *place, const uint32_t *ids, size_t count,
                         bool *matched)
{
    unsigned kinds = 0;
    bool traced = stream->traces && traces_any_open(stream->traces); /* under a frame it stands for the message to come */
    bool source = count > 0 && !traced && is_source_of_message(&stream->line);
    for (size_t i = 0; i < count; i++) {
        const struct db_literal *literal = &stream->db->literals[ids[i]];
        if (literal->anchor) {
            kinds |= anchors[literal->owner].kinds;
            continue;
        }
        bool tried = source;
        for (size_t k = 0; k < i && !tried; k++)
            tried = !stream->db->literals[ids[k]].anchor && stream->db->literals[ids[k]].owner == literal->owner;
        if (!tried && try_signature(stream, collect, place, literal->owner))
            *matched = true;
    }
    return kinds;
}

/* Is there anything among the literals that has not been read often enough? A line that every step of a long job prints is not cleaned a
 * million times; what is passed over is counted as dropped. */
static bool worth_reading(struct stream *stream, const uint32_t *ids, size_t count)
{
    bool worth = false;
    for (size_t i = 0; i < count; i++) {
        const struct db_literal *literal = &stream->db->literals[ids[i]];
        if (literal->anchor)
            worth = true;
        else if (stream->tries[literal->owner] < TRIES_MAX) {
            stream->tries[literal->owner]++;
            worth = true;
        }
    }
    return worth;
}

/* ---- launchers' tables ---- */

static void attend(struct stream *stream, unsigned lines)
{
    if (stream->attention < lines && stream->attention_spent < ATTENTION_TOTAL)
        stream->attention = lines;
}

/* torchrun's summary names the rank on one line, its exit code on the next; mpirun its "Process name". */
static void read_table(struct stream *stream, const char *text)
{
    text += strspn(text, " *");
    if (!strncmp(text, "Root Cause (first observed", 26)) {
        stream->table_root = true;
        stream->table_rank = RANK_UNKNOWN;
        attend(stream, ATTENTION_TABLE);
    } else if (!strncmp(text, "Failures:", 9) || strstr(text, "ChildFailedError") || strstr(text, "exited with non-zero")) {
        stream->table_root = false;
        stream->table_rank = RANK_UNKNOWN;
        attend(stream, ATTENTION_TABLE);
    } else if (!strncmp(text, "rank", 4) && strspn(text + 4, " ") && strstr(text, "local_rank:")) {
        const char *colon = strchr(text, ':');
        stream->table_rank = colon ? (int32_t)strtol(colon + 1, NULL, 10) : RANK_UNKNOWN;
    } else if (!strncmp(text, "Process name: [[", 16)) {
        const char *comma = strstr(text, "],");
        stream->table_root = false;
        stream->table_rank = comma ? (int32_t)strtol(comma + 2, NULL, 10) : RANK_UNKNOWN;
    }
}

static bool read_death(struct stream *stream, struct collect *collect, const struct place *place)
{
    struct death death;
    if (!death_read(&stream->line, &death))
        return false;
    const char *text = stream->line.text + strspn(stream->line.text, " ");
    struct evidence evidence = evidence_at(stream, place, death.is_signal ? EV_SIGNAL : EV_EXIT);
    if (!strncmp(text, "exitcode", 8) || !strncasecmp(text, "Exit code:", 10) || !strncmp(text, "traceback : Signal", 18))
        evidence.rank = stream->table_rank != RANK_UNKNOWN ? stream->table_rank : evidence.rank;
    else if (death.rank != RANK_UNKNOWN)
        evidence.rank = death.rank;
    evidence.role = death.role;
    if (stream->table_root && evidence.rank == stream->table_rank && death.number != 0)
        evidence.role = ROLE_INITIATING;
    evidence.number = death.number;
    collect_rank(collect, evidence.rank);
    collect_add(collect, &evidence, (uint64_t)(int64_t)death.number);
    return death.number != 0 || death.is_signal;
}

/* ---- lines ---- */

struct version_target {
    struct collect *collect;
    const struct place *place;
};

static void on_version(void *context, const char *component, const char *version, size_t length)
{
    struct version_target *target = context;
    collect_version(target->collect, component, version, length, target->place->file, target->place->line);
}

static void read_surroundings(struct collect *collect, const struct line *line, const struct place *place)
{
    struct version_target target = {collect, place};
    versions_read(line, on_version, &target);
    uint32_t size = world_size_read(line);
    if (size > collect->world_size && size <= 1000000)
        collect->world_size = size;
    if (!collect->training_log)
        collect->job_lines += is_training(line, place->line <= SURROUNDINGS_LINES);
    collect->training_log = collect->training_log || place->rank != RANK_UNKNOWN || collect->job_lines >= JOB_LINES_SURE;
}

static bool read_traces(struct stream *stream, struct collect *collect, const struct place *place, unsigned kinds)
{
    if (!stream->traces) {
        if (!(kinds & (ANCHOR_TRACEBACK | ANCHOR_ERROR | ANCHOR_DEATH)) &&
            strncmp(stream->line.text + strspn(stream->line.text, " "), "File \"", 6) != 0)
            return false;
        stream->traces = calloc(1, sizeof *stream->traces);
        if (!stream->traces) {
            collect->failed = true;
            return false;
        }
    }
    bool taken = traces_line(stream->traces, collect, &stream->line, place);
    if (taken)
        attend(stream, kinds & ANCHOR_TRACEBACK ? ATTENTION_TRACE : ATTENTION_MESSAGE);
    return taken;
}

/* `ids`: the literals in the line; none for lines that are read because of their neighbours or as a sample. */
static void read_line(struct stream *stream, struct collect *collect, const char *raw, size_t length, uint64_t offset, uint64_t number,
                      const uint32_t *ids, size_t id_count)
{
    struct line *line = &stream->line;
    line_clean(line, raw, length);
    struct place place = {.file = stream->file,
                          .line = number,
                          .sequence = sequence_of(stream, offset),
                          .rank = line->rank != RANK_UNKNOWN ? line->rank : stream->rank};
    collect_rank(collect, place.rank);
    bool matched = false;
    unsigned kinds = read_ids(stream, collect, &place, ids, id_count, &matched);
    bool watched = stream->attention > 0;
    bool taken = read_traces(stream, collect, &place, kinds);
    if (watched || kinds & ANCHOR_DEATH || kinds & ANCHOR_ERROR)
        read_table(stream, line->text);
    bool died = (watched || kinds & ANCHOR_DEATH) && read_death(stream, collect, &place);
    if (!taken && !died && kinds & ANCHOR_ERROR && !collect_full_of_errors(collect) && is_error_line(line)) {
        struct evidence evidence = evidence_at(stream, &place, EV_ERROR_LINE);
        evidence.rank = place.rank;
        collect_add(collect, &evidence, text_key(line->text, line->length));
    }
    if (collect->text_lines < TEXT_LINES_MAX && line->length >= 8 && !is_chatter(line)) {
        struct evidence evidence = evidence_at(stream, &place, EV_TEXT);
        evidence.rank = place.rank;
        collect_add(collect, &evidence, text_key(line->text, line->length));
    }
    if (number <= SURROUNDINGS_LINES || kinds & (ANCHOR_VERSION | ANCHOR_WORLD) || taken || !collect->training_log)
        read_surroundings(collect, line, &place);
    bool progress = !taken && !died && is_progress(line);
    if (progress) {
        struct evidence evidence = evidence_at(stream, &place, EV_PROGRESS);
        collect_progress(collect, &evidence);
    }
    if (stream->sampled)
        observer_line(stream->observer, line, &place, progress);
}

/* ---- blocks ---- */

struct walk {
    struct stream *stream;
    struct collect *collect;
    const struct block *block;
    const char *begin, *end, *limit; /* own bytes, and with the tail */
    const char *counted;             /* newlines before this are in `line` */
    uint64_t line;                   /* number of the line at `counted` */
    bool last;                       /* nothing follows this block */
};

static uint64_t offset_of(const struct walk *walk, const char *at)
{
    return at >= walk->begin ? walk->block->offset + (uint64_t)(at - walk->begin) : walk->block->offset - (uint64_t)(walk->begin - at);
}

static uint64_t line_number(struct walk *walk, const char *at)
{
    if (at >= walk->counted) {
        walk->line += count_newlines(walk->counted, (size_t)(at - walk->counted));
        walk->counted = at;
        return walk->line;
    }
    return walk->line - count_newlines(at, (size_t)(walk->counted - at));
}

/* Where the next line begins, behind the end of one. */
static const char *behind(const struct walk *walk, const char *end)
{
    if (end < walk->limit && *end == '\r')
        end++;
    if (end < walk->limit && *end == '\n')
        end++;
    return end;
}

/* Bytes at the block's end that are read line by line. */
static uint64_t sample_size(const struct walk *walk, bool last)
{
    uint64_t index = walk->block->offset / BLOCK_BYTES;
    return last ? SAMPLE_END : index < SAMPLED_BLOCKS || index % SAMPLE_STRIDE == 0 ? SAMPLE_TAIL : 0;
}

static bool in_sample(const struct walk *walk, const char *at, bool last)
{
    uint64_t into = (uint64_t)(at - walk->begin), left = (uint64_t)(walk->end - at);
    return (walk->block->offset == 0 && into < SAMPLE_HEAD) || left <= sample_size(walk, last);
}

/* Reads the line at `at`; moves the stream behind it. */
static void take_line(struct walk *walk, const char *at, const char *end, const uint32_t *ids, size_t id_count)
{
    struct stream *stream = walk->stream;
    if (stream->attention) {
        stream->attention--;
        stream->attention_spent++;
    }
    stream->sampled = in_sample(walk, at, walk->last);
    read_line(stream, walk->collect, at, (size_t)(end - at), offset_of(walk, at), line_number(walk, at), ids, id_count);
    stream->next = offset_of(walk, behind(walk, end));
}

/* Where the next sample begins, at or behind `at`; `end` if there is none. Samples begin behind a line's end. */
static const char *next_sample(const struct walk *walk, const char *at, bool last)
{
    if (at >= walk->end || in_sample(walk, at, last))
        return at;
    size_t size = (size_t)sample_size(walk, last);
    if (!size)
        return walk->end;
    const char *start = walk->end - size;
    const char *end = line_end(start, walk->end);
    return end < walk->end ? end + 1 : walk->end;
}

static void end_of_stream(struct walk *walk)
{
    if (walk->stream->traces)
        traces_end(walk->stream->traces, walk->collect, walk->stream->file);
    observer_conclude(walk->stream->observer, walk->collect);
}

void stream_block(struct stream *stream, struct collect *collect, const struct block *block, bool last)
{
    struct walk walk = {.stream = stream, .collect = collect, .block = block, .last = last};
    walk.begin = block->data + block->lead;
    walk.end = walk.begin + block->length;
    walk.limit = walk.end + block->tail;
    walk.counted = walk.begin;
    walk.line = stream->newlines + 1;
    collect->dropped += block->dropped;
    collect->failed = collect->failed || block->failed;
    size_t next_hit = 0;
    const char *at = walk.begin + (stream->next > block->offset ? (ptrdiff_t)(stream->next - block->offset) : 0);
    while (true) {
        while (next_hit < block->hit_count && offset_of(&walk, block->data + block->hits[next_hit].start) < stream->next)
            next_hit++;
        const char *hit_at = next_hit < block->hit_count ? block->data + block->hits[next_hit].start : NULL;
        if (stream->in_long_line && at < walk.end) { /* nothing begins before the line is over */
            const char *newline = memchr(at, '\n', (size_t)(walk.end - at));
            stream->in_long_line = !newline;
            at = newline ? newline + 1 : walk.end;
        }
        const char *from = stream->attention ? at : next_sample(&walk, at, last);
        if (hit_at && (hit_at <= from || from >= walk.end)) {
            const struct hit *hit = &block->hits[next_hit++];
            const char *end = hit_at + hit->length;
            if (stream->attention || in_sample(&walk, hit_at, last) || worth_reading(stream, block->ids + hit->first_id, hit->id_count)) {
                take_line(&walk, hit_at, end, block->ids + hit->first_id, hit->id_count);
                at = behind(&walk, end);
            } else {
                collect->dropped++;
            }
            continue;
        }
        if (from >= walk.end)
            break;
        const char *stop = walk.limit - from > LINE_MAX_BYTES ? from + LINE_MAX_BYTES : walk.limit;
        const char *end = line_end(from, stop);
        stream->in_long_line = end == stop && stop - from == LINE_MAX_BYTES;
        take_line(&walk, from, end, NULL, 0);
        at = behind(&walk, end);
    }
    stream->newlines += block->newlines;
    stream->lines_read = stream->newlines + (last && walk.limit > walk.begin - block->lead && walk.limit[-1] != '\n');
    if (last)
        end_of_stream(&walk);
}

/*
 * `ncclras -f json`: NCCL's communicators as its RAS threads see them, since NCCL 2.28. Judged as `ncclras` itself judges them in its text
 * form: ranks of dead or silent processes, errors of ranks, numbers of launched collectives that differ.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "scan/tool.h"

#define PER_COMMUNICATOR_MAX 16 /* ranks named one by one, of one kind */
#define RANKS_SHOWN 32
#define GONE_MAX 256

struct communicator {
    const json_t *node, *ranks;
    const char *hash;
    bool world; /* the largest one: its ranks are most likely the job's */
};

/* A process that is gone is missing in each of its communicators; it is told of once. */
struct gone {
    struct {
        json_int_t pid;
        const char *host;
    } known[GONE_MAX];
    size_t count;
};

bool ras_is_report(const json_t *root)
{
    return json_is_array(json_object_get(root, "communicators")) &&
           (json_object_get(root, "nccl_version") || json_object_get(root, "communicators_count"));
}

static json_int_t integer(const json_t *object, const char *key, json_int_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static const char *string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "unknown";
}

static int32_t rank_of(const struct communicator *of, const json_t *rank)
{
    json_int_t number = integer(rank, "rank", RANK_UNKNOWN);
    return of->world && number >= 0 && number < INT32_MAX ? (int32_t)number : RANK_UNKNOWN;
}

static void tell_rank(struct tool_report *report, const struct communicator *of, const json_t *rank, enum sig_role role, const char *what,
                      const char *words)
{
    struct tool_finding finding = {.role = role, .rank = rank_of(of, rank)};
    char number[24], pid[24];
    (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, integer(rank, "rank", -1));
    (void)snprintf(pid, sizeof pid, "%" JSON_INTEGER_FORMAT, integer(rank, "pid", -1));
    tool_field(&finding, "finding", what);
    tool_field(&finding, "communicator", of->hash);
    tool_field(&finding, "ranks", number);
    tool_field(&finding, "pid", pid);
    tool_field(&finding, "host", string(rank, "host"));
    tool_tell(report, &finding, "NCCL RAS: rank %s of communicator %.40s %s (process %s on %.80s, GPU %" JSON_INTEGER_FORMAT ")", number,
              of->hash, words, pid, string(rank, "host"), integer(rank, "cuda_dev", -1));
}

/* ---- ranks that are missing ---- */

static bool seen_before(struct gone *gone, const json_t *rank)
{
    json_int_t pid = integer(rank, "pid", -1);
    const char *host = string(rank, "host");
    for (size_t i = 0; pid >= 0 && i < gone->count; i++)
        if (gone->known[i].pid == pid && !strcmp(gone->known[i].host, host))
            return true;
    if (pid >= 0 && gone->count < GONE_MAX) {
        gone->known[gone->count].pid = pid;
        gone->known[gone->count++].host = host;
    }
    return false;
}

static void tell_missing(struct tool_report *report, const struct communicator *of, struct gone *gone)
{
    const json_t *rank;
    size_t i, told = 0;
    json_array_foreach(json_object_get(of->node, "missing_ranks"), i, rank)
    {
        const json_t *status = json_object_get(rank, "status");
        if (told == PER_COMMUNICATOR_MAX || seen_before(gone, rank))
            continue;
        told++;
        if (json_is_true(json_object_get(status, "considered_dead")))
            tell_rank(report, of, rank, ROLE_INITIATING, "dead", "is considered dead");
        else if (json_is_true(json_object_get(status, "unresponsive")))
            tell_rank(report, of, rank, ROLE_INITIATING, "unresponsive", "does not answer");
        else
            tell_rank(report, of, rank, ROLE_INITIATING, "missing", "is missing although its process answers");
    }
}

/* ---- what ranks say of themselves ---- */

#define NCCL_REMOTE_ERROR 6
#define NCCL_IN_PROGRESS 7

static bool is_error(json_int_t result)
{
    return result > 0 && result <= NCCL_REMOTE_ERROR;
}

static const char *error_name(json_int_t result)
{
    static const char *const names[] = {"no error",         "unhandled CUDA error", "system error",        "internal error",
                                        "invalid argument", "invalid usage",        "remote process error"};
    return names[is_error(result) ? result : 0];
}

static void tell_error(struct tool_report *report, const struct communicator *of, const json_t *rank, json_int_t result,
                       const char *of_what)
{
    char words[96];
    (void)snprintf(words, sizeof words, "reports an error of %s: %s", of_what, error_name(result));
    tell_rank(report, of, rank, result == NCCL_REMOTE_ERROR ? ROLE_CASCADE : ROLE_INITIATING, "error", words);
}

static void tell_states(struct tool_report *report, const struct communicator *of)
{
    const json_t *rank;
    size_t i, running = 0, told = 0;
    json_array_foreach(of->ranks, i, rank) running += integer(json_object_get(rank, "status"), "init_state", 0) == 0;
    json_array_foreach(of->ranks, i, rank)
    {
        const json_t *status = json_object_get(rank, "status");
        json_int_t init = integer(status, "init_state", 0), later = integer(status, "async_error", 0);
        uint64_t before = report->told;
        if (told == PER_COMMUNICATOR_MAX)
            return;
        if (is_error(init))
            tell_error(report, of, rank, init, "initialization");
        else if (init == NCCL_IN_PROGRESS && running)
            tell_rank(report, of, rank, ROLE_INITIATING, "initializing", "is still being initialized while others run");
        if (is_error(later))
            tell_error(report, of, rank, later, "a running operation");
        if (json_is_true(json_object_get(status, "abort_flag")))
            tell_rank(report, of, rank, ROLE_CASCADE, "aborted", "was aborted");
        told += report->told - before;
    }
}

/* ---- numbers of collectives ---- */

struct counts {
    json_int_t low, high;     /* of all ranks */
    size_t at_high, below;    /* how many ranks */
    json_int_t most_of_below; /* the highest number of those behind */
};

static json_int_t launched(const json_t *rank, const char *operation)
{
    return integer(json_object_get(rank, "collective_counts"), operation, -1);
}

static struct counts count(const struct communicator *of, const char *operation)
{
    struct counts counts = {.low = -1, .high = -1, .most_of_below = -1};
    const json_t *rank;
    size_t i;
    json_array_foreach(of->ranks, i, rank)
    {
        json_int_t number = launched(rank, operation);
        if (number < 0)
            continue;
        counts.low = counts.low < 0 || number < counts.low ? number : counts.low;
        counts.high = number > counts.high ? number : counts.high;
    }
    json_array_foreach(of->ranks, i, rank)
    {
        json_int_t number = launched(rank, operation);
        if (number < 0)
            continue;
        counts.at_high += number == counts.high;
        counts.below += number < counts.high;
        if (number < counts.high && number > counts.most_of_below)
            counts.most_of_below = number;
    }
    return counts;
}

/* The ranks of the smaller party: those behind, or those ahead. Returns the first of them. */
static const json_t *add_outliers(struct buf *buf, const struct communicator *of, const char *operation, json_int_t high, bool ahead)
{
    const json_t *rank, *first = NULL;
    size_t i, shown = 0, left = 0;
    json_array_foreach(of->ranks, i, rank)
    {
        json_int_t number = launched(rank, operation);
        if (number < 0 || (number == high) != ahead)
            continue;
        if (shown < RANKS_SHOWN)
            buf_addf(buf, "%s%" JSON_INTEGER_FORMAT, shown++ ? ", " : "", integer(rank, "rank", -1));
        else
            left++;
        first = first ? first : rank;
    }
    if (left)
        buf_addf(buf, " and %zu more", left);
    return first;
}

static void tell_operation(struct tool_report *report, const struct communicator *of, const char *operation)
{
    struct counts counts = count(of, operation);
    if (!counts.below)
        return;
    bool ahead = counts.at_high < counts.below;
    struct buf ranks = {0}, numbers = {0};
    const json_t *first = add_outliers(&ranks, of, operation, counts.high, ahead);
    size_t outliers = ahead ? counts.at_high : counts.below, others = ahead ? counts.below : counts.at_high;
    if (counts.low != counts.most_of_below)
        buf_addf(&numbers, "%" JSON_INTEGER_FORMAT " to ", counts.low);
    buf_addf(&numbers, "%" JSON_INTEGER_FORMAT, counts.most_of_below);
    struct tool_finding finding = {.role = ROLE_INITIATING, .rank = ahead || !first ? RANK_UNKNOWN : rank_of(of, first)};
    tool_field(&finding, "finding", ahead ? "ahead" : "behind");
    tool_field(&finding, "communicator", of->hash);
    tool_field(&finding, "collective", operation);
    tool_field(&finding, "ranks", buf_text(&ranks));
    const char *plural = outliers > 1 ? "s" : "", *other_plural = others > 1 ? "s" : "";
    if (ranks.failed || numbers.failed)
        report->collect->failed = true;
    else if (ahead)
        tool_tell(report, &finding,
                  "NCCL RAS: rank%s %s of communicator %.40s launched %" JSON_INTEGER_FORMAT " %.40s operations, %zu other rank%s only %s",
                  plural, buf_text(&ranks), of->hash, counts.high, operation, others, other_plural, buf_text(&numbers));
    else
        tool_tell(report, &finding,
                  "NCCL RAS: rank%s %s of communicator %.40s launched only %s %.40s operations, %zu other rank%s %" JSON_INTEGER_FORMAT,
                  plural, buf_text(&ranks), of->hash, buf_text(&numbers), operation, others, other_plural, counts.high);
    buf_free(&ranks);
    buf_free(&numbers);
}

/* ---- the whole ---- */

static void tell_communicator(struct tool_report *report, const struct communicator *of, struct gone *gone)
{
    tell_missing(report, of, gone);
    tell_states(report, of);
    const char *operation;
    json_t *number;
    json_object_foreach(json_object_get(json_array_get(of->ranks, 0), "collective_counts"), operation, number)
        tell_operation(report, of, operation);
}

void ras_tell(struct tool_report *report, const json_t *root)
{
    const json_t *communicators = json_object_get(root, "communicators"), *node;
    const char *version = string(root, "nccl_version");
    json_int_t world = 0;
    struct gone gone = {.count = 0};
    size_t i;
    json_array_foreach(communicators, i, node) world = integer(node, "size", 0) > world ? integer(node, "size", 0) : world;
    if (world > (json_int_t)report->collect->world_size && world <= 1 << 24)
        report->collect->world_size = (uint32_t)world;
    size_t length = strspn(version, "0123456789.");
    if (length)
        collect_version(report->collect, "nccl", version, length, report->file, 0);
    for (int pass = 0; pass < 2; pass++) /* the largest first */
        json_array_foreach(communicators, i, node)
        {
            struct communicator of = {node, json_object_get(node, "ranks"), string(node, "hash"), integer(node, "size", 0) == world};
            if (of.world == !pass)
                tell_communicator(report, &of, &gone);
        }
    json_int_t timeouts = integer(json_object_get(root, "ras"), "timeouts_count", 0);
    struct tool_finding finding = {.role = ROLE_CASCADE, .rank = RANK_UNKNOWN};
    tool_field(&finding, "finding", "timeout");
    if (timeouts > 0)
        tool_tell(report, &finding, "NCCL RAS: %" JSON_INTEGER_FORMAT " timeout%s while data was gathered", timeouts,
                  timeouts > 1 ? "s" : "");
    report->collect->training_log = report->collect->training_log || report->told;
}

/*
 * Prefixes that launchers, containers, loggers and kernels put before a line. They stack (a Kubernetes stamp, then mpirun's tag, then
 * [rank3]:, then glog's), so recognisers are tried in turn until none takes anything more. A recogniser gets the text from its first
 * character on and returns how many bytes it takes, 0 for none.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/findings.h"
#include "scan/line.h"

#define ROUNDS_MAX 8
#define RANK_MAX 10000000

static size_t digits(const char *p)
{
    size_t n = 0;
    while (isdigit((unsigned char)p[n]))
        n++;
    return n;
}

/* The number at `p`, RANK_UNKNOWN if there is none or it is too large for a rank. */
static int32_t rank_at(const char *p)
{
    size_t n = digits(p);
    if (n == 0 || n > 8)
        return RANK_UNKNOWN;
    long value = strtol(p, NULL, 10);
    return value < RANK_MAX ? (int32_t)value : RANK_UNKNOWN;
}

static size_t skip_colon_space(const char *p, size_t at)
{
    if (p[at] == ':')
        at++;
    if (p[at] == ' ')
        at++;
    return at;
}

/* [rank3]:  [Rank 3]  [default3]:  [trainer0|0]:  [local_rank 1]  rank3:  (a word, a number) */
static size_t bracket_rank(struct line *line, const char *p)
{
    static const char *const words[] = {"rank", "default", "trainer", "worker", "local_rank", "global_rank", "proc", "gpu_worker"};
    if (*p != '[')
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (strncasecmp(p + 1, words[i], n) != 0)
            continue;
        const char *q = p + 1 + n;
        if (*q == ' ' || *q == '-' || *q == '_' || *q == '=' || *q == ':')
            q++;
        if (*q == ' ')
            q++;
        size_t length = digits(q);
        if (!length)
            continue;
        int32_t rank = rank_at(q);
        q += length;
        if (*q == '|' || *q == '/') /* of a role | local */
            q += 1 + digits(q + 1);
        if (*q != ']')
            continue;
        line->rank = rank;
        return skip_colon_space(p, (size_t)(q + 1 - p));
    }
    return 0;
}

/* Open MPI --tag-output: [1,3]<stderr>:  [prterun-host-1@1,3]<stdout>: */
static size_t mpi_tag(struct line *line, const char *p)
{
    if (*p != '[')
        return 0;
    const char *comma = p + 1 + strcspn(p + 1, ",] ");
    if (*comma != ',' || comma == p + 1)
        return 0;
    size_t n = digits(comma + 1);
    const char *q = comma + 1 + n;
    if (!n || *q != ']' || q[1] != '<' || strncmp(q + 2, "std", 3) != 0)
        return 0;
    const char *close = strchr(q, '>');
    if (!close || close - q > 10)
        return 0;
    line->rank = rank_at(comma + 1);
    size_t at = (size_t)(close + 1 - p);
    return p[at] == ':' ? at + 1 : at;
}

/* srun -l: "3: ", padded on the left to equal width. */
static size_t srun_label(struct line *line, const char *p)
{
    size_t pad = strspn(p, " ");
    size_t n = digits(p + pad);
    if (!n || n + pad > 6 || p[pad + n] != ':' || (p[pad + n + 1] != ' ' && p[pad + n + 1] != '\0'))
        return 0;
    if (pad && n + pad > 5)
        return 0;
    line->rank = rank_at(p + pad);
    return pad + n + 1 + (p[pad + n + 1] == ' ');
}

/* Ray: (worker pid=123, ip=10.0.0.1)  (RayTrainWorker(rank=3) pid=123)  (pid=123) */
static size_t ray_tag(struct line *line, const char *p)
{
    if (*p != '(')
        return 0;
    size_t n = strcspn(p, "\n") < 160 ? strlen(p) : 160;
    const char *pid = memmem(p, n, "pid=", 4);
    if (!pid)
        return 0;
    const char *close = strchr(pid, ')');
    if (!close || close - p > 160)
        return 0;
    const char *rank = memmem(p, (size_t)(close - p), "rank=", 5);
    if (rank)
        line->rank = rank_at(rank + 5);
    return skip_colon_space(p, (size_t)(close + 1 - p));
}

/* host:pid:tid [gpu] NCCL INFO ...; what follows the bracket stays. */
static size_t nccl_host(struct line *line, const char *p)
{
    (void)line;
    size_t host = strcspn(p, ": [](){}<>\"'=,");
    if (!host || p[host] != ':')
        return 0;
    const char *q = p + host + 1;
    size_t pid = digits(q);
    if (!pid || q[pid] != ':')
        return 0;
    q += pid + 1;
    size_t tid = digits(q);
    if (!tid || q[tid] != ' ' || q[tid + 1] != '[')
        return 0;
    q += tid + 2;
    size_t gpu = strspn(q, "-0123456789");
    if (!gpu || q[gpu] != ']')
        return 0;
    return skip_colon_space(p, (size_t)(q + gpu + 1 - p));
}

/* [node-0:1001 :0:1002] Caught signal: UCX's tag before messages of its own */
static size_t ucx_tag(struct line *line, const char *p)
{
    (void)line;
    if (*p != '[' || !isalnum((unsigned char)p[1]))
        return 0;
    const char *q = p + 1 + strcspn(p + 1, ":] ");
    size_t pid = *q == ':' ? digits(q + 1) : 0;
    if (!pid)
        return 0;
    q += 1 + pid;
    while (*q == ' ' || *q == ':' || isdigit((unsigned char)*q))
        q++;
    return *q == ']' && q - p < 120 ? skip_colon_space(p, (size_t)(q + 1 - p)) : 0;
}

static char level_of(const char *word, size_t length)
{
    static const struct {
        const char *name;
        char level;
    } levels[] = {{"DEBUG", 'D'},    {"INFO", 'I'},  {"NOTICE", 'I'}, {"WARNING", 'W'}, {"WARN", 'W'},  {"ERROR", 'E'},
                  {"CRITICAL", 'F'}, {"FATAL", 'F'}, {"TRACE", 'D'},  {"SEVERE", 'E'},  {"ERR", 'E'},   {"warn", 'W'},
                  {"info", 'I'},     {"err", 'E'},   {"error", 'E'},  {"warning", 'W'}, {"debug", 'D'}, {"fatal", 'F'}};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (strlen(levels[i].name) == length && !memcmp(levels[i].name, word, length))
            return levels[i].level;
    return 0;
}

/* "- " or ": " or " | " between the fields of a logger's prefix */
static size_t separator(const char *p)
{
    size_t n = strspn(p, " ");
    if ((p[n] == '-' || p[n] == '|' || p[n] == ':') && p[n + 1] == ' ')
        return n + 2;
    return n;
}

/* INFO:name:  INFO -  [INFO]  <6> */
static size_t level_word(struct line *line, const char *p)
{
    if (*p == '<' && isdigit((unsigned char)p[1]) && digits(p + 1) <= 3 && p[1 + digits(p + 1)] == '>')
        return 2 + digits(p + 1);
    bool bracket = *p == '[';
    const char *word = p + bracket;
    size_t n = 0;
    while (isalpha((unsigned char)word[n]))
        n++;
    char level = level_of(word, n);
    if (!level || (!bracket && islower((unsigned char)*word)))
        return 0;
    const char *q = word + n;
    q += strspn(q, bracket ? " " : "");
    if (bracket) {
        if (*q != ']')
            return 0;
        line->level = level;
        q++;
        return (size_t)(q - p) + (*q == ':') + separator(q + (*q == ':'));
    }
    if (*q == ':' && (isalpha((unsigned char)q[1]) || q[1] == '_')) { /* logging.basicConfig: LEVEL:logger:message */
        size_t name = 1 + strcspn(q + 1, ": ()");
        if (q[name] != ':')
            return 0;
        line->level = level;
        return (size_t)(q + name + 1 - p) + (q[name + 1] == ' ');
    }
    size_t gap = separator(q);
    if (!gap || (gap == strspn(q, " ") && !isdigit((unsigned char)q[gap])))
        return 0; /* "ERROR something": the word belongs to the message, unless a stamp follows */
    line->level = level;
    return (size_t)(q + gap - p);
}

/* A stamp, bare or in brackets, and the "name - LEVEL - " of Python's logging behind it. */
static size_t stamped(struct line *line, const char *p)
{
    size_t blank = *p == ' ' && p[1] == '['; /* Megatron's lines begin so */
    bool bracket = p[blank] == '[';
    double time;
    size_t n = stamp_read(p + blank + bracket, &time);
    if (!n)
        return 0;
    const char *q = p + blank + bracket + n;
    if (bracket) {
        if (*q != ']')
            return 0;
        q++;
    } else if (*q && *q != ' ' && *q != ':' && *q != '|') {
        return 0;
    }
    if (!isnan(time))
        line->time = time;
    if (!strncmp(q, " stdout F ", 10) || !strncmp(q, " stderr F ", 10) || !strncmp(q, " stdout P ", 10) || !strncmp(q, " stderr P ", 10))
        return (size_t)(q + 10 - p); /* the container runtime's own form */
    if (*q == ':')
        q++;
    return (size_t)(q + separator(q) - p);
}

/* Behind a stamp: "mmrotate - INFO - ", "trainer.py:123 - INFO - " */
static size_t logger_name(struct line *line, const char *p)
{
    if (isnan(line->time))
        return 0;
    size_t n = strcspn(p, " ");
    if (!n || n > 80 || strncmp(p + n, " - ", 3) != 0)
        return 0;
    const char *word = p + n + 3;
    size_t length = strcspn(word, " ");
    char level = level_of(word, length);
    if (!level || strncmp(word + length, " - ", 3) != 0)
        return 0;
    line->level = level;
    return (size_t)(word + length + 3 - p);
}

/* glog, and PyTorch's bracketed kin: E1130 07:07:05.203265 10905 socket.cpp:860]  [E1130 07:07:05 file.cpp:828]  [E file.cpp:455] */
static size_t glog(struct line *line, const char *p)
{
    const char *q = p + (*p == '[');
    if (!*q || !strchr("IWEFV", *q))
        return 0;
    char level = *q++;
    double time = NAN;
    size_t n = digits(q);
    if (n == 8) {
        size_t taken = stamp_read(q, &time);
        if (!taken)
            return 0;
        q += taken;
    } else if (n == 4 && q[4] == ' ') {
        double ignored;
        size_t taken = stamp_read(q + 5, &ignored);
        if (!taken)
            return 0;
        q += 5 + taken;
    } else if (n || *p != '[') {
        return 0;
    }
    const char *close = strchr(q, ']');
    if (!close || close - q > 120 || *q != ' ')
        return 0;
    for (const char *c = q; c < close; c++)
        if (*c == '(' || *c == '"')
            return 0;
    line->level = level == 'V' ? 'D' : level;
    if (!isnan(time))
        line->time = time;
    return skip_colon_space(p, (size_t)(close + 1 - p));
}

/* [launch.py:319:sigkill_handler]  ProcessGroupNCCL.cpp:828]  llm_engine.py:161] */
static size_t source_place(struct line *line, const char *p)
{
    (void)line;
    const char *q = p + (*p == '[');
    size_t n = strcspn(q, ": []\"'()");
    if (n < 4 || q[n] != ':' || !memchr(q, '.', n))
        return 0;
    const char *at = q + n + 1;
    size_t number = digits(at);
    if (!number)
        return 0;
    at += number;
    if (*at == ':')
        at += 1 + strcspn(at + 1, " ]\"");
    return *at == ']' ? skip_colon_space(p, (size_t)(at + 1 - p)) : 0;
}

/* [titan] -  [stderr]  opt-1_3b.0 [stderr]: a launcher's or library's name in brackets; a line keeps brackets that hold anything else. */
static size_t bracket_name(struct line *line, const char *p)
{
    (void)line;
    size_t name = 0;
    if (*p != '[') {
        name = strcspn(p, " [");
        if (!name || name > 60 || strncmp(p + name, " [std", 5) != 0)
            return 0;
        name++;
    }
    static const char *const names[] = {"stderr", "stdout", "titan", "trainer", "launcher", "torchrun", "deepspeed"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(p + name + 1, names[i], n) && p[name + 1 + n] == ']')
            return skip_colon_space(p, name + n + 2);
    }
    return 0;
}

/* Kernel and syslog: [  123.456789]  kern  :warn  : STAMP  6,3973,227996636,-;  host prog[123]: */
static size_t kernel_log(struct line *line, const char *p)
{
    if (*p == '[') {
        size_t n = 1 + strspn(p + 1, " ");
        size_t whole = digits(p + n);
        if (!whole || p[n + whole] != '.')
            return 0;
        n += whole + 1;
        n += digits(p + n);
        return p[n] == ']' ? skip_colon_space(p, n + 1) : 0;
    }
    if (!strncmp(p, "kern  :", 7)) {
        const char *q = p + 7;
        q += strcspn(q, ":");
        if (*q != ':')
            return 0;
        line->level = level_of(p + 7, strcspn(p + 7, " :"));
        return skip_colon_space(p, (size_t)(q - p));
    }
    size_t n = strspn(p, "0123456789,-");
    return n > 6 && p[n] == ';' && memchr(p, ',', n) ? n + 1 : 0;
}

/* Behind a stamp: syslog's "host prog[123]: " or "host kernel: " */
static size_t syslog_origin(struct line *line, const char *p)
{
    (void)line;
    size_t host = strcspn(p, " ");
    if (!host || p[host] != ' ')
        return 0;
    const char *q = p + host + 1;
    size_t name = strcspn(q, " [:");
    if (!name)
        return 0;
    q += name;
    if (*q == '[') {
        size_t n = digits(q + 1);
        if (!n || q[1 + n] != ']')
            return 0;
        q += n + 2;
    } else if (strncmp(p + host + 1, "kernel", name) != 0) {
        return 0;
    }
    return *q == ':' && q[1] == ' ' ? (size_t)(q + 2 - p) : 0;
}

/* "10.0.0.29": bytes of an IPv4 address at `p`, 0: none */
static size_t ipv4_length(const char *p)
{
    size_t n = 0;
    for (int part = 0; part < 4; part++) {
        size_t digits = strspn(p + n, "0123456789");
        if (!digits || digits > 3 || (part < 3 && p[n + digits] != '.'))
            return 0;
        n += digits + (part < 3);
    }
    return n;
}

/* node-0:  worker-1:  10.0.0.29:  (pdsh, mpirun of other makers): a host's address, or its name with a number at its end */
static size_t host_label(struct line *line, const char *p)
{
    (void)line;
    size_t n = ipv4_length(p);
    if (n)
        return p[n] == ':' && p[n + 1] == ' ' && p[n + 2] ? n + 2 : 0;
    if (!isalpha((unsigned char)*p))
        return 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '-' || p[n] == '.' || p[n] == '_')
        n++;
    bool hostlike = n >= 3 && n <= 64 && isdigit((unsigned char)p[n - 1]) &&
                    (memchr(p, '-', n) || !strncasecmp(p, "node", 4) || !strncasecmp(p, "host", 4) || !strncasecmp(p, "worker", 6));
    return hostlike && p[n] == ':' && p[n + 1] == ' ' && p[n + 2] ? n + 2 : (hostlike && p[n] == ':' && p[n + 1] == '[' ? n + 1 : 0);
}

void line_take_prefixes(struct line *line)
{
    static size_t (*const recognisers[])(struct line *, const char *) = {mpi_tag,    bracket_rank, glog,         stamped,   ray_tag,
                                                                         level_word, source_place, bracket_name, nccl_host, kernel_log,
                                                                         ucx_tag,    logger_name,  srun_label,   host_label};
    bool was_stamp = false;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        size_t taken = 0;
        bool is_stamp = false;
        if (was_stamp)
            taken = syslog_origin(line, line->text);
        for (size_t i = 0; !taken && i < sizeof recognisers / sizeof recognisers[0]; i++) {
            taken = recognisers[i](line, line->text);
            is_stamp = recognisers[i] == stamped;
        }
        if (!taken)
            break;
        was_stamp = is_stamp;
        line->text += taken;
    }
    line->length = line->bare_length - (size_t)(line->text - line->bare);
}

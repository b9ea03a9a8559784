/* How processes are told to have ended. Each rule needs literal words around its number: a bare "Killed" inside a sentence is no death. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/words.h"

static const struct {
    const char *name, *description;
    int number;
} signals[] = {{"SIGHUP", "Hangup", 1},
               {"SIGINT", "Interrupt", 2},
               {"SIGQUIT", "Quit", 3},
               {"SIGILL", "Illegal instruction", 4},
               {"SIGTRAP", "Trace/breakpoint trap", 5},
               {"SIGABRT", "Aborted", 6},
               {"SIGBUS", "Bus error", 7},
               {"SIGFPE", "Floating point exception", 8},
               {"SIGKILL", "Killed", 9},
               {"SIGUSR1", "User defined signal 1", 10},
               {"SIGSEGV", "Segmentation fault", 11},
               {"SIGUSR2", "User defined signal 2", 12},
               {"SIGPIPE", "Broken pipe", 13},
               {"SIGTERM", "Terminated", 15},
               {"SIGXCPU", "CPU time limit exceeded", 24},
               {"SIGSYS", "Bad system call", 31}};
#define SIGNALS (sizeof signals / sizeof signals[0])

int signal_by_name(const char *name)
{
    for (size_t i = 0; i < SIGNALS; i++)
        if (!strncmp(name, signals[i].name, strlen(signals[i].name)) ||
            !strncasecmp(name, signals[i].description, strlen(signals[i].description)))
            return signals[i].number;
    return 0;
}

/* The number behind `p` and any of " :=(", with its sign. */
static bool number_behind(const char *p, int32_t *out)
{
    p += strspn(p, " :=(");
    if (!strncasecmp(p, "status ", 7) || !strncasecmp(p, "code ", 5))
        p += strcspn(p, " ") + 1;
    p += strspn(p, " :=(");
    bool negative = *p == '-';
    p += negative;
    size_t n = strspn(p, "0123456789");
    if (!n || n > 9)
        return false;
    long value = strtol(p, NULL, 10);
    *out = (int32_t)(negative ? -value : value);
    return true;
}

/* The rank that the line names: "rank 3", "rank: 3", "task 3:", "Process 3 exit", "local_rank: 3". A word of another kind may not touch. */
static int32_t rank_of(const struct line *line)
{
    static const char *const words[] = {"global_rank", "rank", "task", "Process", "local_rank"};
    const char *text = line->text;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        for (const char *p = line_find(line, words[i]); p; p = strcasestr(p + n, words[i])) {
            if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
                continue;
            const char *q = p + n;
            q += strspn(q, " :=[");
            size_t length = strspn(q, "0123456789");
            if (length && length < 8 && q != p + n)
                return (int32_t)strtol(q, NULL, 10);
        }
    }
    return RANK_UNKNOWN;
}

static bool ended(struct death *out, const struct line *line, int32_t number)
{
    *out = (struct death){.number = number, .rank = rank_of(line), .role = ROLE_UNKNOWN};
    if (number < 0 && number >= -64) {
        out->is_signal = true;
        out->number = -number;
    } else if (number > 128 && number <= 128 + 31) { /* as a shell tells it */
        out->is_signal = true;
        out->number = number - 128;
    }
    if (out->is_signal)
        out->role = out->number == 15 || out->number == 2 || out->number == 1 ? ROLE_CASCADE : ROLE_INITIATING;
    return true;
}

static bool died(struct death *out, const struct line *line, int number)
{
    return number > 0 && number < 65 && ended(out, line, -number);
}

/* exitcode: -9   exits with return code = -9   Exited with exit code 1   exit status 1 */
static bool exit_status(const struct line *line, struct death *out)
{
    static const char *const words[] = {"exitcode",  "return code",      "returncode",         "exit code",   "exit status",
                                        "exit_code", "exited with code", "exited with status", "status code", "returned non-zero exit"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *p = line_find(line, words[i]);
        int32_t number;
        if (!p || !number_behind(p + strlen(words[i]), &number))
            continue;
        if (!strcmp(words[i], "status code") && !line_find(line, "exit"))
            continue; /* HTTP has those, too */
        return ended(out, line, number);
    }
    return false;
}

static bool signal_number(const struct line *line, struct death *out)
{
    static const char *const words[] = {"exited on signal", "Caught signal", "killed by signal", "terminated by signal",
                                        "by signal",        "on signal",     "with signal",      "got signal"};
    const char *text = line->text, *p;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int32_t number;
        if (!(p = line_find(line, words[i])))
            continue;
        p += strlen(words[i]);
        if (number_behind(p, &number))
            return died(out, line, number);
        p += strspn(p, ": ");
        int named = signal_by_name(p);
        if (named)
            return died(out, line, named);
    }
    if ((p = line_find_exact(line, "Signals.SIG"))) /* died with <Signals.SIGSEGV: 11> */
        return died(out, line, signal_by_name(p + 8));
    if ((p = line_find_exact(line, "Signal ")) && isdigit((unsigned char)p[7]) && strstr(p, " received by PID"))
        return died(out, line, atoi(p + 7));
    if ((p = line_find_exact(line, "Signal: ")) && strchr(p, '(') && signal_by_name(p + 8)) /* Open MPI: *** Signal: Bus error (7) */
        return died(out, line, signal_by_name(p + 8));
    if ((p = line_find_exact(line, "death signal")) && p - text > 3 && isdigit((unsigned char)p[-2])) { /* Received 15 death signal */
        const char *q = p - 2;
        while (q > text && isdigit((unsigned char)q[-1]))
            q--;
        return died(out, line, atoi(q));
    }
    return false;
}

/* Killed   line 3: 1234 Segmentation fault (core dumped) python ..   srun: error: node: task 3: Killed   [1] + 123 killed */
static bool shell_word(const struct line *line, struct death *out)
{
    const char *text = line->text;
    for (size_t i = 0; i < SIGNALS; i++) {
        const char *word = signals[i].description;
        size_t n = strlen(word);
        if (signals[i].number == 1 || signals[i].number == 2 || signals[i].number == 3 || signals[i].number == 13)
            continue;
        const char *p = line_find(line, word);
        if (!p || isalnum((unsigned char)p[n]) || (p > text && isalnum((unsigned char)p[-1])))
            continue;
        const char *rest = p + n;
        bool alone = p == text + strspn(text, " ") && (rest[strspn(rest, " .!")] == '\0' || rest[strspn(rest, " ")] == '(');
        bool dumped = strstr(rest, "core dumped") != NULL;
        bool task = p - text > 2 && p[-1] == ' ' && p[-2] == ':' && line_find(line, "task") && rest[strspn(rest, " .")] == '\0';
        bool shell =
            p - text > 2 && p[-1] == ' ' && isdigit((unsigned char)p[-2]) && rest[strspn(rest, " ")] && line_find_exact(line, "line ");
        bool fatal = p > text && !strncmp(text, "Fatal Python error", 18);
        if (alone || dumped || task || shell || fatal)
            return died(out, line, signals[i].number);
    }
    return false;
}

static bool system_word(const struct line *line, struct death *out)
{
    if (line_find_exact(line, "OOMKilled") || line_find_exact(line, "Out of memory: Kill") ||
        line_find_exact(line, "Memory cgroup out of memory: Kill") || line_find_exact(line, "oom_kill event") ||
        line_find(line, "oom-kill event") || line_find(line, "oom_kill event"))
        return died(out, line, 9);
    if (line_find_exact(line, ": Out Of Memory") && line_find_exact(line, "task"))
        return died(out, line, 9);
    if (line_find_exact(line, ": segfault at ") || line_find_exact(line, "]: segfault at"))
        return died(out, line, 11);
    return false;
}

bool death_read(const struct line *line, struct death *out)
{
    if (line_find(line, "no segmentation fault") || line_find(line, "handler for signal") || line_find_exact(line, "sigkill_handler]"))
        return exit_status(line, out);
    return system_word(line, out) || signal_number(line, out) || exit_status(line, out) || shell_word(line, out);
}

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "scan/words.h"

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && !memcmp(text + length - n, end, n);
}

/* Names of exceptions that don't end in Error or Exception. */
static bool is_special_name(const char *name, size_t length)
{
    static const char *const names[] = {"KeyboardInterrupt", "SystemExit", "StopIteration", "StopAsyncIteration", "GeneratorExit",
                                        "TimeoutExpired",    "Empty",      "Full",          "RemoteTraceback",    "TrainingInterrupt"};
    const char *dot = memrchr(name, '.', length);
    const char *last = dot ? dot + 1 : name;
    size_t n = (size_t)(name + length - last);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], last, n))
            return true;
    return false;
}

bool exception_read(const char *line, bool bare, struct span *type, struct span *message)
{
    const char *p = line + strspn(line, " |+");
    if (!strncmp(p, "E ", 2)) /* pytest */
        p += 2 + strspn(p + 2, " ");
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.')
        n++;
    if (n < 4 || n > 160 || !(isalpha((unsigned char)*p) || *p == '_')) /* _pickle.PicklingError, __main__.MyError */
        return false;
    size_t name = n;
    if (p[n] == '(') { /* ray.exceptions.RayTaskError(ValueError) */
        size_t inner = strcspn(p + n, ")");
        if (p[n + inner] != ')')
            return false;
        n += inner + 1;
    }
    if (p[n] != ':' && !(bare && p[n] == '\0'))
        return false;
    if (p[n] == ':' && p[n + 1] != ' ' && p[n + 1] != '\0')
        return false;
    const char *dot = memrchr(p, '.', name);
    const char *last = dot ? dot + 1 : p;
    bool looks = ends_with(p, name, "Error") || ends_with(p, name, "Exception") || ends_with(p, name, "ErrorImpl") ||
                 is_special_name(p, name) || ends_with(p, name, "ExceptionGroup");
    if (!looks || !isupper((unsigned char)*last))
        return false;
    if (!bare && name == strlen("Error") && p[n] == ':' && !strncmp(p, "Error", 5))
        return false; /* "Error: ..." is anybody's */
    *type = (struct span){p, n};
    const char *rest = p[n] ? p + n + 1 : p + n;
    rest += strspn(rest, " ");
    if (!bare && *line == ' ' && (!strncasecmp(rest, "if ", 3) || !strncasecmp(rest, "when ", 5)))
        return false; /* "    ValueError: If the size is negative", what a manual says a function raises */
    *message = (struct span){rest, strlen(rest)};
    return true;
}

enum sig_role exception_role(const char *type, const char *message)
{
    static const char *const cascade_types[] = {"ChildFailedError",       "SignalException",        "CalledProcessError",
                                                "ProcessRaisedException", "ProcessExitedException", "ActorDiedError",
                                                "RayActorError",          "HorovodInternalError",   "WorkerCrashedError",
                                                "BrokenPipeError",        "ConnectionResetError",   "EOFError"};
    static const char *const cascade_messages[] = {"onnection closed by peer",
                                                   "onnection reset by peer",
                                                   "Broken pipe",
                                                   "atchdog caught collective",
                                                   "remote process exited",
                                                   "Remote process has closed",
                                                   "remote peer has",
                                                   "due to connection reset",
                                                   "NCCL communicator was aborted",
                                                   "rank failed to pass",
                                                   "Horovod has been shut down",
                                                   "Some NCCL operations have failed or timed out",
                                                   "ocket closed",
                                                   "Terminating process",
                                                   "The actor died unexpectedly"};
    if (!strncmp(type, "KeyboardInterrupt", 17) || !strncmp(type, "SystemExit", 10) || !strncmp(type, "GeneratorExit", 13))
        return ROLE_TEARDOWN;
    for (size_t i = 0; i < sizeof cascade_types / sizeof cascade_types[0]; i++)
        if (strstr(type, cascade_types[i]))
            return ROLE_CASCADE;
    for (size_t i = 0; i < sizeof cascade_messages / sizeof cascade_messages[0]; i++)
        if (strstr(message, cascade_messages[i]))
            return ROLE_CASCADE;
    if (strcasestr(message, "timed out") || strcasestr(message, "timeout"))
        return ROLE_UNKNOWN; /* its own network trouble, or a peer that never came */
    return ROLE_INITIATING;
}

bool is_user_file(const char *file)
{
    static const char *const libraries[] = {"/site-packages/", "/dist-packages/", "/lib/python",    "/lib64/python",
                                            "<frozen ",        "/bin/",           "/pytorch/torch/"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strstr(file, libraries[i]))
            return false;
    return *file != '<' || !strcmp(file, "<string>") || !strcmp(file, "<stdin>");
}

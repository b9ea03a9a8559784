#include "launched.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINGER_MS 500
#define GRACE_SECONDS 2

static const char *rank_variable(void)
{
    static const char *const variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value && strspn(value, "0123456789") == strlen(value))
            return value;
    }
    return NULL;
}

static void end_soon(int signal_number)
{
    (void)signal_number;
    (void)alarm(GRACE_SECONDS);
}

void launched_begin(void)
{
    struct sigaction action = {.sa_handler = end_soon, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
    if (rank_variable())
        (void)sigaction(SIGTERM, &action, NULL);
}

void launched_end(int status)
{
    const struct timespec linger = {.tv_nsec = LINGER_MS * 1000000L};
    if (status && rank_variable())
        (void)nanosleep(&linger, NULL);
}

const char *launched_file_name(const char *pattern, char *out, size_t size)
{
    char host[256] = "";
    const char *rank = rank_variable();
    size_t used = 0;
    (void)gethostname(host, sizeof host - 1);
    *out = '\0';
    for (const char *p = pattern; *p && used + 1 < size; p++) {
        const char *part = p[0] == '%' && p[1] == 'r' ? (rank ? rank : "0") : p[0] == '%' && p[1] == 'h' ? host : NULL;
        int length = part ? snprintf(out + used, size - used, "%s", part) : snprintf(out + used, size - used, "%c", *p);
        used += length > 0 ? (size_t)length : 0;
        p += part != NULL;
    }
    return out;
}

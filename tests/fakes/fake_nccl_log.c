#include "fake_nccl.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *stream;
static char last[1024];

int fake_version(void)
{
    const char *text = getenv("FAKE_NCCL_VERSION");
    return text && *text ? atoi(text) : NCCL_VERSION(2, 21, 5);
}

static int level(void)
{
    const char *debug = getenv("NCCL_DEBUG");
    return !debug ? 0 : !strcmp(debug, "INFO") || !strcmp(debug, "TRACE") ? 3 : !strcmp(debug, "WARN") ? 2 : 0;
}

static void write_line(const char *before, int device, const char *kind, const char *format, va_list args)
{
    (void)pthread_mutex_lock(&lock);
    const char *file = getenv("NCCL_DEBUG_FILE");
    if (!stream)
        stream = file && *file ? fopen(file, "w") : stdout;
    if (stream) {
        (void)fprintf(stream, "%sfake-host:%d:%d [%d] %s ", before, (int)getpid(), (int)gettid(), device, kind);
        (void)vfprintf(stream, format, args);
        (void)fputc('\n', stream);
        (void)fflush(stream);
    }
    (void)pthread_mutex_unlock(&lock);
}

void fake_info(int device, const char *format, ...)
{
    if (level() < 3)
        return;
    va_list args;
    va_start(args, format);
    write_line("", device, "NCCL INFO", format, args);
    va_end(args);
}

void fake_warn(int device, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)pthread_mutex_lock(&lock);
    (void)vsnprintf(last, sizeof last, format, args);
    (void)pthread_mutex_unlock(&lock);
    va_end(args);
    if (level() < 2)
        return;
    va_start(args, format);
    write_line("\n", device, "fake.cc:1 NCCL WARN", format, args);
    va_end(args);
}

const char *fake_last_warning(void)
{
    return last;
}

/* NCCL_SOCKET_IFNAME: names or beginnings joined by commas; '^' before all: not these; '=': exactly these. */
static bool chosen(const char *setting, const char *name)
{
    bool exclude = *setting == '^', exact = false, listed = false;
    setting += exclude;
    exact = *setting == '=';
    setting += exact;
    while (*setting) {
        size_t length = strcspn(setting, ",");
        listed = listed || (!strncmp(setting, name, length) && (!exact || strlen(name) == length));
        setting += length + (setting[length] == ',');
    }
    return listed != exclude;
}

bool fake_interface(char *name, char *address, size_t size)
{
    const char *list = getenv("FAKE_NCCL_IFACES"), *setting = getenv("NCCL_SOCKET_IFNAME");
    for (list = list ? list : "eth0:10.0.0.5"; *list;) {
        size_t length = strcspn(list, ","), colon = strcspn(list, ":");
        (void)snprintf(name, size, "%.*s", (int)colon, list);
        (void)snprintf(address, size, "%.*s", (int)(length - colon - 1), list + colon + 1);
        if (!setting || !*setting || chosen(setting, name))
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}

#include "common/kit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kit kit_start(const dtkb_host_v1 *host, const dtkb_call_v1 *call)
{
    return (struct kit){.host = host, .call = call, .result = DTKB_HEALTHY};
}

dtkb_result kit_finish(const struct kit *kit)
{
    return kit->result;
}

bool kit_stop(struct kit *kit)
{
    if (!kit->stopped && kit->host->should_stop(kit->call)) {
        kit->stopped = true;
        kit->result = DTKB_STOPPED;
    }
    return kit->stopped;
}

/* ---- results ---- */

/* A fault outranks what merely could not be seen; within a rank the first reason is the nearest to the cause. */
static void settle(struct kit *kit, dtkb_result result, const char *format, va_list args)
{
    if (kit->stopped || kit->result == DTKB_FAULT || (kit->result != DTKB_HEALTHY && result != DTKB_FAULT))
        return;
    char text[512];
    (void)vsnprintf(text, sizeof text, format, args);
    kit->result = result;
    kit->host->reason(kit->call, text);
}

void kit_fault(struct kit *kit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    settle(kit, DTKB_FAULT, format, args);
    va_end(args);
}

void kit_skip(struct kit *kit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    settle(kit, DTKB_SKIPPED, format, args);
    va_end(args);
}

void kit_unavailable(struct kit *kit, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    settle(kit, DTKB_UNAVAILABLE, format, args);
    va_end(args);
}

void kit_log(const struct kit *kit, uint32_t level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kit->host->log(kit->call, level, text);
}

/* ---- facts ---- */

static void emit(struct kit *kit, dtkb_fact_type type, dtkb_fact_value value, const char *unit, const char *origin, const char *format,
                 va_list args)
{
    char name[DTKB_FACT_NAME_MAX + 1];
    int length = vsnprintf(name, sizeof name, format, args);
    if (kit->stopped || length < 0 || (size_t)length >= sizeof name) /* a device with a name beyond all measure */
        return;
    const dtkb_fact_v1 fact = {.struct_size = (uint32_t)sizeof fact,
                               .type = type,
                               .name = name,
                               .unit = unit,
                               .origin = origin,
                               .value = value,
                               .flags = kit->wrong ? DTKB_FACT_WRONG : 0};
    kit->wrong = false;
    dtkb_result answer = kit->host->emit(kit->call, &fact);
    if (answer != DTKB_HEALTHY) {
        kit->stopped = true;
        kit->result = answer;
    }
}

void kit_wrong(struct kit *kit, bool wrong)
{
    kit->wrong = wrong;
}

void kit_bool(struct kit *kit, bool value, const char *origin, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    emit(kit, DTKB_FACT_BOOL, (dtkb_fact_value){.u64 = value}, "", origin, name, args);
    va_end(args);
}

void kit_u64(struct kit *kit, uint64_t value, const char *unit, const char *origin, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    emit(kit, DTKB_FACT_U64, (dtkb_fact_value){.u64 = value}, unit, origin, name, args);
    va_end(args);
}

void kit_i64(struct kit *kit, int64_t value, const char *unit, const char *origin, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    emit(kit, DTKB_FACT_I64, (dtkb_fact_value){.i64 = value}, unit, origin, name, args);
    va_end(args);
}

void kit_f64(struct kit *kit, double value, const char *unit, const char *origin, const char *name, ...)
{
    va_list args;
    va_start(args, name);
    emit(kit, DTKB_FACT_F64, (dtkb_fact_value){.f64 = value}, unit, origin, name, args);
    va_end(args);
}

void kit_string(struct kit *kit, const char *value, const char *origin, const char *name, ...)
{
    char cut[DTKB_FACT_STRING_MAX + 1];
    if (strnlen(value, sizeof cut) == sizeof cut) {
        size_t length = sizeof cut - 1;
        while (length && ((unsigned char)value[length] & 0xc0) == 0x80) /* between characters */
            length--;
        memcpy(cut, value, length);
        cut[length] = '\0';
        value = cut;
    }
    va_list args;
    va_start(args, name);
    emit(kit, DTKB_FACT_STRING, (dtkb_fact_value){.string = value}, "", origin, name, args);
    va_end(args);
}

const char *kit_part(char *out, size_t size, const char *text)
{
    size_t length = 0;
    for (; text[length] && length + 1 < size; length++) {
        unsigned char c = (unsigned char)text[length];
        out[length] = (char)(c <= ' ' || c == '.' || c == 0x7f ? '_' : c);
    }
    if (!length && size > 1)
        out[length++] = '_';
    out[length] = '\0';
    return out;
}

const char *kit_after(const char *text, char separator)
{
    const char *found = strchr(text, separator);
    return found ? found + 1 : NULL;
}

/* ---- environment ---- */

const char *kit_env(const struct kit *kit, const char *name)
{
    size_t length = strlen(name);
    for (const char *const *entry = kit->call->env; entry && *entry; entry++)
        if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
            return *entry + length + 1;
    return NULL;
}

const char *kit_param(const struct kit *kit, const char *name, const char *otherwise)
{
    const char *value = kit->host->param(kit->call, name);
    return value ? value : otherwise;
}

/* ---- files ---- */

void *kit_memory(const struct kit *kit, size_t bytes)
{
    return kit->host->scratch(kit->call, bytes);
}

static bool build_path(char *out, size_t size, const char *root, const char *format, va_list args)
{
    int start = snprintf(out, size, "%s/", root);
    if (start > 0 && (size_t)start < size) {
        int rest = vsnprintf(out + start, size - (size_t)start, format, args);
        if (rest >= 0 && (size_t)rest < size - (size_t)start)
            return true;
    }
    errno = ENAMETOOLONG;
    return false;
}

/* Bytes read into `out`, or -1 with errno. Never blocks on a pipe or device that happens to have the name. */
static ssize_t read_some(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    size_t length = 0;
    ssize_t n = 1;
    while (length < size && (n = read(fd, out + length, size - length)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        length += (size_t)n;
    }
    int error = errno;
    (void)close(fd);
    errno = error;
    return n < 0 ? -1 : (ssize_t)length;
}

char *kit_read(const struct kit *kit, size_t maximum, size_t *length, const char *root, const char *path, ...)
{
    char full[PATH_MAX];
    va_list args;
    va_start(args, path);
    bool fits = build_path(full, sizeof full, root, path, args);
    va_end(args);
    char *text = fits ? kit_memory(kit, maximum + 1) : NULL;
    ssize_t n = text ? read_some(full, text, maximum) : -1;
    if (n < 0)
        return NULL;
    text[n] = '\0';
    if (length)
        *length = (size_t)n;
    return text;
}

static bool first_line(char *out, size_t size, const char *root, const char *path, va_list args)
{
    char full[PATH_MAX];
    ssize_t n = build_path(full, sizeof full, root, path, args) ? read_some(full, out, size - 1) : -1;
    if (n < 0)
        return false;
    out[n] = '\0';
    size_t end = strcspn(out, "\n");
    while (end && (out[end - 1] == ' ' || out[end - 1] == '\t' || out[end - 1] == '\r'))
        end--;
    out[end] = '\0';
    return true;
}

bool kit_read_line(const struct kit *kit, char *out, size_t size, const char *root, const char *path, ...)
{
    (void)kit;
    va_list args;
    va_start(args, path);
    bool good = first_line(out, size, root, path, args);
    va_end(args);
    return good;
}

bool kit_read_u64(const struct kit *kit, uint64_t *out, const char *root, const char *path, ...)
{
    (void)kit;
    char line[64];
    va_list args;
    va_start(args, path);
    bool good = first_line(line, sizeof line, root, path, args);
    va_end(args);
    if (!good)
        return false;
    if (!strcmp(line, "max")) {
        *out = UINT64_MAX;
        return true;
    }
    char *end;
    errno = 0;
    uint64_t number = strtoull(line, &end, strncmp(line, "0x", 2) ? 10 : 16);
    if (end == line || *line == '-' || errno || (*end && *end != ' ' && *end != '\t'))
        return false;
    *out = number;
    return true;
}

bool kit_exists(const struct kit *kit, const char *root, const char *path, ...)
{
    (void)kit;
    char full[PATH_MAX];
    va_list args;
    va_start(args, path);
    bool good = build_path(full, sizeof full, root, path, args) && access(full, F_OK) == 0;
    va_end(args);
    return good;
}

static int not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static const char *copy_name(const struct kit *kit, const char *name)
{
    size_t length = strlen(name);
    char *copy = kit_memory(kit, length + 1);
    return copy ? memcpy(copy, name, length + 1) : NULL;
}

const char **kit_list(const struct kit *kit, size_t *count, const char *root, const char *path, ...)
{
    char full[PATH_MAX];
    va_list args;
    va_start(args, path);
    bool fits = build_path(full, sizeof full, root, path, args);
    va_end(args);
    struct dirent **entries = NULL;
    int found = fits ? scandir(full, &entries, not_dots, versionsort) : -1;
    if (found < 0)
        return NULL;
    const char **names = kit_memory(kit, ((size_t)found + 1) * sizeof *names);
    *count = 0;
    for (int i = 0; i < found; i++) {
        const char *name = names ? copy_name(kit, entries[i]->d_name) : NULL;
        if (name)
            names[(*count)++] = name;
        free(entries[i]);
    }
    free(entries);
    return names;
}

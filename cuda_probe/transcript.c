#include "transcript.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRANSCRIPT_MAX ((size_t)4 << 20)
#define EVIDENCE_MAX ((size_t)192 << 10)

void transcript_start(struct transcript *transcript)
{
    const char *level = getenv("NCCL_DEBUG");
    if (!level || (strcmp(level, "INFO") != 0 && strcmp(level, "TRACE") != 0))
        (void)setenv("NCCL_DEBUG", "INFO", 1);
    (void)setenv("NCCL_DEBUG_SUBSYS", "INIT,BOOTSTRAP,ENV,NET", 1); /* unknown names are ignored */
    char path[64];
    transcript->fd = memfd_create("nccl-log", MFD_CLOEXEC);
    if (transcript->fd < 0) {
        (void)unsetenv("NCCL_DEBUG_FILE");
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", transcript->fd);
    (void)setenv("NCCL_DEBUG_FILE", path, 1);
}

static void copy_word(const char *from, const char *end, char *out, size_t size)
{
    size_t length = 0;
    while (from < end && length + 1 < size && isgraph((unsigned char)*from) && *from != '[' && *from != '<')
        out[length++] = *from++;
    out[length] = '\0';
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

static void add_word(char *list, size_t size, const char *word)
{
    size_t length = strlen(list);
    if (*word && !has_word(list, word) && length + strlen(word) + 2 <= size)
        (void)snprintf(list + length, size - length, "%s%s", length ? "," : "", word);
}

/* The slowest first: what holds a job back is the worst link. */
static const char *const transport_kinds[] = {"NET/Socket", "NET/IB", "NET/", "COLLNET", "NVLS", "SHM", "P2P"};
#define TRANSPORT_KINDS (sizeof transport_kinds / sizeof *transport_kinds)

/* "Using [0]eth0:10.0.0.5<0> [1]eth1:.." or "Using eth0:10.0.0.5<0>" */
static void read_interface(const char *text, const char *end, struct nccl_choices *out)
{
    text += strspn(text, " ");
    if (*text == '[')
        text += strcspn(text, "]") + 1;
    const char *colon = memchr(text, ':', (size_t)(end > text ? end - text : 0));
    if (!colon)
        return;
    copy_word(text, colon, out->interface, sizeof out->interface);
    copy_word(colon + 1, end, out->address, sizeof out->address);
}

/* "Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.5<0>" */
static void read_rdma(const char *text, const char *end, struct nccl_choices *out)
{
    char word[64];
    const char *socket = memmem(text, (size_t)(end - text), "OOB ", 4);
    for (const char *at = text; at < (socket ? socket : end); at++)
        if (*at == ']' && at + 1 < end && isalpha((unsigned char)at[1])) {
            copy_word(at + 1, end, word, sizeof word);
            add_word(out->devices, sizeof out->devices, word);
        }
    if (socket)
        read_interface(socket + 4, end, out);
}

static const char *after(const char *line, const char *end, const char *wanted)
{
    const char *at = memmem(line, (size_t)(end - line), wanted, strlen(wanted));
    return at ? at + strlen(wanted) : NULL;
}

static void read_line(const char *line, const char *end, struct nccl_choices *out, bool *seen)
{
    const char *at;
    if ((at = after(line, end, "NCCL WARN ")) != NULL)
        (void)snprintf(out->last_warning, sizeof out->last_warning, "%.*s", (int)(end - at), at);
    else if ((at = after(line, end, " via ")) != NULL) {
        for (size_t kind = 0; kind < TRANSPORT_KINDS; kind++)
            if (!strncmp(at, transport_kinds[kind], strlen(transport_kinds[kind]))) {
                seen[kind] = true;
                return;
            }
    } else if (after(line, end, "NVLS comm ") != NULL)
        seen[4] = true;
    else if ((at = after(line, end, "NET/IB : Using ")) != NULL)
        read_rdma(at, end, out);
    else if ((at = after(line, end, "Using network ")) != NULL)
        (void)snprintf(out->network, sizeof out->network, "%.*s", (int)(end - at), at);
    else if ((at = after(line, end, "NET/Socket : Using ")) != NULL || (at = after(line, end, "Bootstrap : Using ")) != NULL ||
             (at = after(line, end, "Bootstrap: Using ")) != NULL)
        read_interface(at, end, out);
}

void transcript_read(const char *text, struct nccl_choices *out)
{
    bool seen[TRANSPORT_KINDS] = {false};
    *out = (struct nccl_choices){0};
    while (*text) {
        const char *end = text + strcspn(text, "\r\n");
        read_line(text, end, out, seen);
        text = end + (*end != '\0');
    }
    for (size_t kind = 0; kind < TRANSPORT_KINDS; kind++)
        if (seen[kind])
            add_word(out->transports, sizeof out->transports, kind == 2 ? "NET" : transport_kinds[kind]);
}

/* The text so far, NUL-terminated; NULL when there is none. */
static char *read_all(const struct kit *kit, int fd, size_t *length)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_size <= 0)
        return NULL;
    size_t size = (size_t)info.st_size < TRANSCRIPT_MAX ? (size_t)info.st_size : TRANSCRIPT_MAX;
    char *text = kit_memory(kit, size + 1);
    ssize_t n = text ? pread(fd, text, size, 0) : -1;
    if (n <= 0)
        return NULL;
    for (ssize_t i = 0; i < n; i++) /* a NUL would hide what follows */
        text[i] = text[i] ? text[i] : ' ';
    *length = (size_t)n;
    return text;
}

const char *transcript_finish(const struct kit *kit, struct transcript *transcript, size_t *length)
{
    *length = 0;
    if (transcript->fd < 0)
        return NULL;
    const char *text = read_all(kit, transcript->fd, length);
    (void)close(transcript->fd); /* NCCL has opened it for itself */
    transcript->fd = -1;
    /* Errors stand at the end. */
    size_t shown = *length < EVIDENCE_MAX ? *length : EVIDENCE_MAX;
    if (text)
        kit->host->evidence(kit->call, "NCCL", text + *length - shown, shown);
    return text;
}

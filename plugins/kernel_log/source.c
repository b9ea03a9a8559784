#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/command.h"

enum { BLOCK = 1 << 18, LINE_MAX_BYTES = 1 << 13 };
#define TAIL_MAX ((off_t)16 << 20) /* of a file: the end is what matters, and a kernel keeps far less itself */
#define JOURNAL_MAX ((size_t)16 << 20)

/* Cuts a stream of blocks into lines. What a line has beyond its measure is dropped. */
struct cutter {
    source_line_fn *line;
    void *context;
    size_t length;
    char text[LINE_MAX_BYTES];
};

static void end_line(struct cutter *cutter)
{
    cutter->text[cutter->length] = '\0';
    const char *text = cutter->text;
    while (text < cutter->text + cutter->length && !*text) /* what a crash leaves in a file */
        text++;
    cutter->line(cutter->context, text);
    cutter->length = 0;
}

static void cut(struct cutter *cutter, const char *block, size_t size)
{
    for (const char *at = block, *end = block + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t piece = (size_t)((newline ? newline : end) - at), room = sizeof cutter->text - 1 - cutter->length;
        memcpy(cutter->text + cutter->length, at, piece < room ? piece : room);
        cutter->length += piece < room ? piece : room;
        if (!newline)
            return;
        end_line(cutter);
        at = newline + 1;
    }
}

/* Reads to the end, or until /dev/kmsg has nothing more. Each read of that device is one record. */
static bool read_stream(struct kit *kit, int fd, struct cutter *cutter)
{
    static char block[BLOCK];
    bool any = false;
    while (!kit_stop(kit)) {
        ssize_t n = read(fd, block, sizeof block);
        if (n < 0 && (errno == EINTR || errno == EPIPE)) /* EPIPE: records were overwritten while we read */
            continue;
        if (n < 0 && errno != EAGAIN && !any)
            return false;
        if (n <= 0)
            break;
        any = true;
        cut(cutter, block, (size_t)n);
    }
    if (cutter->length)
        end_line(cutter);
    return true;
}

static bool read_file(struct kit *kit, const char *path, struct source *source, struct cutter *cutter)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool good = fd >= 0 && fstat(fd, &info) == 0;
    if (good && !S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode)) {
        errno = EINVAL;
        good = false;
    }
    if (good && S_ISREG(info.st_mode) && info.st_size > TAIL_MAX) {
        good = lseek(fd, info.st_size - TAIL_MAX, SEEK_SET) >= 0;
        kit_log(kit, 2, "%s: only its last %lld MiB were read", path, (long long)(TAIL_MAX >> 20));
    }
    good = good && read_stream(kit, fd, cutter);
    int error = errno;
    if (fd >= 0)
        (void)close(fd);
    (void)snprintf(source->name, sizeof source->name, "%s", path);
    if (!good)
        (void)snprintf(source->problem, sizeof source->problem, "%s: %s", path, strerror(error));
    return good;
}

static bool read_journal(struct kit *kit, struct source *source, struct cutter *cutter)
{
    static const char *const words[] = {"-k", "-b", "-q", "--no-pager", "-o", "short-iso", "-n", "20000", NULL};
    const struct command command = {.program = "journalctl", .words = words, .seconds = 3, .maximum = JOURNAL_MAX};
    struct command_result result;
    char problem[256] = "shows this user no kernel messages";
    (void)command_run(kit, &command, &result);
    (void)snprintf(source->name, sizeof source->name, "journalctl -k");
    if (result.length) { /* also of one that was ended: what it said, it said */
        cut(cutter, result.output, result.length);
        if (cutter->length)
            end_line(cutter);
        return true;
    }
    if (result.end != COMMAND_ENDED || result.status)
        (void)snprintf(problem, sizeof problem, "%.200s", result.end == COMMAND_TOO_SLOW ? "gave no answer in time" : result.error);
    size_t used = strlen(source->problem);
    (void)snprintf(source->problem + used, sizeof source->problem - used, "; journalctl: %.*s", (int)strcspn(problem, "\n"), problem);
    return false;
}

bool source_read(struct kit *kit, struct source *source, source_line_fn *line, void *context)
{
    static struct cutter cutter;
    cutter = (struct cutter){.line = line, .context = context};
    *source = (struct source){.live = false};
    const char *file = kit_param(kit, "file", NULL);
    if (file)
        return read_file(kit, file, source, &cutter);
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/kmsg", kit->call->dev_root);
    source->live = !strcmp(kit->call->dev_root, "/dev");
    return read_file(kit, path, source, &cutter) || (source->live && read_journal(kit, source, &cutter));
}

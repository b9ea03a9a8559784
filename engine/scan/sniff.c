#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/scan_private.h"

static bool is_compressed(const unsigned char *p, size_t length)
{
    static const struct {
        const char *magic;
        size_t length, at;
    } magics[] = {{"\x1f\x8b", 2, 0},
                  {"\xfd"
                   "7zXZ",
                   5, 0},
                  {"\x28\xb5\x2f\xfd", 4, 0},
                  {"BZh", 3, 0},
                  {"\x04\x22\x4d\x18", 4, 0},
                  {"PK\x03\x04", 4, 0},
                  {"7z\xbc\xaf", 4, 0},
                  {"ustar", 5, 257}};
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (length >= magics[i].at + magics[i].length && !memcmp(p + magics[i].at, magics[i].magic, magics[i].length))
            return true;
    return false;
}

enum content sniff(const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    size_t odd = 0, nul = 0;
    if (length > SNIFF_BYTES)
        length = SNIFF_BYTES;
    if (length >= 2 && ((p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff)))
        return CONTENT_UTF16;
    if (is_compressed(p, length))
        return CONTENT_COMPRESSED;
    if (length >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5)
        return CONTENT_PICKLE;
    for (size_t i = 0; i < length; i++) {
        nul += p[i] == 0;
        odd += p[i] && p[i] < 0x20 && !strchr("\a\b\t\n\v\f\r\x1b", p[i]);
    }
    /* A log with a hole in it (a crash, a file system) has runs of NULs, but no other controls. */
    size_t seen = length - nul;
    return odd * 20 > seen || (nul > 16 && odd > 4) ||
                   (nul && !memcmp(p,
                                   "\x7f"
                                   "ELF",
                                   length < 4 ? length : 4))
               ? CONTENT_BINARY
               : CONTENT_TEXT;
}

/* The number that ends at `end`, if it is one of at most six digits. */
static int32_t number_before(const char *start, const char *end, const char **begin)
{
    const char *p = end;
    while (p > start && p[-1] >= '0' && p[-1] <= '9')
        p--;
    *begin = p;
    return p == end || end - p > 6 ? RANK_UNKNOWN : (int32_t)strtol(p, NULL, 10);
}

/* rank_3.log  rank3.err  worker-3.out  stderr.3  log_rank_3  attempt_0/3/stderr.log  rank.3/stderr */
int32_t rank_of_name(const char *path)
{
    static const char *const words[] = {"global_rank", "rank", "worker", "trainer", "task", "proc"};
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    const char *parent = path;
    if (name > path) {
        const char *p = name - 1;
        while (p > path && p[-1] != '/')
            p--;
        parent = p;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *places[] = {name, parent};
        for (size_t k = 0; k < 2; k++) {
            const char *p = strcasestr(places[k], words[i]);
            if (!p)
                continue;
            p += strlen(words[i]);
            p += strspn(p, "_-.=");
            size_t digits = strspn(p, "0123456789");
            if (digits && digits < 7)
                return (int32_t)strtol(p, NULL, 10);
        }
    }
    bool is_std = !strncmp(name, "stdout", 6) || !strncmp(name, "stderr", 6) || !strncmp(name, "error.json", 10);
    const char *begin;
    if (is_std && name > path) { /* torchrun --log-dir: attempt_0/3/stderr.log */
        int32_t rank = number_before(parent, name - 1, &begin);
        if (begin == parent && rank != RANK_UNKNOWN)
            return rank;
    }
    if (is_std) {
        int32_t rank = number_before(name, name + strlen(name), &begin);
        if (rank != RANK_UNKNOWN && begin > name && begin[-1] == '.')
            return rank;
    }
    return RANK_UNKNOWN;
}

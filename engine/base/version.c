#include "base/version.h"

#include <ctype.h>
#include <string.h>
#include <stdlib.h>

/* Reads the next dotted number; returns -1 where the numeric part ends and leaves `*text` there. */
static long next_number(const char **text)
{
    const char *p = *text;
    if (*p == '.' || *p == 'v')
        p++;
    if (!isdigit((unsigned char)*p))
        return -1;
    char *end;
    long number = strtol(p, &end, 10);
    *text = end;
    return number;
}

static int is_prerelease(const char *rest)
{
    if (*rest == '.' || *rest == '-' || *rest == '_')
        rest++;
    return !strncmp(rest, "rc", 2) || !strncmp(rest, "dev", 3) || ((*rest == 'a' || *rest == 'b') && isdigit((unsigned char)rest[1]));
}

int version_compare(const char *left, const char *right)
{
    for (;;) {
        long l = next_number(&left), r = next_number(&right);
        if (l < 0 && r < 0)
            break;
        long l0 = l < 0 ? 0 : l, r0 = r < 0 ? 0 : r;
        if (l0 != r0)
            return l0 < r0 ? -1 : 1;
    }
    return is_prerelease(right) - is_prerelease(left);
}

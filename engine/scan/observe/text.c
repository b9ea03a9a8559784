/* Numbers and words of a line, for the observers. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "scan/observe/text.h"

uint64_t observe_hash(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

bool observe_any(const char *text, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

bool observe_number(const char **p, double *value)
{
    const char *q = *p + (**p == '-' || **p == '+');
    if (!strncasecmp(q, "nan", 3) && !isalnum((unsigned char)q[3])) {
        *value = NAN;
        *p = q + 3;
        return true;
    }
    if (!strncasecmp(q, "inf", 3) && !isalpha((unsigned char)q[3])) {
        *value = INFINITY;
        *p = q + 3;
        return true;
    }
    if (!isdigit((unsigned char)*q) && !(*q == '.' && isdigit((unsigned char)q[1])))
        return false;
    if (*q == '0' && (q[1] == 'x' || q[1] == 'X'))
        return false; /* an address */
    char *end;
    *value = strtod(*p, &end);
    *p = end;
    return isfinite(*value);
}

const char *observe_behind(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strcasestr(p, word)); p += n) {
        bool begins = p == text || !isalnum((unsigned char)p[-1]) || !isalnum((unsigned char)*word);
        bool ends = !isalpha((unsigned char)p[n]) || !isalpha((unsigned char)word[n - 1]);
        if (begins && ends)
            return p + n;
    }
    return NULL;
}

bool observe_after(const char *text, const char *word, double *value, const char **at)
{
    for (const char *p = text; (p = observe_behind(p, word));) {
        const char *q = p + strspn(p, " \t:='\"([");
        const char *begin = q;
        if (q - p <= 8 && observe_number(&q, value)) {
            if (at)
                *at = begin;
            return true;
        }
    }
    return false;
}

bool observe_value(const struct line *line, const char *word, double *value, const char **at)
{
    return line_find(line, word) && observe_after(line->text, word, value, at);
}

void readings_add(struct readings *readings, double value, const struct place *place)
{
    readings->last = *place;
    if (!readings->stride)
        readings->stride = 1;
    if (++readings->skipped < readings->stride)
        return;
    readings->skipped = 0;
    if (readings->count == READINGS_MAX) {
        for (unsigned i = 0; i < READINGS_MAX / 2; i++)
            readings->values[i] = readings->values[2 * i];
        readings->count = READINGS_MAX / 2;
        readings->stride *= 2;
    }
    readings->values[readings->count++] = value;
}

static int ascending(const void *left, const void *right)
{
    const double *l = left, *r = right;
    return (*l > *r) - (*l < *r);
}

double readings_median(const struct readings *readings, unsigned from, unsigned to)
{
    double sorted[READINGS_MAX];
    if (to > readings->count)
        to = readings->count;
    if (from >= to)
        return NAN;
    memcpy(sorted, readings->values + from, (to - from) * sizeof *sorted);
    qsort(sorted, to - from, sizeof *sorted, ascending);
    return sorted[(to - from) / 2];
}

/* Time stamps in front of log lines. Where a zone is named it counts; otherwise the time is taken as UTC. */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "scan/line.h"

/* Reads exactly `digits` digits. */
static bool number(const char **p, int digits, int *out)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)(*p)[i]))
            return false;
        value = value * 10 + ((*p)[i] - '0');
    }
    *p += digits;
    *out = value;
    return true;
}

static bool one_of(const char **p, const char *set)
{
    if (!**p || !strchr(set, **p))
        return false;
    ++*p;
    return true;
}

/* 07:07:05, with an optional fraction behind '.' or ','. */
static bool clock_time(const char **p, double *seconds)
{
    const char *q = *p;
    int h, m, s;
    if (!number(&q, 2, &h) || !one_of(&q, ":") || !number(&q, 2, &m) || !one_of(&q, ":") || !number(&q, 2, &s) || h > 23 || m > 59 ||
        s > 60)
        return false;
    double fraction = 0, scale = 0.1;
    if ((*q == '.' || *q == ',') && isdigit((unsigned char)q[1]))
        for (q++; isdigit((unsigned char)*q); q++) {
            fraction += (*q - '0') * scale;
            scale /= 10;
        }
    *seconds = h * 3600 + m * 60 + s + fraction;
    *p = q;
    return true;
}

static double epoch(int year, int month, int day, double seconds)
{
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31)
        return NAN;
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    return (double)timegm(&tm) + seconds;
}

/* Z, +02:00, +0200 */
static double zone(const char **p)
{
    if (**p == 'Z') {
        ++*p;
        return 0;
    }
    const char *q = *p + 1;
    int h, m;
    if ((**p != '+' && **p != '-') || !number(&q, 2, &h))
        return 0;
    (void)one_of(&q, ":");
    if (!number(&q, 2, &m))
        return 0;
    double offset = (**p == '-' ? -1 : 1) * (h * 3600 + m * 60);
    *p = q;
    return offset;
}

static int month_of(const char *p)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int i = 0; i < 12; i++)
        if (!strncmp(p, names + 3 * i, 3))
            return i + 1;
    return 0;
}

/* 2024-01-31 10:00:00,123  2024-01-31T10:00:00.123456789Z  2024/01/31 10:00:00  20240131 10:00:00 */
static size_t iso(const char *text, double *time)
{
    const char *p = text;
    int year, month, day;
    double seconds;
    if (!number(&p, 4, &year))
        return 0;
    bool separated = one_of(&p, "-/");
    if (!number(&p, 2, &month) || (separated && !one_of(&p, "-/")) || !number(&p, 2, &day) || !one_of(&p, "T -_") ||
        !clock_time(&p, &seconds))
        return 0;
    *time = epoch(year, month, day, seconds - zone(&p));
    return (size_t)(p - text);
}

/* Jan  2 10:00:00 (syslog: no year)  Feb 23 16:24:18 2025  Sun Feb 23 16:24:18 2025  Sun Feb 23 16:24:18 CET 2025 */
static size_t named_month(const char *text, double *time)
{
    const char *p = text;
    int month, day = 0, year;
    double seconds;
    if (isupper((unsigned char)p[0]) && p[1] && p[2] && p[3] == ' ' && !month_of(p))
        p += 4;
    if (!p[0] || !p[1] || !p[2] || !(month = month_of(p)) || p[3] != ' ')
        return 0;
    p += 4;
    if (*p == ' ')
        p++;
    while (isdigit((unsigned char)*p) && day < 32)
        day = day * 10 + (*p++ - '0');
    if (!day || !one_of(&p, " "))
        return 0;
    *time = NAN;
    if (number(&p, 4, &year) && one_of(&p, " ")) { /* Feb 25 2025 13:59:45 */
        if (!clock_time(&p, &seconds))
            return 0;
        *time = epoch(year, month, day, seconds);
        return (size_t)(p - text);
    }
    p -= 0;
    if (!clock_time(&p, &seconds))
        return 0;
    const char *behind = p;
    size_t letters = *p == ' ' ? strspn(p + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") : 0;
    if (letters >= 3 && letters <= 5 && p[1 + letters] == ' ') /* date(1): taken as the zone that the log is written in */
        p += 1 + letters;
    if (one_of(&p, " ") && number(&p, 4, &year) && !isalnum((unsigned char)*p)) {
        *time = epoch(year, month, day, seconds);
        return (size_t)(p - text);
    }
    return (size_t)(behind - text);
}

/* 06-03 10:00:00 and 10:00:00.123: no year, no date */
static size_t short_form(const char *text, double *time)
{
    const char *p = text;
    int month, day;
    double seconds;
    if (number(&p, 2, &month) && one_of(&p, "-/") && number(&p, 2, &day) && one_of(&p, " ")) {
        if (!clock_time(&p, &seconds))
            return 0;
    } else {
        p = text;
        if (!clock_time(&p, &seconds))
            return 0;
    }
    *time = NAN;
    return (size_t)(p - text);
}

size_t stamp_read(const char *text, double *time)
{
    size_t length = iso(text, time);
    if (!length)
        length = named_month(text, time);
    if (!length)
        length = short_form(text, time);
    return length;
}

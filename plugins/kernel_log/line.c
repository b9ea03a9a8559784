#include "line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static const char *skip_word(const char *p)
{
    return skip_blanks(p + strcspn(p, " \t"));
}

/* "priority,sequence,microseconds,flags;message": a priority of 8 and more is not the kernel's own. */
static bool parse_kmsg(const char *text, struct line *out, bool *ours)
{
    char *end;
    unsigned long priority = strtoul(text, &end, 10);
    if (end == text || *end != ',')
        return false;
    const char *sequence = end + 1;
    (void)strtoull(sequence, &end, 10);
    if (end == sequence || *end != ',')
        return false;
    const char *stamp = end + 1;
    unsigned long long microseconds = strtoull(stamp, &end, 10);
    const char *message = *end == ',' ? strchr(end, ';') : NULL;
    if (end == stamp || !message)
        return false;
    *out = (struct line){.message = message + 1, .time = (double)microseconds / 1e6, .since_boot = true};
    *ours = priority < 8;
    return true;
}

static double zone_seconds(const char *text)
{
    int hours = 0, minutes = 0;
    if ((*text != '+' && *text != '-') ||
        (sscanf(text + 1, "%2d:%2d", &hours, &minutes) < 2 && sscanf(text + 1, "%2d%2d", &hours, &minutes) < 2))
        return 0;
    return (*text == '-' ? -1 : 1) * (hours * 3600.0 + minutes * 60.0);
}

/* "2025-01-21T04:41:44,283302+00:00"; returns what stands behind, NULL when it is none. */
static const char *parse_iso(const char *text, double *time)
{
    struct tm day = {.tm_isdst = 0};
    int length = 0;
    if (!isdigit((unsigned char)*text) ||
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour, &day.tm_min, &day.tm_sec,
               &length) != 6 ||
        !length)
        return NULL;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    const char *at = text + length;
    if (*at == ',' || *at == '.')
        at += 1 + strspn(at + 1, "0123456789");
    *time = (double)timegm(&day) - zone_seconds(at);
    return skip_word(at);
}

/* "Sun Feb 23 16:24:18 2025" in the machine's own zone, or "206.764307"; both in brackets. */
static const char *parse_brackets(const char *text, struct line *out)
{
    if (*text != '[')
        return NULL;
    const char *close = strchr(text, ']');
    if (!close || close - text > 40)
        return NULL;
    struct tm day = {.tm_isdst = -1};
    char *end;
    double seconds = strtod(skip_blanks(text + 1), &end);
    if (end == close) {
        out->time = seconds;
        out->since_boot = true;
    } else if (strptime(text + 1, "%a %b %d %H:%M:%S %Y", &day) == close) {
        out->time = (double)mktime(&day);
    } else {
        return NULL;
    }
    return skip_blanks(close + 1);
}

/* "host kernel: message", with or without a number in brackets behind the tag. */
static bool parse_tag(const char *text, struct line *out)
{
    const char *tag = skip_word(text);
    size_t length = strcspn(tag, ": [");
    if (length != 6 || strncmp(tag, "kernel", 6) != 0 || !strchr(tag, ':'))
        return false;
    const char *message = skip_blanks(strchr(tag, ':') + 1), *behind;
    struct line inner = {.time = -1};
    if ((behind = parse_brackets(message, &inner)) && inner.since_boot) /* the kernel's own stamp within */
        message = behind;
    out->message = message;
    return true;
}

/* dmesg alone writes a comma before the fractions, and no host: its message may follow at once ("NVRM: ..."). */
static bool is_dmesg(const char *text, const char *message)
{
    size_t word = strcspn(message, " \t");
    return memchr(text, ',', (size_t)(message - text)) || (word && message[word - 1] == ':');
}

/* "Jan 21 04:41:44 host kernel: ...": the year is not told. */
static const char *skip_old_stamp(const char *text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char name[4] = {0};
    int day, hour, minute, second, length = 0;
    if (sscanf(text, "%3[A-Za-z] %2d %2d:%2d:%2d %n", name, &day, &hour, &minute, &second, &length) != 5 || !length || strlen(name) != 3)
        return NULL;
    const char *month = strstr(months, name);
    return month && (month - months) % 3 == 0 ? text + length : NULL;
}

/* "kern  :warn  : " before a time stamp; other facilities are other programs' words. */
static const char *skip_facility(const char *text, bool *ours)
{
    int length = 0;
    char facility[16];
    if (sscanf(text, "%15[a-z] :%*15[a-z] : %n", facility, &length) != 1 || !length) {
        length = 0;
        if (sscanf(text, "%15[a-z]:%*15[a-z]: %n", facility, &length) != 1 || !length)
            return text;
    }
    *ours = !strcmp(facility, "kern");
    return text + length;
}

bool line_parse(const char *text, struct line *out)
{
    bool ours = true;
    *out = (struct line){.message = text, .time = -1};
    if (*text == ' ' || !*text) /* a property of the record before, in /dev/kmsg */
        return false;
    if (isdigit((unsigned char)*text) && parse_kmsg(text, out, &ours))
        return ours;
    if (*text == '<' && isdigit((unsigned char)text[1]) && strchr(text, '>'))
        text = strchr(text, '>') + 1;
    text = skip_facility(text, &ours);
    const char *behind = parse_brackets(text, out);
    if (!behind && (behind = parse_iso(text, &out->time)) && !is_dmesg(text, behind))
        return parse_tag(behind, out);
    if (!behind && (behind = skip_old_stamp(text)))
        return parse_tag(behind, out);
    out->message = behind ? behind : text;
    return ours;
}

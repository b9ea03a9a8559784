#include "scan/line.h"

#include <math.h>
#include <string.h>

#include "scan/findings.h"

/* {"log":"...\n","stream":"stderr","time":"2024-..."}: Docker's form. Leaves the text that was logged in `line->bare`. */
static void unwrap_docker(struct line *line)
{
    static const char start[] = "{\"log\":\"";
    if (strncmp(line->bare, start, sizeof start - 1) != 0)
        return;
    char *out = line->bare;
    const char *p = line->bare + sizeof start - 1;
    const char *time = strstr(p, "\"time\":\"");
    double at;
    if (time && stamp_read(time + 8, &at))
        line->time = at;
    while (*p && *p != '"') {
        if (*p != '\\') {
            *out++ = *p++;
            continue;
        }
        p++;
        if (*p == 't')
            *out++ = ' ';
        else if (*p == '"' || *p == '\\' || *p == '/')
            *out++ = *p;
        else if (*p == 'u') { /* \u001b and the like: escapes and controls; < > & are written so, too */
            unsigned code = 0;
            int n = 0;
            for (; n < 4 && strchr("0123456789abcdefABCDEF", p[1]) && p[1]; n++, p++) {
                int c = p[1] | 0x20;
                code = code * 16 + (unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0');
            }
            if (code == 0x1b || (code >= 0x20 && code < 0x7f))
                *out++ = (char)code;
            else if (code >= 0x80)
                *out++ = '?';
        }
        if (*p)
            p++;
    }
    *out = '\0';
    line->bare_length = (size_t)(out - line->bare);
    if (memchr(line->bare, 0x1b, line->bare_length)) { /* colours that were written as \u001b */
        line->bare_length = line_strip(line->bare, line->bare_length, line->bare);
        line->bare[line->bare_length] = '\0';
    }
}

void line_clean(struct line *line, const char *raw, size_t length)
{
    if (length > LINE_MAX_BYTES)
        length = LINE_MAX_BYTES;
    line->bare_length = line_strip(raw, length, line->bare);
    line->bare[line->bare_length] = '\0';
    line->rank = RANK_UNKNOWN;
    line->time = NAN;
    line->level = 0;
    unwrap_docker(line);
    while (line->bare_length && line->bare[line->bare_length - 1] == ' ')
        line->bare[--line->bare_length] = '\0';
    line->text = line->bare;
    line_take_prefixes(line);
    pairs_of(&line->pairs, line->bare, line->bare_length);
}

const char *line_find(const struct line *line, const char *word)
{
    return pairs_may_hold(&line->pairs, word) ? strcasestr(line->text, word) : NULL;
}

const char *line_find_exact(const struct line *line, const char *word)
{
    return pairs_may_hold(&line->pairs, word) ? strstr(line->text, word) : NULL;
}

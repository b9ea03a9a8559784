/* A program's own text shows what it could say. Only what it said is evidence. */
#include <string.h>

#include "scan/words.h"

#define LITERAL_INDENT 4 /* of a string alone on its line, within a call */

/* Does a string literal begin, perhaps behind an "f", "r" or "b"? */
static const char *literal_begins(const char *text)
{
    text += *text == 'f' || *text == 'r' || *text == 'b';
    return *text == '"' || *text == '\'' ? text : NULL;
}

static const char *behind_name(const char *text)
{
    return text + strspn(text, "._abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
}

/* warnings.warn("...", logger.error(f"...", messages.append('...' */
static bool is_message_call(const char *text)
{
    static const char *const calls[] = {".warn", ".warning", ".error", ".exception", ".info", ".debug", ".append"};
    const char *bracket = behind_name(text);
    if (*bracket != '(' || !literal_begins(bracket + 1))
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        size_t length = strlen(calls[i]);
        if ((size_t)(bracket - text) > length && !strncmp(bracket - length, calls[i], length))
            return true;
    }
    return false;
}

/* Nothing but a literal, a comma, a bracket or a sum behind it; no member of a JSON object. */
static bool is_literal_alone(const char *text, const char *end)
{
    const char *quote = literal_begins(text);
    if (!quote)
        return false;
    while (end > quote + 1 && end[-1] && strchr(",) +\\", end[-1]))
        end--;
    return end > quote + 1 && end[-1] == *quote && !strstr(quote, "\": ");
}

bool is_source_of_message(const struct line *line)
{
    const char *text = line->text, *first = text + strspn(text, " \t");
    bool indented = first > text;
    if (indented && (!strncmp(first, "# ", 2) || !strncmp(first, "// ", 3)))
        return true; /* a comment */
    if (indented && (!strncmp(first, "if ", 3) || !strncmp(first, "elif ", 5)) && text[line->length - 1] == ':')
        return true;
    if (indented && strstr(first, "printf") && strchr(first, '"'))
        return true;
    if (indented && (!strncmp(first, ">>> ", 4) || !strncmp(first, "... ", 4)))
        return true; /* an example in a manual */
    if (indented && !strncmp(first, "raise ", 6))
        return *behind_name(first + 6) == '(';
    if (!strncmp(first, "assert ", 7))
        return indented || strstr(first, ", \"") || strstr(first, ", f\"") || strstr(first, ", '");
    return is_message_call(first) || (first - text >= LITERAL_INDENT && is_literal_alone(first, text + line->length));
}

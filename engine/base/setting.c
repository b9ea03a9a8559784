#include "base/setting.h"

#include <string.h>

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define DIGITS "0123456789"

/* Length of NAME where `text` begins with NAME= in these letters, else 0. */
static size_t name_of(const char *text, const char *letters)
{
    size_t length = strspn(text, letters);
    return length && text[length] == '=' && !strchr(DIGITS, *text) ? length : 0;
}

bool setting_next(const char **text, struct setting *out)
{
    size_t name = name_of(*text, CAPITALS DIGITS "abcdefghijklmnopqrstuvwxyz"), end = name + 1;
    if (!name)
        return false;
    while ((*text)[end] && !((*text)[end] == ',' && name_of(*text + end + 1, CAPITALS DIGITS)))
        end++;
    *out = (struct setting){.name = *text, .name_length = name, .value = *text + name + 1, .value_length = end - name - 1};
    *text += end + ((*text)[end] == ',');
    return true;
}

bool setting_is_well_formed(const char *text)
{
    struct setting setting;
    size_t count = 0;
    while (setting_next(&text, &setting))
        count++;
    return count && !*text;
}

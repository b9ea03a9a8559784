/* NCCL's lists of interfaces and adapters: [^][=]NAME[:PORT],... ('^' excludes, '=' compares whole names, otherwise prefixes). */
#include <stdlib.h>
#include <string.h>

#include "net.h"

static bool entry_matches(const char *entry, size_t length, bool exact, const char *name, int port)
{
    const char *colon = memchr(entry, ':', length);
    size_t name_length = colon ? (size_t)(colon - entry) : length;
    if (!name_length || strncmp(entry, name, name_length) != 0 || (exact && name[name_length]))
        return false;
    return !colon || port < 0 || colon[1] == ':' || colon + 1 == entry + length || atoi(colon + 1) == port;
}

bool net_selects(const char *list, const char *name, int port)
{
    bool without = *list == '^';
    list += without;
    bool exact = *list == '=';
    list += exact;
    bool found = false;
    while (*list && !found) {
        size_t length = strcspn(list, ",");
        found = entry_matches(list, length, exact, name, port);
        list += length;
        list += *list == ',';
    }
    return found != without;
}

bool net_selector_is_exact(const char *list)
{
    return *list == '=';
}

#include "symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void symbols_load(void *handle, const struct symbol *symbols, size_t count, void *table, struct missing_symbols *missing)
{
    size_t length = 0;
    *missing = (struct missing_symbols){0};
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(handle, symbols[i].name);
        memcpy((char *)table + symbols[i].slot, &function, sizeof function);
        if (function)
            continue;
        missing->required = missing->required || symbols[i].required;
        int n = snprintf(missing->names + length, sizeof missing->names - length, "%s%s", length ? "," : "", symbols[i].name);
        if (n > 0 && length + (size_t)n < sizeof missing->names)
            length += (size_t)n;
        else
            missing->names[length] = '\0';
    }
}

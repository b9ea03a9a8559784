/* Tables of a vendor library's functions, filled by dlsym. A missing function is data: its slot stays NULL and its name is noted. */
#ifndef DTKB_CUDA_PROBE_SYMBOLS_H
#define DTKB_CUDA_PROBE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct symbol {
    const char *name;
    const char *since; /* release that brought it */
    size_t slot;       /* offset of the function pointer in the table's struct */
    bool required;     /* nothing can be tested without it */
};

struct missing_symbols {
    char names[512]; /* joined by commas; "" when all are there */
    bool required;   /* at least one of them is required */
};

/* For X-macro lists of rows (function, since, required): the members of the struct, and the rows of the table. */
#define SYMBOL_MEMBER(function, since, required) __typeof__(function) *(function);
#define SYMBOL_ROW(table, function, since, required) {#function, since, offsetof(table, function), required},

void symbols_load(void *handle, const struct symbol *symbols, size_t count, void *table, struct missing_symbols *missing);

#endif

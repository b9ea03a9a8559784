/* The machine that a pickle is a program for, as far as plain data needs it: a stack of values and marks, a memo. For pickle*.c alone. */
#ifndef DTKB_SCAN_PICKLE_MACHINE_H
#define DTKB_SCAN_PICKLE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "scan/pickle.h"

struct slot {
    json_t *value;  /* NULL: a mark */
    unsigned depth; /* of containers within it */
};

struct reader {
    const char *name;
    const unsigned char *start, *at, *end;
    struct slot *stack;
    size_t count, capacity;
    struct slot *memo;
    size_t memo_capacity, memo_next;
    size_t values;
    struct err *err;
};

dtkb_status pickle_broken(struct reader *reader, const char *what);

/* pickle_stack.c: takes over the reference; a NULL value is a mark. */
dtkb_status pickle_push(struct reader *reader, json_t *value, unsigned depth);
/* A value just made; NULL: there was no memory. */
dtkb_status pickle_push_new(struct reader *reader, json_t *value);
/* The value on top; NULL if there is none. */
struct slot *pickle_top(struct reader *reader);
void pickle_drop_to(struct reader *reader, size_t count);
/* Index of the last mark, SIZE_MAX if there is none. */
size_t pickle_last_mark(const struct reader *reader);
/* The values from `from` on go into the list, or in pairs into the dictionary, at `target`. */
dtkb_status pickle_extend(struct reader *reader, size_t target, size_t from);
dtkb_status pickle_set_items(struct reader *reader, size_t target, size_t from);
/* Replaces the values from `from` on (and a mark at `first`) by a new container of them. */
dtkb_status pickle_collect(struct reader *reader, size_t first, size_t from, bool dictionary);
dtkb_status pickle_collect_counted(struct reader *reader, size_t count);
/* The value on top into the memo; a value from there onto the stack. */
dtkb_status pickle_remember(struct reader *reader, uint64_t index);
dtkb_status pickle_recall(struct reader *reader, uint64_t index);

/* pickle_value.c: arguments behind an opcode, and values pushed that are written there. */
bool pickle_take_number(struct reader *reader, size_t width, uint64_t *out);
bool pickle_take_line(struct reader *reader, const char **text, size_t *length);
dtkb_status pickle_push_fixed(struct reader *reader, size_t width, bool is_signed);
dtkb_status pickle_push_sized_long(struct reader *reader, size_t width);
dtkb_status pickle_push_decimal(struct reader *reader, bool real);
dtkb_status pickle_push_double(struct reader *reader);
dtkb_status pickle_push_counted(struct reader *reader, size_t width);
dtkb_status pickle_push_line_text(struct reader *reader, bool quoted);

#endif

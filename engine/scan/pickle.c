#include "scan/pickle.h"

#include <ctype.h>
#include <stdlib.h>

#include "scan/pickle_machine.h"

#define PROTOCOL_MAX 5

dtkb_status pickle_broken(struct reader *reader, const char *what)
{
    return err_set(reader->err, DTKB_E_FORMAT, "%s: damaged pickle: %s at byte %zu", reader->name, what,
                   (size_t)(reader->at - reader->start));
}

/* ---- operations: what an opcode does, with the argument that the table gives it ---- */

static dtkb_status skip_protocol(struct reader *reader, unsigned width)
{
    uint64_t protocol;
    return pickle_take_number(reader, width, &protocol) && protocol <= PROTOCOL_MAX ? DTKB_OK
                                                                                    : pickle_broken(reader, "an unknown protocol");
}

/* A frame only tells a length. */
static dtkb_status skip_frame(struct reader *reader, unsigned width)
{
    uint64_t length;
    return pickle_take_number(reader, width, &length) ? DTKB_OK : pickle_broken(reader, "cut off");
}

static dtkb_status push_mark(struct reader *reader, unsigned unused)
{
    (void)unused;
    return pickle_push(reader, NULL, 0);
}

static dtkb_status drop_one(struct reader *reader, unsigned unused)
{
    (void)unused;
    if (!reader->count)
        return pickle_broken(reader, "an empty stack");
    pickle_drop_to(reader, reader->count - 1);
    return DTKB_OK;
}

static dtkb_status drop_marked(struct reader *reader, unsigned unused)
{
    (void)unused;
    size_t mark = pickle_last_mark(reader);
    if (mark == SIZE_MAX)
        return pickle_broken(reader, "no mark");
    pickle_drop_to(reader, mark);
    return DTKB_OK;
}

static dtkb_status push_none(struct reader *reader, unsigned unused)
{
    (void)unused;
    return pickle_push(reader, json_null(), 0);
}

static dtkb_status push_boolean(struct reader *reader, unsigned value)
{
    return pickle_push(reader, value ? json_true() : json_false(), 0);
}

static dtkb_status push_decimal(struct reader *reader, unsigned real)
{
    return pickle_push_decimal(reader, real != 0);
}

static dtkb_status push_unsigned(struct reader *reader, unsigned width)
{
    return pickle_push_fixed(reader, width, false);
}

static dtkb_status push_signed(struct reader *reader, unsigned width)
{
    return pickle_push_fixed(reader, width, true);
}

static dtkb_status push_long(struct reader *reader, unsigned width)
{
    return pickle_push_sized_long(reader, width);
}

static dtkb_status push_double(struct reader *reader, unsigned unused)
{
    (void)unused;
    return pickle_push_double(reader);
}

static dtkb_status push_line(struct reader *reader, unsigned quoted)
{
    return pickle_push_line_text(reader, quoted != 0);
}

static dtkb_status push_counted(struct reader *reader, unsigned width)
{
    return pickle_push_counted(reader, width);
}

enum container { LIST, DICTIONARY };

static dtkb_status push_empty(struct reader *reader, unsigned container)
{
    return pickle_push_new(reader, container == DICTIONARY ? json_object() : json_array());
}

/* All that lies above the last mark becomes a container. */
static dtkb_status collect_marked(struct reader *reader, unsigned container)
{
    size_t mark = pickle_last_mark(reader);
    return mark == SIZE_MAX ? pickle_broken(reader, "no mark") : pickle_collect(reader, mark, mark + 1, container == DICTIONARY);
}

static dtkb_status collect_counted(struct reader *reader, unsigned count)
{
    return pickle_collect_counted(reader, count);
}

/* All that lies above the last mark goes into the container below it. */
static dtkb_status put_marked(struct reader *reader, unsigned container)
{
    size_t mark = pickle_last_mark(reader);
    if (mark == SIZE_MAX)
        return pickle_broken(reader, "no mark");
    if (!mark)
        return pickle_broken(reader, container == DICTIONARY ? "items without a dictionary" : "items without a list");
    dtkb_status status = (container == DICTIONARY ? pickle_set_items : pickle_extend)(reader, mark - 1, mark + 1);
    if (status == DTKB_OK)
        pickle_drop_to(reader, mark);
    return status;
}

/* One value, or a key and a value, goes into the container below. */
static dtkb_status put_one(struct reader *reader, unsigned container)
{
    size_t items = container == DICTIONARY ? 2 : 1;
    if (reader->count <= items || !pickle_top(reader) || !reader->stack[reader->count - items].value)
        return pickle_broken(reader, "nothing to put");
    size_t from = reader->count - items;
    dtkb_status status = (container == DICTIONARY ? pickle_set_items : pickle_extend)(reader, from - 1, from);
    if (status == DTKB_OK)
        pickle_drop_to(reader, from);
    return status;
}

/* The number of a note: in decimal digits where `width` is 0. */
static bool take_index(struct reader *reader, unsigned width, uint64_t *index)
{
    const char *text;
    size_t length;
    if (width)
        return pickle_take_number(reader, width, index);
    if (!pickle_take_line(reader, &text, &length) || length == 0 || length > 9 || !isdigit((unsigned char)*text))
        return false;
    *index = strtoull(text, NULL, 10);
    return true;
}

static dtkb_status recall(struct reader *reader, unsigned width)
{
    uint64_t index;
    return take_index(reader, width, &index) ? pickle_recall(reader, index) : pickle_broken(reader, "not a number");
}

static dtkb_status remember(struct reader *reader, unsigned width)
{
    uint64_t index;
    return take_index(reader, width, &index) ? pickle_remember(reader, index) : pickle_broken(reader, "not a number");
}

static dtkb_status remember_next(struct reader *reader, unsigned unused)
{
    (void)unused;
    return pickle_remember(reader, reader->memo_next);
}

/* ---- opcodes ---- */

static const struct operation {
    dtkb_status (*run)(struct reader *reader, unsigned argument); /* NULL: refused */
    unsigned argument;
    const char *refused; /* its name, if it could run code */
} operations[256] = {
    [0x80] = {skip_protocol, 1, NULL},
    [0x95] = {skip_frame, 8, NULL},
    ['('] = {push_mark, 0, NULL},
    ['0'] = {drop_one, 0, NULL},
    ['1'] = {drop_marked, 0, NULL},
    /* plain values */
    ['N'] = {push_none, 0, NULL},
    [0x88] = {push_boolean, 1, NULL},
    [0x89] = {push_boolean, 0, NULL},
    ['I'] = {push_decimal, false, NULL},
    ['L'] = {push_decimal, false, NULL},
    ['F'] = {push_decimal, true, NULL},
    ['J'] = {push_signed, 4, NULL},
    ['K'] = {push_unsigned, 1, NULL},
    ['M'] = {push_unsigned, 2, NULL},
    [0x8a] = {push_long, 1, NULL},
    [0x8b] = {push_long, 4, NULL},
    ['G'] = {push_double, 0, NULL},
    /* texts and bytes */
    ['S'] = {push_line, true, NULL},
    ['V'] = {push_line, false, NULL},
    ['U'] = {push_counted, 1, NULL},
    ['C'] = {push_counted, 1, NULL},
    [0x8c] = {push_counted, 1, NULL},
    ['T'] = {push_counted, 4, NULL},
    ['B'] = {push_counted, 4, NULL},
    ['X'] = {push_counted, 4, NULL},
    [0x8d] = {push_counted, 8, NULL},
    [0x8e] = {push_counted, 8, NULL},
    [0x96] = {push_counted, 8, NULL},
    /* containers: lists, tuples and sets are one thing here */
    [']'] = {push_empty, LIST, NULL},
    [')'] = {push_empty, LIST, NULL},
    [0x8f] = {push_empty, LIST, NULL},
    ['}'] = {push_empty, DICTIONARY, NULL},
    ['l'] = {collect_marked, LIST, NULL},
    ['t'] = {collect_marked, LIST, NULL},
    [0x91] = {collect_marked, LIST, NULL},
    ['d'] = {collect_marked, DICTIONARY, NULL},
    [0x85] = {collect_counted, 1, NULL},
    [0x86] = {collect_counted, 2, NULL},
    [0x87] = {collect_counted, 3, NULL},
    ['e'] = {put_marked, LIST, NULL},
    [0x90] = {put_marked, LIST, NULL},
    ['u'] = {put_marked, DICTIONARY, NULL},
    ['a'] = {put_one, LIST, NULL},
    ['s'] = {put_one, DICTIONARY, NULL},
    /* the memo */
    ['g'] = {recall, 0, NULL},
    ['h'] = {recall, 1, NULL},
    ['j'] = {recall, 4, NULL},
    ['p'] = {remember, 0, NULL},
    ['q'] = {remember, 1, NULL},
    ['r'] = {remember, 4, NULL},
    [0x94] = {remember_next, 0, NULL},
    /* what imports, builds, or refers to something outside */
    ['c'] = {NULL, 0, "GLOBAL"},
    [0x93] = {NULL, 0, "STACK_GLOBAL"},
    ['R'] = {NULL, 0, "REDUCE"},
    ['i'] = {NULL, 0, "INST"},
    ['o'] = {NULL, 0, "OBJ"},
    [0x81] = {NULL, 0, "NEWOBJ"},
    [0x92] = {NULL, 0, "NEWOBJ_EX"},
    ['b'] = {NULL, 0, "BUILD"},
    [0x82] = {NULL, 0, "EXT1"},
    [0x83] = {NULL, 0, "EXT2"},
    [0x84] = {NULL, 0, "EXT4"},
    ['P'] = {NULL, 0, "PERSID"},
    ['Q'] = {NULL, 0, "BINPERSID"},
    [0x97] = {NULL, 0, "NEXT_BUFFER"},
    [0x98] = {NULL, 0, "READONLY_BUFFER"},
    ['2'] = {NULL, 0, "DUP"},
};

static dtkb_status step(struct reader *reader, unsigned char opcode)
{
    const struct operation *operation = &operations[opcode];
    if (operation->run)
        return operation->run(reader, operation->argument);
    if (!operation->refused)
        return pickle_broken(reader, "an unknown opcode");
    return err_set(reader->err, DTKB_E_FORMAT, "%s: pickle refused: opcode %s at byte %zu is not plain data and could run code",
                   reader->name, operation->refused, (size_t)(reader->at - 1 - reader->start));
}

static dtkb_status run(struct reader *reader, json_t **out)
{
    while (reader->at < reader->end) {
        unsigned char opcode = *reader->at++;
        if (opcode == '.') {
            if (reader->count != 1 || !pickle_top(reader))
                return pickle_broken(reader, "not one value at the end");
            *out = json_incref(reader->stack[0].value);
            return DTKB_OK;
        }
        dtkb_status status = step(reader, opcode);
        if (status != DTKB_OK)
            return status;
    }
    return pickle_broken(reader, "no end");
}

dtkb_status pickle_read(const char *name, const void *bytes, size_t length, json_t **out, struct err *err)
{
    struct reader reader = {.name = name, .start = bytes, .err = err};
    reader.at = reader.start;
    reader.end = reader.start + length;
    dtkb_status status = run(&reader, out);
    pickle_drop_to(&reader, 0);
    for (size_t i = 0; i < reader.memo_capacity; i++)
        json_decref(reader.memo[i].value);
    free(reader.memo);
    free(reader.stack);
    return status;
}

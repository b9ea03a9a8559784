#include "scan/pickle.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define DEPTH_MAX 64
#define VALUES_MAX 20000000 /* made or referred to, in one pickle */
#define STACK_MAX 4000000
#define MEMO_MAX 8000000

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

static dtkb_status broken(struct reader *reader, const char *what)
{
    return err_set(reader->err, DTKB_E_FORMAT, "%s: damaged pickle: %s at byte %zu", reader->name, what,
                   (size_t)(reader->at - reader->start));
}

/* ---- stack ---- */

/* Takes over the reference. */
static dtkb_status push(struct reader *reader, json_t *value, unsigned depth)
{
    if (value && ++reader->values > VALUES_MAX) {
        json_decref(value);
        return err_set(reader->err, DTKB_E_LIMIT, "%s: pickle of more than %d values", reader->name, VALUES_MAX);
    }
    if (reader->count == reader->capacity) {
        size_t capacity = reader->capacity ? reader->capacity * 2 : 256;
        struct slot *stack = capacity <= STACK_MAX ? realloc(reader->stack, capacity * sizeof *stack) : NULL;
        if (!stack) {
            json_decref(value);
            return capacity <= STACK_MAX ? err_nomem(reader->err) : broken(reader, "too deep a stack");
        }
        reader->stack = stack;
        reader->capacity = capacity;
    }
    reader->stack[reader->count++] = (struct slot){value, depth};
    return DTKB_OK;
}

static dtkb_status push_new(struct reader *reader, json_t *value)
{
    return value ? push(reader, value, 0) : err_nomem(reader->err);
}

static struct slot *top(struct reader *reader)
{
    return reader->count && reader->stack[reader->count - 1].value ? &reader->stack[reader->count - 1] : NULL;
}

static void drop_to(struct reader *reader, size_t count)
{
    while (reader->count > count)
        json_decref(reader->stack[--reader->count].value);
}

/* Index of the last mark, SIZE_MAX if there is none. */
static size_t last_mark(const struct reader *reader)
{
    size_t i = reader->count;
    while (i > 0)
        if (!reader->stack[--i].value)
            return i;
    return SIZE_MAX;
}

/* ---- arguments ---- */

static bool take(struct reader *reader, size_t length, const unsigned char **out)
{
    if ((size_t)(reader->end - reader->at) < length)
        return false;
    *out = reader->at;
    reader->at += length;
    return true;
}

static bool take_number(struct reader *reader, size_t width, uint64_t *out)
{
    const unsigned char *p;
    if (!take(reader, width, &p))
        return false;
    *out = 0;
    for (size_t i = 0; i < width; i++)
        *out |= (uint64_t)p[i] << (8 * i);
    return true;
}

/* A text up to the end of the line. */
static bool take_line(struct reader *reader, const char **text, size_t *length)
{
    const unsigned char *newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    if (!newline)
        return false;
    *text = (const char *)reader->at;
    *length = (size_t)(newline - reader->at);
    reader->at = newline + 1;
    return true;
}

/* ---- values ---- */

static dtkb_status push_text(struct reader *reader, const char *text, size_t length)
{
    json_t *value = json_stringn(text, length); /* NULL also for text that is no UTF-8 */
    if (value)
        return push(reader, value, 0);
    struct buf escaped = {0};
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x80)
            buf_addc(&escaped, text[i]);
        else
            buf_addf(&escaped, "\\x%02x", (unsigned char)text[i]);
    }
    value = escaped.failed ? NULL : json_stringn(buf_text(&escaped), escaped.length);
    buf_free(&escaped);
    return push_new(reader, value);
}

/* Two's complement, the lowest byte first. */
static dtkb_status push_long(struct reader *reader, size_t length)
{
    const unsigned char *p;
    if (!take(reader, length, &p))
        return broken(reader, "a number is cut off");
    bool negative = length && p[length - 1] & 0x80;
    if (length <= 8) {
        uint64_t value = negative ? UINT64_MAX : 0;
        for (size_t i = length; i-- > 0;)
            value = value << 8 | p[i];
        return push_new(reader, json_integer((json_int_t)value));
    }
    double value = 0;
    for (size_t i = length; i-- > 0;)
        value = value * 256 + (negative ? 255 - p[i] : p[i]);
    value = negative ? -value - 1 : value;
    return push_new(reader, json_real(isfinite(value) ? value : 0));
}

static dtkb_status push_decimal(struct reader *reader, bool real)
{
    const char *text;
    size_t length;
    char number[64];
    if (!take_line(reader, &text, &length) || length == 0 || length >= sizeof number)
        return broken(reader, "not a number");
    memcpy(number, text, length);
    number[length] = '\0';
    if (number[length - 1] == 'L')
        number[length - 1] = '\0';
    char *end;
    if (real) {
        double value = strtod(number, &end);
        return *end ? broken(reader, "not a number") : push_new(reader, json_real(isfinite(value) ? value : 0));
    }
    if (!strcmp(number, "00") || !strcmp(number, "01"))
        return push_new(reader, json_boolean(number[1] == '1'));
    long long value = strtoll(number, &end, 10);
    return *end ? broken(reader, "not a number") : push_new(reader, json_integer(value));
}

static dtkb_status push_double(struct reader *reader)
{
    const unsigned char *p;
    if (!take(reader, 8, &p))
        return broken(reader, "a number is cut off");
    uint64_t bits = 0;
    double value;
    for (size_t i = 0; i < 8; i++)
        bits = bits << 8 | p[i];
    memcpy(&value, &bits, sizeof value);
    return push_new(reader, json_real(isfinite(value) ? value : 0));
}

static dtkb_status push_counted(struct reader *reader, size_t width)
{
    uint64_t length;
    const unsigned char *p;
    if (!take_number(reader, width, &length) || length > SIZE_MAX || !take(reader, (size_t)length, &p))
        return broken(reader, "a text is cut off");
    return push_text(reader, (const char *)p, (size_t)length);
}

/* Protocol 0: 'text' with Python's escapes, which nobody needs for plain names; they stay as they are. */
static dtkb_status push_line_text(struct reader *reader, bool quoted)
{
    const char *text;
    size_t length;
    if (!take_line(reader, &text, &length))
        return broken(reader, "a text is cut off");
    if (quoted) {
        if (length < 2 || (text[0] != '\'' && text[0] != '"') || text[length - 1] != text[0])
            return broken(reader, "a text without quotes");
        text++;
        length -= 2;
    }
    return push_text(reader, text, length);
}

/* ---- containers ---- */

/* A container that is being filled is held by the stack and at most once by the memo. More holders mean that it would come to lie within
 * itself, which plain data never does. */
static dtkb_status check_target(struct reader *reader, const struct slot *target, unsigned item_depth)
{
    if (target->value->refcount > 2)
        return err_set(reader->err, DTKB_E_FORMAT, "%s: pickle of a container that holds itself", reader->name);
    if (item_depth + 1 > DEPTH_MAX)
        return err_set(reader->err, DTKB_E_LIMIT, "%s: pickle nested more than %d deep", reader->name, DEPTH_MAX);
    return DTKB_OK;
}

static unsigned deepest(const struct reader *reader, size_t from)
{
    unsigned depth = 0;
    for (size_t i = from; i < reader->count; i++)
        if (reader->stack[i].depth > depth)
            depth = reader->stack[i].depth;
    return depth;
}

/* Items from `from` on go into the array below them (`target`). */
static dtkb_status extend(struct reader *reader, size_t target_index, size_t from)
{
    if (target_index >= reader->count || !reader->stack[target_index].value || !json_is_array(reader->stack[target_index].value))
        return broken(reader, "items without a list");
    struct slot *target = &reader->stack[target_index];
    unsigned depth = deepest(reader, from);
    dtkb_status status = check_target(reader, target, depth);
    for (size_t i = from; i < reader->count && status == DTKB_OK; i++)
        if (json_array_append(target->value, reader->stack[i].value) != 0)
            status = err_nomem(reader->err);
    if (status == DTKB_OK && depth + 1 > target->depth)
        target->depth = depth + 1;
    return status;
}

static dtkb_status set_item(struct reader *reader, json_t *object, json_t *key, json_t *value)
{
    char number[32];
    const char *name = json_string_value(key);
    if (json_is_integer(key))
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(key));
    else if (!name)
        (void)snprintf(number, sizeof number, "(key)");
    return json_object_set(object, name ? name : number, value) == 0 ? DTKB_OK : err_nomem(reader->err);
}

static dtkb_status set_items(struct reader *reader, size_t target_index, size_t from)
{
    if (target_index >= reader->count || !reader->stack[target_index].value || !json_is_object(reader->stack[target_index].value) ||
        (reader->count - from) % 2)
        return broken(reader, "items without a dictionary");
    struct slot *target = &reader->stack[target_index];
    unsigned depth = deepest(reader, from);
    dtkb_status status = check_target(reader, target, depth);
    for (size_t i = from; i < reader->count && status == DTKB_OK; i += 2)
        status = set_item(reader, target->value, reader->stack[i].value, reader->stack[i + 1].value);
    if (status == DTKB_OK && depth + 1 > target->depth)
        target->depth = depth + 1;
    return status;
}

/* Replaces the items from `from` on (and a mark at `first`) by a new container of them. */
static dtkb_status collect_new(struct reader *reader, size_t first, size_t from, bool dictionary)
{
    struct slot whole = {dictionary ? json_object() : json_array(), 0};
    if (!whole.value)
        return err_nomem(reader->err);
    unsigned depth = deepest(reader, from);
    dtkb_status status = check_target(reader, &whole, depth);
    if (dictionary && (reader->count - from) % 2)
        status = broken(reader, "a key without a value");
    for (size_t i = from; i < reader->count && status == DTKB_OK; i += dictionary ? 2 : 1) {
        if (dictionary)
            status = set_item(reader, whole.value, reader->stack[i].value, reader->stack[i + 1].value);
        else if (json_array_append(whole.value, reader->stack[i].value) != 0)
            status = err_nomem(reader->err);
    }
    if (status != DTKB_OK) {
        json_decref(whole.value);
        return status;
    }
    drop_to(reader, first);
    return push(reader, whole.value, depth + 1);
}

static dtkb_status collect_counted(struct reader *reader, size_t count)
{
    if (reader->count < count)
        return broken(reader, "a tuple without its items");
    for (size_t i = reader->count - count; i < reader->count; i++)
        if (!reader->stack[i].value)
            return broken(reader, "a tuple without its items");
    return collect_new(reader, reader->count - count, reader->count - count, false);
}

/* ---- memo ---- */

static dtkb_status remember(struct reader *reader, uint64_t index)
{
    struct slot *value = top(reader);
    if (!value || index >= MEMO_MAX)
        return broken(reader, "a note of nothing");
    if (index >= reader->memo_capacity) {
        size_t capacity = reader->memo_capacity ? reader->memo_capacity : 256;
        while (capacity <= index)
            capacity *= 2;
        struct slot *memo = realloc(reader->memo, capacity * sizeof *memo);
        if (!memo)
            return err_nomem(reader->err);
        memset(memo + reader->memo_capacity, 0, (capacity - reader->memo_capacity) * sizeof *memo);
        reader->memo = memo;
        reader->memo_capacity = capacity;
    }
    if (reader->memo[index].value)
        return broken(reader, "a note written twice");
    reader->memo[index] = (struct slot){json_incref(value->value), 0};
    reader->memo_next++;
    return DTKB_OK;
}

/* How deep containers lie in what is noted, which may have grown since. Deep or wide ones are rare in notes; the walk is charged for. */
static unsigned depth_of(struct reader *reader, json_t *value, unsigned limit)
{
    unsigned depth = 0;
    size_t i;
    const char *key;
    json_t *item;
    if ((!json_is_array(value) && !json_is_object(value)) || limit == 0)
        return 0;
    reader->values += json_is_array(value) ? json_array_size(value) : json_object_size(value);
    if (reader->values > VALUES_MAX)
        return DEPTH_MAX; /* the next push refuses */
    if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            unsigned d = depth_of(reader, item, limit - 1);
            depth = d > depth ? d : depth;
        }
    } else {
        json_object_foreach(value, key, item)
        {
            unsigned d = depth_of(reader, item, limit - 1);
            depth = d > depth ? d : depth;
        }
    }
    return depth + 1;
}

static dtkb_status recall(struct reader *reader, uint64_t index)
{
    if (index >= reader->memo_capacity || !reader->memo[index].value)
        return broken(reader, "a note that was never written");
    json_t *value = reader->memo[index].value;
    return push(reader, json_incref(value), depth_of(reader, value, DEPTH_MAX + 1));
}

static dtkb_status decimal_index(struct reader *reader, dtkb_status (*use)(struct reader *, uint64_t))
{
    const char *text;
    size_t length;
    if (!take_line(reader, &text, &length) || length == 0 || length > 9 || !isdigit((unsigned char)*text))
        return broken(reader, "not a number");
    return use(reader, strtoull(text, NULL, 10));
}

static dtkb_status numbered(struct reader *reader, size_t width, dtkb_status (*use)(struct reader *, uint64_t))
{
    uint64_t index;
    return take_number(reader, width, &index) ? use(reader, index) : broken(reader, "cut off");
}

/* ---- opcodes ---- */

static const struct {
    unsigned char opcode;
    const char *name;
} refused[] = {{'c', "GLOBAL"},  {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},    {'i', "INST"},         {'o', "OBJ"},
               {0x81, "NEWOBJ"}, {0x92, "NEWOBJ_EX"},    {'b', "BUILD"},     {0x82, "EXT1"},        {0x83, "EXT2"},
               {0x84, "EXT4"},   {'P', "PERSID"},        {'Q', "BINPERSID"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"},
               {'2', "DUP"}};

static dtkb_status refuse(struct reader *reader, unsigned char opcode)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (refused[i].opcode == opcode)
            return err_set(reader->err, DTKB_E_FORMAT, "%s: pickle refused: opcode %s at byte %zu is not plain data and could run code",
                           reader->name, refused[i].name, (size_t)(reader->at - 1 - reader->start));
    return broken(reader, "an unknown opcode");
}

static dtkb_status marked(struct reader *reader, unsigned char opcode)
{
    size_t mark = last_mark(reader);
    if (mark == SIZE_MAX)
        return broken(reader, "no mark");
    dtkb_status status;
    switch (opcode) {
    case 'e':
    case 0x90:
        status = mark ? extend(reader, mark - 1, mark + 1) : broken(reader, "items without a list");
        break;
    case 'u':
        status = mark ? set_items(reader, mark - 1, mark + 1) : broken(reader, "items without a dictionary");
        break;
    case '1':
        status = DTKB_OK;
        break;
    default: /* LIST, TUPLE, DICT, FROZENSET */
        return collect_new(reader, mark, mark + 1, opcode == 'd');
    }
    if (status == DTKB_OK)
        drop_to(reader, mark);
    return status;
}

static dtkb_status one_item(struct reader *reader, unsigned char opcode)
{
    size_t items = opcode == 's' ? 2 : 1;
    if (reader->count <= items || !top(reader) || !reader->stack[reader->count - items].value)
        return broken(reader, "nothing to put");
    size_t from = reader->count - items;
    dtkb_status status = opcode == 's' ? set_items(reader, from - 1, from) : extend(reader, from - 1, from);
    if (status == DTKB_OK)
        drop_to(reader, from);
    return status;
}

static dtkb_status push_fixed(struct reader *reader, size_t width, bool is_signed)
{
    uint64_t value;
    if (!take_number(reader, width, &value))
        return broken(reader, "a number is cut off");
    return push_new(reader, json_integer(is_signed ? (json_int_t)(int32_t)(uint32_t)value : (json_int_t)value));
}

static dtkb_status push_sized_long(struct reader *reader, size_t width)
{
    uint64_t length;
    if (!take_number(reader, width, &length) || length > 1024)
        return broken(reader, "too long a number");
    return push_long(reader, (size_t)length);
}

static dtkb_status step(struct reader *reader, unsigned char opcode)
{
    uint64_t ignored;
    switch (opcode) {
    case 0x80: /* PROTO */
        return take_number(reader, 1, &ignored) && ignored <= 5 ? DTKB_OK : broken(reader, "an unknown protocol");
    case 0x95: /* FRAME: only tells a length */
        return take_number(reader, 8, &ignored) ? DTKB_OK : broken(reader, "cut off");
    case '(':
        return push(reader, NULL, 0);
    case '0':
        if (!reader->count)
            return broken(reader, "an empty stack");
        drop_to(reader, reader->count - 1);
        return DTKB_OK;
    case 'N':
        return push(reader, json_null(), 0);
    case 0x88:
        return push(reader, json_true(), 0);
    case 0x89:
        return push(reader, json_false(), 0);
    case 'I':
    case 'L':
        return push_decimal(reader, false);
    case 'F':
        return push_decimal(reader, true);
    case 'J':
        return push_fixed(reader, 4, true);
    case 'K':
        return push_fixed(reader, 1, false);
    case 'M':
        return push_fixed(reader, 2, false);
    case 0x8a:
        return push_sized_long(reader, 1);
    case 0x8b:
        return push_sized_long(reader, 4);
    case 'G':
        return push_double(reader);
    case 'S':
        return push_line_text(reader, true);
    case 'V':
        return push_line_text(reader, false);
    case 'U':
    case 'C':
    case 0x8c:
        return push_counted(reader, 1);
    case 'T':
    case 'B':
    case 'X':
        return push_counted(reader, 4);
    case 0x8d:
    case 0x8e:
    case 0x96:
        return push_counted(reader, 8);
    case ']':
    case ')':
    case 0x8f:
        return push_new(reader, json_array());
    case '}':
        return push_new(reader, json_object());
    case 'e':
    case 'u':
    case 'l':
    case 't':
    case 'd':
    case '1':
    case 0x90:
    case 0x91:
        return marked(reader, opcode);
    case 'a':
    case 's':
        return one_item(reader, opcode);
    case 0x85:
    case 0x86:
    case 0x87:
        return collect_counted(reader, (size_t)(opcode - 0x84));
    case 'g':
        return decimal_index(reader, recall);
    case 'h':
        return numbered(reader, 1, recall);
    case 'j':
        return numbered(reader, 4, recall);
    case 'p':
        return decimal_index(reader, remember);
    case 'q':
        return numbered(reader, 1, remember);
    case 'r':
        return numbered(reader, 4, remember);
    case 0x94:
        return remember(reader, reader->memo_next);
    default:
        return refuse(reader, opcode);
    }
}

static dtkb_status run(struct reader *reader, json_t **out)
{
    while (reader->at < reader->end) {
        unsigned char opcode = *reader->at++;
        if (opcode == '.') {
            if (reader->count != 1 || !top(reader))
                return broken(reader, "not one value at the end");
            *out = json_incref(reader->stack[0].value);
            return DTKB_OK;
        }
        dtkb_status status = step(reader, opcode);
        if (status != DTKB_OK)
            return status;
    }
    return broken(reader, "no end");
}

dtkb_status pickle_read(const char *name, const void *bytes, size_t length, json_t **out, struct err *err)
{
    struct reader reader = {.name = name, .start = bytes, .err = err};
    reader.at = reader.start;
    reader.end = reader.start + length;
    dtkb_status status = run(&reader, out);
    drop_to(&reader, 0);
    for (size_t i = 0; i < reader.memo_capacity; i++)
        json_decref(reader.memo[i].value);
    free(reader.memo);
    free(reader.stack);
    return status;
}

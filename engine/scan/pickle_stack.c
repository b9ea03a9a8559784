#include <stdlib.h>
#include <string.h>

#include "scan/pickle_machine.h"

#define DEPTH_MAX 64
#define VALUES_MAX 20000000 /* made or referred to, in one pickle */
#define STACK_MAX 4000000
#define MEMO_MAX 8000000

/* ---- stack ---- */

/* Takes over the reference. */
dtkb_status pickle_push(struct reader *reader, json_t *value, unsigned depth)
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
            return capacity <= STACK_MAX ? err_nomem(reader->err) : pickle_broken(reader, "too deep a stack");
        }
        reader->stack = stack;
        reader->capacity = capacity;
    }
    reader->stack[reader->count++] = (struct slot){value, depth};
    return DTKB_OK;
}

dtkb_status pickle_push_new(struct reader *reader, json_t *value)
{
    return value ? pickle_push(reader, value, 0) : err_nomem(reader->err);
}

struct slot *pickle_top(struct reader *reader)
{
    return reader->count && reader->stack[reader->count - 1].value ? &reader->stack[reader->count - 1] : NULL;
}

void pickle_drop_to(struct reader *reader, size_t count)
{
    while (reader->count > count)
        json_decref(reader->stack[--reader->count].value);
}

/* Index of the last mark, SIZE_MAX if there is none. */
size_t pickle_last_mark(const struct reader *reader)
{
    size_t i = reader->count;
    while (i > 0)
        if (!reader->stack[--i].value)
            return i;
    return SIZE_MAX;
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
dtkb_status pickle_extend(struct reader *reader, size_t target_index, size_t from)
{
    if (target_index >= reader->count || !reader->stack[target_index].value || !json_is_array(reader->stack[target_index].value))
        return pickle_broken(reader, "items without a list");
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

dtkb_status pickle_set_items(struct reader *reader, size_t target_index, size_t from)
{
    if (target_index >= reader->count || !reader->stack[target_index].value || !json_is_object(reader->stack[target_index].value) ||
        (reader->count - from) % 2)
        return pickle_broken(reader, "items without a dictionary");
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
dtkb_status pickle_collect(struct reader *reader, size_t first, size_t from, bool dictionary)
{
    struct slot whole = {dictionary ? json_object() : json_array(), 0};
    if (!whole.value)
        return err_nomem(reader->err);
    unsigned depth = deepest(reader, from);
    dtkb_status status = check_target(reader, &whole, depth);
    if (dictionary && (reader->count - from) % 2)
        status = pickle_broken(reader, "a key without a value");
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
    pickle_drop_to(reader, first);
    return pickle_push(reader, whole.value, depth + 1);
}

dtkb_status pickle_collect_counted(struct reader *reader, size_t count)
{
    if (reader->count < count)
        return pickle_broken(reader, "a tuple without its items");
    for (size_t i = reader->count - count; i < reader->count; i++)
        if (!reader->stack[i].value)
            return pickle_broken(reader, "a tuple without its items");
    return pickle_collect(reader, reader->count - count, reader->count - count, false);
}

/* ---- memo ---- */

dtkb_status pickle_remember(struct reader *reader, uint64_t index)
{
    struct slot *value = pickle_top(reader);
    if (!value || index >= MEMO_MAX)
        return pickle_broken(reader, "a note of nothing");
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
        return pickle_broken(reader, "a note written twice");
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

dtkb_status pickle_recall(struct reader *reader, uint64_t index)
{
    if (index >= reader->memo_capacity || !reader->memo[index].value)
        return pickle_broken(reader, "a note that was never written");
    json_t *value = reader->memo[index].value;
    return pickle_push(reader, json_incref(value), depth_of(reader, value, DEPTH_MAX + 1));
}

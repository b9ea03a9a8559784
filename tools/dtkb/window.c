#include "window.h"

#include <stdlib.h>
#include <string.h>

bool window_open(struct window *window)
{
    *window = (struct window){.head = malloc(WINDOW_HEAD), .tail = malloc(WINDOW_TAIL)};
    if (window->head && window->tail)
        return true;
    window_close(window);
    return false;
}

void window_close(struct window *window)
{
    free(window->head);
    free(window->tail);
    *window = (struct window){0};
}

char *window_space(struct window *window, size_t *size)
{
    if (window->head_used < WINDOW_HEAD) {
        *size = WINDOW_HEAD - window->head_used;
        return window->head + window->head_used;
    }
    *size = WINDOW_TAIL - window->tail_at;
    return window->tail + window->tail_at;
}

void window_grew(struct window *window, size_t length)
{
    window->total += length;
    if (window->head_used < WINDOW_HEAD) {
        window->head_used += length;
        return;
    }
    window->tail_at = (window->tail_at + length) % WINDOW_TAIL;
    window->tail_used = window->tail_used + length < WINDOW_TAIL ? window->tail_used + length : WINDOW_TAIL;
}

dtkb_status window_feed(const struct window *window, dtkb_diagnosis *diagnosis, const char *name)
{
    bool gap = window->total > window->head_used + window->tail_used;
    size_t first = window->tail_used < WINDOW_TAIL ? 0 : window->tail_at;
    dtkb_status status = dtkb_feed(diagnosis, name, window->head, window->head_used);
    /* Two half lines must not become one. */
    if (status == DTKB_OK && gap)
        status = dtkb_feed(diagnosis, name, "\n", 1);
    if (status == DTKB_OK)
        status = dtkb_feed(diagnosis, name, window->tail + first, window->tail_used - (window->tail_used < WINDOW_TAIL ? 0 : first));
    if (status == DTKB_OK && window->tail_used == WINDOW_TAIL)
        status = dtkb_feed(diagnosis, name, window->tail, first);
    return status;
}

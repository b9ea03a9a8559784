/* What `dtkb run` remembers of a job's output: its beginning and its end, in bounded memory. */
#ifndef DTKB_CLI_WINDOW_H
#define DTKB_CLI_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include <dtkb/dtkb.h>

/* The beginning holds versions and settings, the end what went wrong; between them may lie days of progress lines. */
#define WINDOW_HEAD ((size_t)2 << 20)
#define WINDOW_TAIL ((size_t)16 << 20)

struct window {
    char *head, *tail;
    size_t head_used, tail_used, tail_at; /* tail is a ring: tail_at is where the next byte goes */
    unsigned long long total;
};

bool window_open(struct window *window);
/* Where the next bytes of the output go, and how many fit there at once; then how many came. So they are read to where they stay. */
char *window_space(struct window *window, size_t *size);
void window_grew(struct window *window, size_t length);
/* Feeds what is kept, as the stream `name`. */
dtkb_status window_feed(const struct window *window, dtkb_diagnosis *diagnosis, const char *name);
void window_close(struct window *window);

#endif

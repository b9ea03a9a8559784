/* UTF-8 of unknown origin made safe to store as JSON and to show in a terminal. */
#ifndef DTKB_BASE_UTF8_H
#define DTKB_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Length (1 to 4) of the well-formed character at the start of `text`; 0 when it is none (also for surrogates and overlong forms). */
size_t utf8_char_length(const char *text, size_t length);
bool utf8_is_valid(const char *text, size_t length);

/* The longest length up to `room` that cuts no character of valid `text` in half. */
size_t utf8_cut(const char *text, size_t length, size_t room);

/* Appends `text` as valid UTF-8 without control characters: a broken byte becomes U+FFFD, a control other than tab and newline '?'. */
void buf_add_clean(struct buf *buf, const char *text, size_t length);

#endif

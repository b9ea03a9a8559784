/* Words of error text. A run such as `libcudart.so.10.0`, `NCCL_SOCKET_IFNAME`, `c10::Error` or `/dev/shm/nccl-x` is one word as a whole,
 * and its parts lie at the same place: segments of a path, names around dots, underscores and hyphens, humps of camelCase, the version
 * at the end. Everything is in lower case; a hexadecimal number loses its leading zeros. Any bytes are allowed: what is no UTF-8
 * separates words. */
#ifndef DTKB_KB_TOKENIZER_H
#define DTKB_KB_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

#define TOKEN_MAX 96 /* bytes of a word; longer runs are cut */

/* Takes a word of the text from `start` to `end`; `part` when it lies at the place of the word before. Non-zero stops and is returned. */
typedef int (*token_fn)(void *context, const char *token, size_t length, size_t start, size_t end, bool part);
int tokenize(const char *text, size_t length, token_fn take, void *context);

/* Makes the tokenizer "dtkb" known to FTS5 on this connection. Returns an SQLite result code. */
int tokenizer_register(sqlite3 *db);

#endif

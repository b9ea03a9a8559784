/* Secrets out of text before it leaves the process: tokens, keys, passwords, credentials in URLs. */
#ifndef DTKB_BASE_REDACT_H
#define DTKB_BASE_REDACT_H

#include "base/buf.h"

struct redactor;

/* NULL when out of memory. One redactor, one thread at a time. */
struct redactor *redactor_new(void);
void redactor_free(struct redactor *redactor);

/* Appends `text` to `out` with every secret replaced by "[removed]". Returns how many were. */
size_t redact(struct redactor *redactor, const char *text, struct buf *out);

/* Is a variable of this name likely to hold a secret (HF_TOKEN, AWS_SECRET_ACCESS_KEY, DB_PASSWORD)? */
int redact_is_secret_name(const char *name);

#endif

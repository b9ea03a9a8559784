/* Being one rank of many that a launcher started. */
#ifndef DTKB_CLI_LAUNCHED_H
#define DTKB_CLI_LAUNCHED_H

#include <stddef.h>

/* Launchers end all ranks as soon as one ends badly. From here on, an end asked for leaves a moment to write down what is known. */
void launched_begin(void);
/* Before an end with another status than 0: lets the other ranks write theirs. */
void launched_end(int status);

/* A file's name with %r for the rank (0 without a launcher) and %h for the host. Returns `out`. */
const char *launched_file_name(const char *pattern, char *out, size_t size);

#endif

/* What single lines say: exceptions, deaths of processes, error words, progress, versions. Pure functions over a cleaned line. */
#ifndef DTKB_SCAN_WORDS_H
#define DTKB_SCAN_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/findings.h"
#include "scan/line.h"

struct span {
    const char *text;
    size_t length;
};

/* exception.c: "torch.cuda.OutOfMemoryError: message" as Python prints the last line of a traceback. `bare` allows a name alone
 * ("AssertionError"). */
bool exception_read(const char *line, bool bare, struct span *type, struct span *message);
/* Does it start the trouble, follow from another process's, or belong to the stop? */
enum sig_role exception_role(const char *type, const char *message);
/* Is the file of a frame the user's own, not a library's? */
bool is_user_file(const char *file);

/* death.c: one process's end as launchers, shells and kernels tell it. */
struct death {
    bool is_signal;
    int32_t number;
    int32_t rank; /* RANK_UNKNOWN when the line does not tell */
    enum sig_role role;
};
bool death_read(const struct line *line, struct death *out);
int signal_by_name(const char *name); /* "SIGSEGV", "Segmentation fault", "Killed"; 0 when unknown */

/* errorline.c */
bool is_error_line(const struct line *line);

/* What a program prints at each start, healthy or not, and which sounds like trouble: TensorFlow without a GPU, torchrun. */
bool is_chatter(const struct line *line);

/* source.c: a line of a program that would print a message or look for trouble, as source files and tracebacks show it. */
bool is_source_of_message(const struct line *line);

/* progress.c */
bool is_progress(const struct line *line);
/* A word of a training job at all? Only near the beginning are words enough that other programs use, too ("rank", "epoch", "slots"): a long
 * change log has each of them somewhere. */
bool is_training(const struct line *line, bool early);
uint32_t world_size_read(const struct line *line); /* 0: none */

/* versions.c: calls back for every version in the line. */
typedef void (*version_fn)(void *context, const char *component, const char *version, size_t length);
void versions_read(const struct line *line, version_fn found, void *context);

#endif

/* Source that somebody pasted beside the log: a collective in a branch that one rank alone enters. */
#include <ctype.h>
#include <string.h>

#include "scan/observe/stall.h"

#define REACH 12 /* lines of the branch that are looked at */

/* Behind what grep -n or an editor writes before a line of source: "78:", "78-" */
static const char *source_of(const char *text)
{
    const char *p = text + strspn(text, " ");
    size_t digits = strspn(p, "0123456789");
    return digits && digits < 7 && (p[digits] == ':' || p[digits] == '-') ? p + digits + 1 : text;
}

/* "if accelerator.is_main_process:", "if dist.get_rank() == 0:" */
static bool opens_branch_of_one(const char *source)
{
    static const char *const marks[] = {"is_main_process", "is_local_main_process", "is_global_zero", "is_world_process_zero",
                                        "rank == 0:",      "rank() == 0:"};
    size_t length = strlen(source);
    const char *p = source + strspn(source, " \t");
    while (length && isspace((unsigned char)source[length - 1]))
        length--;
    if (strncmp(p, "if ", 3) != 0 || !length || source[length - 1] != ':' || strstr(p, " not ") || strstr(p, " or "))
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(p, marks[i]))
            return true;
    return false;
}

static bool calls_collective(const char *source)
{
    static const char *const calls[] = {".gather_for_metrics(", "accelerator.gather(", "accelerator.reduce(",    ".wait_for_everyone(",
                                        "dist.all_reduce(",     "dist.all_gather",     "dist.barrier(",          "distributed.all_reduce(",
                                        "distributed.barrier(", "hvd.allreduce(",      "hvd.allgather(",         "hvd.broadcast(",
                                        "dist.broadcast",       "dist.reduce(",        "distributed.all_gather", "engine.save_checkpoint(",
                                        "strategy.barrier(",    "xm.rendezvous(",      "ncclAllReduce("};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strstr(source, calls[i]))
            return true;
    return false;
}

void code_line(struct observe_code *code, const char *text, const struct place *place)
{
    const char *source = source_of(text);
    size_t indent = strspn(source, " \t");
    if (source[indent] == '#' || !source[indent])
        return;
    if (opens_branch_of_one(source)) {
        code->indent = indent;
        code->left = REACH;
        return;
    }
    if (!code->left)
        return;
    code->left = indent > code->indent ? code->left - 1 : 0;
    if (code->left && calls_collective(source)) {
        code->alone = true;
        code->at = *place;
    }
}

void code_conclude(const struct observe_code *code, struct collect *collect)
{
    if (code->alone)
        observe_tell(collect, &code->at, "code: a collective is called in a branch that one rank alone enters");
}

/* What the tests of engine/probe share: a vocabulary for the doubles, and a count of what a run leaves behind. */
#ifndef DTKB_TESTS_PROBE_DOUBLES_H
#define DTKB_TESTS_PROBE_DOUBLES_H

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fact.h"
#include "probe/vocabulary.h"

static inline bool doubles_defined(void *context, const char *name, enum fact_type *type, const char **unit)
{
    (void)context;
    static const struct {
        const char *pattern;
        enum fact_type type;
        const char *unit;
    } words[] = {{"double.size_bytes", FACT_U64, "bytes"}, {"double.up", FACT_BOOL, ""},     {"double.offset", FACT_I64, ""},
                 {"double.rate_gbps", FACT_F64, "Gbit/s"}, {"double.name", FACT_STRING, ""}, {"double.item.{n}.up", FACT_BOOL, ""}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (fact_name_matches(words[i].pattern, name)) {
            *type = words[i].type;
            *unit = words[i].unit;
            return true;
        }
    return false;
}
static const struct vocabulary doubles_vocabulary = {.definition = doubles_defined};

static inline unsigned open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;
    while (dir && readdir(dir))
        count++;
    if (dir)
        (void)closedir(dir);
    return count;
}

/* Has this process a child, alive or zombie? */
static inline bool has_children(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

#endif

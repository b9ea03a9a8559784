/* The files of templates/, embedded at build time (templates.cmake writes the table). */
#ifndef DTKB_PROBE_TEMPLATE_TABLE_H
#define DTKB_PROBE_TEMPLATE_TABLE_H

#include <stddef.h>

struct template_file {
    const char *path; /* "LANGUAGE/NAME", LANGUAGE "any" for all */
    const char *text;
};
extern const struct template_file template_table[];
extern const size_t template_count;

#endif

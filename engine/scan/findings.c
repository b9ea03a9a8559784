#include "scan/findings.h"

void findings_free(struct findings *findings)
{
    arena_free(&findings->arena);
    *findings = (struct findings){0};
}

static bool same_line(const struct evidence *left, const struct evidence *right)
{
    return left->line == right->line && left->file == right->file;
}

bool findings_line_follows(const struct findings *findings, size_t at)
{
    const struct evidence *list = findings->evidence;
    size_t i = at;
    while (i && same_line(&list[i - 1], &list[at]))
        i--;
    for (; i < findings->evidence_count && same_line(&list[i], &list[at]); i++)
        if (list[i].role == ROLE_CASCADE || list[i].role == ROLE_TEARDOWN)
            return true;
    return false;
}

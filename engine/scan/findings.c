#include "scan/findings.h"

void findings_free(struct findings *findings)
{
    arena_free(&findings->arena);
    *findings = (struct findings){0};
}

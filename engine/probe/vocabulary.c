#include "probe/vocabulary.h"

#include "kb/kb.h"

static bool ask_kb(void *context, const char *name, enum fact_type *type, const char **unit)
{
    return kb_fact_definition(context, name, type, unit);
}

struct vocabulary vocabulary_of(struct kb *kb)
{
    return (struct vocabulary){.definition = kb ? ask_kb : NULL, .context = kb};
}

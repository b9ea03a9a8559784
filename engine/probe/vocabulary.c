#include "probe/vocabulary.h"

#include <string.h>

#include "kb/kb.h"

#pragma weak kb_fact_definition

static bool ask_kb(void *context, const char *name, enum fact_type *type, const char **unit)
{
    return kb_fact_definition(context, name, type, unit);
}

struct vocabulary vocabulary_of(struct kb *kb)
{
    return (struct vocabulary){.definition = kb ? ask_kb : NULL, .context = kb};
}

static const char *const type_names[] = {
    [FACT_BOOL] = "bool", [FACT_I64] = "i64", [FACT_U64] = "u64", [FACT_F64] = "f64", [FACT_STRING] = "string"};

const char *fact_type_name(enum fact_type type)
{
    return type_names[type];
}

bool fact_type_by_name(const char *name, enum fact_type *type)
{
    for (unsigned i = FACT_BOOL; i <= FACT_STRING; i++)
        if (!strcmp(type_names[i], name)) {
            *type = (enum fact_type)i;
            return true;
        }
    return false;
}

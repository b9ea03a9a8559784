/* Making knowledge bases: build, check, import. */
#include "api/api.h"
#include "kb/build.h"

dtkb_status dtkb_kb_build(const char *folder, const char *file, char *error, size_t error_size)
{
    struct err err = {0};
    if (!folder || !file)
        err_set(&err, DTKB_E_USAGE, "dtkb_kb_build: which folder, which file?");
    else
        err.code = kb_build(folder, file, &err);
    return api_report(&err, error, error_size);
}

dtkb_status dtkb_kb_import_study(const char *xlsx, const char *notes, const char *taxonomy, const char *folder, char *error,
                                 size_t error_size)
{
    struct err err = {0};
    if (!xlsx || !taxonomy || !folder)
        err_set(&err, DTKB_E_USAGE, "dtkb_kb_import_study: which sheet, taxonomy, folder?");
    else
        err.code = kb_import_study(xlsx, notes, taxonomy, folder, &err);
    return api_report(&err, error, error_size);
}

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

dtkb_status err_set(struct err *err, dtkb_status code, const char *format, ...)
{
    if (!err)
        return code;
    err->code = code;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    /* File names and log text end up in messages; a control byte in them must not reach a terminal. */
    for (char *p = err->text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return code;
}

/* One error: a code and a text that names the thing, the place and the way out. Internal functions take `struct err *` last and return the
 * code. */
#ifndef DTKB_BASE_ERR_H
#define DTKB_BASE_ERR_H

#include <dtkb/dtkb.h>

struct err {
    dtkb_status code;
    char text[DTKB_ERROR_TEXT_MAX];
};

/* Sets the error (controls in the text become '?') and returns `code`, so that `return err_set(err, ...)` reads well. `err` may be NULL. */
__attribute__((format(printf, 3, 4))) dtkb_status err_set(struct err *err, dtkb_status code, const char *format, ...);

/* The usual out-of-memory error. In the header, so that compilers and analyzers see that it never returns DTKB_OK. */
static inline dtkb_status err_nomem(struct err *err)
{
    (void)err_set(err, DTKB_E_NOMEM, "out of memory");
    return DTKB_E_NOMEM;
}

#endif

#include <dtkb/dtkb.h>

const char *dtkb_version(void)
{
    return DTKB_VERSION;
}

const char *dtkb_status_name(dtkb_status status)
{
    static const char *const names[] = {
        [DTKB_OK] = "DTKB_OK",
        [DTKB_E_USAGE] = "DTKB_E_USAGE",
        [DTKB_E_NOMEM] = "DTKB_E_NOMEM",
        [DTKB_E_IO] = "DTKB_E_IO",
        [DTKB_E_NOT_FOUND] = "DTKB_E_NOT_FOUND",
        [DTKB_E_FORMAT] = "DTKB_E_FORMAT",
        [DTKB_E_KB] = "DTKB_E_KB",
        [DTKB_E_KB_NEWER] = "DTKB_E_KB_NEWER",
        [DTKB_E_UNSUPPORTED] = "DTKB_E_UNSUPPORTED",
        [DTKB_E_CANCELLED] = "DTKB_E_CANCELLED",
        [DTKB_E_LIMIT] = "DTKB_E_LIMIT",
        [DTKB_E_INTERNAL] = "DTKB_E_INTERNAL",
    };
    if ((unsigned)status >= sizeof names / sizeof *names)
        return "unknown";
    return names[status];
}

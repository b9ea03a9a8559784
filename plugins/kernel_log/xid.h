/* What the numbers of NVIDIA's Xid messages mean, after its public Xid catalogue. */
#ifndef DTKB_PLUGINS_KERNEL_LOG_XID_H
#define DTKB_PLUGINS_KERNEL_LOG_XID_H

#include <stdbool.h>

enum xid_kind {
    XID_APPLICATION, /* the job's own doing: a wild pointer in a kernel */
    XID_AFTERMATH,   /* follows from something else: cleaning up, another error's record */
    XID_NOTE,        /* worth knowing, harms nothing yet */
    XID_DRIVER,      /* driver or firmware failed */
    XID_HARDWARE     /* GPU, link, bus or power failed */
};
enum xid_action {
    XID_CHECK_JOB,   /* look for the bug in the job */
    XID_NOTHING,     /* see what came before */
    XID_RESTART_JOB, /* the GPU is usable */
    XID_RESET_GPU,   /* before it can be used again */
    XID_REBOOT_NODE,
    XID_SERVICE /* drain the node and have the hardware checked */
};
struct xid {
    unsigned code;
    enum xid_kind kind;
    enum xid_action action;
    const char *meaning;
};

/* Never NULL: a code that is not in the table gets an entry that says so, a note. */
const struct xid *xid_find(unsigned code);
const char *xid_kind_name(enum xid_kind kind);
const char *xid_action_text(enum xid_action action);
/* Does it point to hardware or driver rather than to the application? */
bool xid_is_serious(const struct xid *xid);
/* Is it about NVLink? */
bool xid_is_nvlink(unsigned code);

#endif

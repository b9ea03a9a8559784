/* One line of a kernel log, in whichever form it came. */
#ifndef DTKB_PLUGINS_KERNEL_LOG_LINE_H
#define DTKB_PLUGINS_KERNEL_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct line {
    const char *message; /* behind time stamp, host name and tag */
    double time;         /* seconds since the epoch, or since the start where `since_boot`; negative where not told */
    bool since_boot;
};

/* Takes the line apart; it is cut to its NUL-terminated text already. The forms are
 *   6,3964,206764307,-;message                          /dev/kmsg
 *   [  206.764307] message, <6>[  206.764307] message   dmesg
 *   [Sun Feb 23 16:24:18 2025] message                  dmesg -T
 *   kern  :warn  : 2025-01-21T04:41:44,283302+00:00 m   dmesg -x --time-format iso, also without the first two words
 *   2025-01-21T04:41:44+0000 host kernel: message       journalctl -o short-iso, syslog of today
 *   Jan 21 04:41:44 host kernel: [  206.764307] message syslog of old
 * False when another program than the kernel wrote it. */
bool line_parse(const char *text, struct line *out);

#endif

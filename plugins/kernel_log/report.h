/* Facts, reasons and notes out of what was counted. */
#ifndef DTKB_PLUGINS_KERNEL_LOG_REPORT_H
#define DTKB_PLUGINS_KERNEL_LOG_REPORT_H

#include "events.h"
#include "source.h"

void report(struct kit *kit, const struct source *source, const struct events *events);

#endif

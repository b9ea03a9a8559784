/*
 * What a log shows without saying it: numbers of several lines, compared. A hang, a slow run or a wrong placement often leaves no error line;
 * what tells is a table of GPUs of which one works, a throughput that falls with more ranks, a loss that is NaN, a stack that was dumped, a
 * prompt behind ^C. Each stream has one observer, which reads the lines of the samples (a short log as a whole; of a long one beginning, end
 * and parts between). At the stream's end it tells what it found as EV_OBSERVED evidence in words of our own, on which signatures are tried
 * (told.c).
 *
 * The parts are independent; README.md names them. A header holds what a group of them keeps (gpus.h, host.h, speed.h, values.h, ranks.h,
 * stall.h), observer.h all of it, text.h what they share.
 * A rule tells nothing that a healthy job shows, too; its limits stand beside it.
 */
#ifndef DTKB_SCAN_OBSERVE_OBSERVE_H
#define DTKB_SCAN_OBSERVE_OBSERVE_H

#include "scan/collect.h"
#include "scan/line.h"
#include "scan/trace.h"

struct observer;

struct observer *observer_new(void);
struct observer *observer_clone(const struct observer *observer);
void observer_free(struct observer *observer);
/* `progress`: the line shows training go on. */
void observer_line(struct observer *observer, const struct line *line, const struct place *place, bool progress);
void observer_conclude(const struct observer *observer, struct collect *collect);

#endif

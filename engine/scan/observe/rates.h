/* What one line says of speed, steps and quality. */
#ifndef DTKB_SCAN_OBSERVE_RATES_H
#define DTKB_SCAN_OBSERVE_RATES_H

#include "scan/line.h"

/* rates.c: what one line says of speed (NAN where nothing), of the steps that a bar counts (0: none), of quality (NAN). */
void rates_read(const struct line *line, double *rates);
double rates_epoch_seconds(const struct line *line);
unsigned long rates_bar_total(const char *text);
unsigned long rates_batches_told(const char *text);
double rates_accuracy(const struct line *line);
double rates_train_accuracy(const struct line *line);
double rates_loss(const struct line *line, const char **at);

#endif

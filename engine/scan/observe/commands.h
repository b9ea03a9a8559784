/* What a command line or a heading says of the run that follows. */
#ifndef DTKB_SCAN_OBSERVE_COMMANDS_H
#define DTKB_SCAN_OBSERVE_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

/* How many processes, GPUs and nodes it speaks of; 0 where it does not. */
void commands_counts(const char *text, unsigned *gpus, unsigned *nodes);
/* Members of a list behind a name: "CUDA_VISIBLE_DEVICES=0,1,2,3", "-gpus 0,1". A list of one number is no list behind "-gpus". */
unsigned commands_listed(const char *text, const char *name, bool one_counts);
/* "$ torchrun ... train.py": hash of the name of the script that is started anew; 0 for other lines. */
uint64_t commands_program(const char *text);

#endif

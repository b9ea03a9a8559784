/* One run of the probe: what it knows of the job and of the point. */
#ifndef DTKB_RENDEZVOUS_RUN_H
#define DTKB_RENDEZVOUS_RUN_H

#include "common/roll_call.h"
#include "offer.h"
#include "point.h"

/* What came of it for the whole job: rank 0 hands it out. */
struct summary {
    uint32_t status; /* enum point_status */
    uint32_t rank;   /* the first that saw it */
    char ranks[96];  /* all of them: "1,3" */
    char host[64];   /* of the first */
};
struct run {
    struct kit kit;
    struct job job;
    struct point point;
    struct roll_call *roll;
    struct offer offer;
    enum point_status own; /* what this rank saw */
    bool knocking, asked, told;
    struct summary summary;
};

/* The facts, and in words what is wrong; the roll call may be over. */
void run_report(struct run *run);

#endif

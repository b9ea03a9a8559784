/* What rank 0 has to offer instead: a port that is free, and the addresses of its host. It travels to all ranks as bytes. */
#ifndef DTKB_RENDEZVOUS_OFFER_H
#define DTKB_RENDEZVOUS_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#define OFFER_ADDRESSES_MAX 10

struct offer {
    uint16_t port; /* 0: none */
    uint16_t count;
    struct {
        char iface[16];
        uint8_t ipv4[4];
    } addresses[OFFER_ADDRESSES_MAX];
};

/* Looks for them on this host. The loopback interface is one only where all ranks are `here`. */
void offer_make(struct offer *offer, uint16_t taken, bool here);
/* One that came over the network, made fit to be read. */
void offer_check(struct offer *offer);

#endif
